"""A guest whose network interface is joined to this host: `rw boot --net user`."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest

from rackwright import RackwrightError, _engine
from rackwright.linux.boot import boot, restore
from rackwright.linux.image import Image, default_image, load_image

SMALL = 256 << 20


@pytest.fixture(scope="module")
def image() -> Image:
    return load_image(default_image())


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """A web server on the loopback interface with the files of `folder`: its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_guest_pings_the_gateway_and_fetches_a_file_from_this_host(image: Image, tmp_path: Path) -> None:
    content = Random(7).randbytes(300_000)
    (tmp_path / "file").write_bytes(content)
    with served(tmp_path) as port:
        commands = (
            "ping -c 2 -i 0.01 10.0.2.2 | grep -o '2 packets received'",
            f"wget -q -O - http://10.0.2.2:{port}/file | md5sum",
            f"wget -q -O - http://10.0.2.2:{port}/missing || echo none",
            "cat /etc/resolv.conf",
            "ip route | grep default",
        )
        result = boot(image, "\n".join(commands), memory_bytes=SMALL, net="user")
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    assert result.stdout.decode().splitlines() == [
        "2 packets received",
        f"{digest}  -",
        "none",
        "nameserver 10.0.2.3",
        "default via 10.0.2.2 dev eth0 ",
    ]
    assert result.record()["net"] == "user"


def test_a_restored_guest_gets_the_interface_it_was_saved_without(image: Image, tmp_path: Path) -> None:
    """So does the guest that goes on when it has been saved."""
    saved = tmp_path / "booted.checkpoint"
    (tmp_path / "file").write_bytes(b"heard\n")
    with served(tmp_path) as port:
        command = f"wget -q -O - http://10.0.2.2:{port}/file"
        first = boot(image, command, memory_bytes=SMALL, harts=2, checkpoint=saved, net="user")
        second = restore(saved, command, net="user")
    assert (first.stdout, first.exit_code) == (second.stdout, second.exit_code) == (b"heard\n", 0)
    assert first.checkpoint == str(saved)
    without = restore(saved, "ip link show eth0")
    assert without.exit_code != 0


def test_what_cannot_be_joined_is_refused(image: Image, tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match="a guest that is observed is given a network without"):
        boot(image, net="user", checkpoint=tmp_path / "booted.checkpoint", observer=_engine.Observer(1000))
    with pytest.raises(RackwrightError, match="no network 'tap'; there are none, user"):
        boot(image, "true", net="tap")
