"""The reports of a dispatcher over HTTP: metrics for Prometheus, and its status in JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rackwright.errors import RackwrightError

PREFIX = "rackwright_dispatch"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"

Status = dict[str, Any]


def exposition(status: Status) -> str:
    """A status in the text format of Prometheus."""
    lines: list[str] = []
    for group in ("decisions", "datagrams"):
        for name, count in status[group].items():
            lines += _family(f"{group}_{name}_total", "counter", [({}, count)])
    replicas = [(service, replica) for service in status["services"] for replica in service["replicas"]]

    def of_replicas(name: str, kind: str, value: Callable[[Status], float]) -> list[str]:
        labelled = [
            ({"service": service["name"], "replica": replica["address"]}, value(replica))
            for service, replica in replicas
        ]
        return _family(name, kind, labelled)

    lines += of_replicas("replica_up", "gauge", lambda replica: replica["health"] == "up")
    lines += of_replicas("replica_outstanding", "gauge", lambda replica: replica["outstanding"])
    lines += of_replicas("replica_answered_total", "counter", lambda replica: replica["answered"])
    lines += of_replicas(
        "replica_seconds_total", "counter", lambda replica: replica["answered"] * replica["mean_us"] / 1e6
    )
    loads = [({"service": s["name"]}, s["load"]) for s in status["services"] if s["load"] is not None]
    lines += _family("service_load", "gauge", loads)
    lines += _family(
        "service_held", "gauge", [({"service": s["name"]}, s["held"]) for s in status["services"]]
    )
    lines += _family("peer_up", "gauge", [({"rack": str(p["rack"])}, p["alive"]) for p in status["peers"]])
    xdp = status["xdp"]
    if xdp is not None:
        interface = {"interface": xdp["interface"]}
        lines += _family(
            "xdp_queues", "gauge", [({**interface, "mode": xdp["mode"] or "none"}, xdp["queues"])]
        )
        lines += _family("xdp_lost_total", "counter", [(interface, xdp["lost"])])
    lines += _family("seconds", "gauge", [({}, status["seconds"])])
    return "\n".join(lines) + "\n"


def _family(name: str, kind: str, samples: list[tuple[dict[str, str], float]]) -> list[str]:
    full = f"{PREFIX}_{name}"
    lines = [f"{full}{_labels(labels)} {_number(value)}" for labels, value in samples]
    return [f"# TYPE {full} {kind}", *lines]


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def _labels(labels: dict[str, str]) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

    pairs = ",".join(f'{name}="{escaped(text)}"' for name, text in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def page(path: str, status: Callable[[], Status]) -> tuple[int, str, str]:
    """The response at a path: the HTTP status, the type of the text, the text."""
    if path == "/metrics":
        return 200, _TEXT, exposition(status())
    if path == "/status":
        return 200, "application/json", json.dumps(status())
    return 404, "text/plain", "there are /metrics and /status\n"


@contextmanager
def metrics_server(address: str | None, status: Callable[[], Status]) -> Iterator[str | None]:
    """Serves `/metrics` and `/status` at an address, if given, until the block ends; returns the address.

    Raises `RackwrightError` when it cannot be listened at.
    """
    if address is None:
        yield None
        return

    class Handler(BaseHTTPRequestHandler):
        """Answers one connection."""

        def do_GET(self) -> None:
            code, kind, text = page(self.path, status)
            body = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Logs nothing: requesters are not recorded."""

    host, _, port = address.rpartition(":")
    try:
        server = ThreadingHTTPServer((host, int(port)), Handler)
    except OSError as error:
        raise RackwrightError(f"metrics: {address}: {error.strerror}") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
