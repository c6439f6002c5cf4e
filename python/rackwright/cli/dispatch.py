"""`rw dispatch`: the dispatcher in front of real services."""

from __future__ import annotations

import json as json_format
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rackwright.cli.output import EXIT_FAILED, JsonOption, messages, print_json, print_record, print_table
from rackwright.cli.signals import signals_held
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.dispatch import Configuration, Dispatcher

_STATUS_SECONDS = 5.0


def dispatch(
    file: Annotated[
        Path,
        typer.Argument(metavar="CONFIG.yaml", help="Configuration; docs/dispatch.md describes every field."),
    ],
    status: Annotated[
        bool, typer.Option("--status", help="Print the status of the dispatcher that runs with this file.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Only check the file.")] = False,
    json: JsonOption = False,
) -> None:
    """Balance the load of services on UDP: each request is sent to the least loaded replica.

    SIGTERM or Control-C ends the dispatcher when all requests in flight have responses; SIGHUP makes it read
    the replicas in the file again. --json prints the last status at its end.

    Examples:
        ./rw dispatch examples/dispatch/one-rack.yaml

        ./rw dispatch examples/dispatch/one-rack.yaml --status

    """
    from rackwright.dispatch import read_configuration

    configuration = read_configuration(file)
    if status:
        _show(_asked(configuration), json)
    elif not check:
        _run(file, configuration, json)


def _run(file: Path, configuration: Configuration, json: bool) -> None:
    from rackwright.dispatch import Dispatcher
    from rackwright.dispatch.metrics import metrics_server

    with (
        signals_held() as signals,
        Dispatcher(configuration) as dispatcher,
        metrics_server(configuration.metrics, dispatcher.status) as metrics,
    ):
        services = zip(configuration.services, dispatcher.addresses, strict=True)
        where = ", ".join(f"{service.name} on {address}" for service, address in services)
        _say(f"rack {configuration.rack}: {where}; {f'metrics on {metrics}' if metrics else 'no metrics'}")
        xdp = dispatcher.status()["xdp"]
        if xdp is not None:
            _say(f"xdp: {_way(xdp)}")
        while signals.next() == signal.SIGHUP:
            _reload(file, dispatcher)
        _say("answering what is under way")
        last = dispatcher.status()
        is_done = dispatcher.stop()
    if json:
        print_json(last)
    if not is_done:
        _say(f"ended after {configuration.drain_ms:g} ms with requests under way")
        raise typer.Exit(EXIT_FAILED)


def _way(xdp: dict[str, Any]) -> str:
    """Whether frames are taken by AF_XDP."""
    if xdp["refused"] is not None:
        return f"{xdp['refused']}; sockets are used alone"
    copies = "without copies" if xdp["zero_copy"] else "with copies"
    queues = "1 queue" if xdp["queues"] == 1 else f"{xdp['queues']} queues"
    return f"{queues} of {xdp['interface']}, {xdp['mode']}, {copies}"


def _say(text: str) -> None:
    messages.print(text, highlight=False, soft_wrap=True, markup=False)


def _reload(file: Path, dispatcher: Dispatcher) -> None:
    from rackwright._engine import EngineError
    from rackwright.dispatch import read_configuration

    try:
        added, removed = dispatcher.reload(read_configuration(file))
    except (RackwrightError, EngineError) as error:
        _say(f"{error}; nothing has changed")
    else:
        _say(f"{added} replicas added, {removed} removed")


def _asked(configuration: Configuration) -> dict[str, Any]:
    if configuration.metrics is None:
        raise RackwrightError("this configuration has no `metrics` address to ask at")
    try:
        url = f"http://{configuration.metrics}/status"
        with urllib.request.urlopen(url, timeout=_STATUS_SECONDS) as answer:
            status: dict[str, Any] = json_format.load(answer)
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise RackwrightError(
            f"no dispatcher reports its status on {configuration.metrics} ({reason})"
        ) from None
    return status


def _show(status: dict[str, Any], json: bool) -> None:
    if json:
        print_json(status)
        return
    decisions, datagrams = status["decisions"], status["datagrams"]
    xdp = status["xdp"]
    frames = f"{datagrams['frames_received']:,} received, {datagrams['frames_sent']:,} sent"
    print_record(
        [
            ("rack", f"{status['rack']}, {status['policy']}, for {status['seconds']:,.0f} s"),
            ("requests", f"{decisions['requests']:,}; {decisions['taken_over']:,} of other racks"),
            ("redirected", f"{decisions['redirected']:,}"),
            ("answers", f"{datagrams['answers']:,}"),
            ("gossip", f"{decisions['gossip'] + decisions['truths']:,} told, {decisions['heard']:,} heard"),
            *([] if xdp is None else [("xdp", _way(xdp)), ("frames", f"{frames}, {xdp['lost']:,} lost")]),
        ]
    )
    columns = [("service", "left"), ("replica", "left"), ("health", "left"), ("cores", "right")]
    columns += [("under way", "right"), ("answered", "right"), ("mean, us", "right")]
    rows = [
        [
            service["name"],
            replica["address"],
            replica["health"],
            str(replica["cores"]),
            f"{replica['outstanding']:,}",
            f"{replica['answered']:,}",
            f"{replica['mean_us']:,.1f}",
        ]
        for service in status["services"]
        for replica in service["replicas"]
    ]
    print_table(columns, rows)
    if status["peers"]:
        columns = [("rack", "left"), ("address", "left"), ("alive", "left"), ("believed load", "left")]
        print_table(columns, [_peer_cells(peer) for peer in status["peers"]])


def _peer_cells(peer: dict[str, Any]) -> list[str]:
    loads = (
        f"{name} {'no replica' if load is None else f'{load:.2f}'}" for name, load in peer["loads"].items()
    )
    return [str(peer["rack"]), peer["address"], "yes" if peer["alive"] else "NO", ", ".join(loads)]
