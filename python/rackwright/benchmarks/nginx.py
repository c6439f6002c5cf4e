"""nginx as a forwarder of UDP, to compare the dispatcher with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rackwright.errors import RackwrightError

_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")

SESSIONS = "proxy_timeout 5s;"
"""A client's datagrams go to one replica as long as it sends: this is the cheapest configuration, without
balancing.
"""

REQUESTS = "proxy_requests 1; proxy_responses 1; proxy_timeout 5s;"
"""Each request is balanced for itself."""


@contextmanager
def nginx(listen: str, replicas: Sequence[str], method: str, mode: str) -> Iterator[int]:
    """One nginx worker in front of replicas until the block ends; returns the worker's process.

    Raises `RackwrightError` when nginx or its module for streams is not installed.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None or not _MODULE.exists():
        raise RackwrightError(
            "nginx is not installed; install it with: sudo apt-get install nginx-light libnginx-mod-stream"
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nginx.conf").write_text(_configuration(folder, listen, replicas, method, mode))
        command = [program, "-p", name, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
        process = subprocess.Popen(command)
        try:
            yield _worker(process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def _configuration(folder: Path, listen: str, replicas: Sequence[str], method: str, mode: str) -> str:
    servers = " ".join(f"server {replica};" for replica in replicas)
    user = "user root;" if os.geteuid() == 0 else ""
    return f"""load_module {_MODULE};
daemon off; {user} worker_processes 1; pid {folder}/pid; worker_rlimit_nofile 65536;
error_log {folder}/error.log crit;
events {{ worker_connections 60000; multi_accept on; }}
stream {{
  upstream replicas {{ {method} {servers} }}
  server {{ listen {listen} udp; proxy_pass replicas; {mode} }}
}}
"""


def _worker(master: subprocess.Popen[bytes]) -> int:
    """The process that forwards, once it is there."""
    children = Path(f"/proc/{master.pid}/task/{master.pid}/children")
    while master.poll() is None:
        words = children.read_text().split()
        if words:
            return int(words[0])
    raise RackwrightError("nginx did not start; another one may listen at its address")
