"""The load generator for memcached that runs in processes of Linux, compiled for this machine."""

from __future__ import annotations

import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bootstrap.paths import SOFTWARE
from rackwright.errors import RackwrightError
from rackwright.machine.programs import linux_program

PORT = 11211
ADDRESS = "127.9.3.1"
"""Of the loopback, where nothing else listens on that port."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "mutilate"
    network = SOFTWARE / "network"
    sources = [SOFTWARE / "linux" / "programs" / "mutilate.c", network / "text.c", network / "random.c"]
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{network}"]
    subprocess.run(["gcc", *flags, *sources, "-o", path], check=True)
    return path


class Store(socketserver.ThreadingTCPServer):
    """A memcached of a few lines, whose answers `change` may spoil."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, change: Callable[[bytes], bytes]) -> None:
        super().__init__((ADDRESS, PORT), Session)
        self.values: dict[bytes, tuple[bytes, bytes]] = {}
        self.change = change
        self.gets = 0


class Session(socketserver.StreamRequestHandler):
    """One connection."""

    server: Store

    def handle(self) -> None:
        """Answers until the other side ends."""
        while words := self.rfile.readline().split():
            if words[0] == b"set":
                value = self.rfile.read(int(words[4]) + 2)[:-2]
                self.server.values[words[1]] = words[2], value
                self.wfile.write(b"STORED\r\n")
            else:
                self.server.gets += 1
                flags, value = self.server.values[words[1]]
                head = b"VALUE %s %s %d\r\n" % (words[1], flags, len(value))
                self.wfile.write(self.server.change(head + value + b"\r\nEND\r\n"))


@contextmanager
def store(change: Callable[[bytes], bytes]) -> Iterator[Store]:
    with Store(change) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def run(program: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, ADDRESS, *settings], capture_output=True, text=True, timeout=60, check=False
    )


def test_what_is_measured_is_what_was_answered(program: Path) -> None:
    with store(lambda answer: answer) as server:
        result = run(
            program, "rate=2000", "measured=200", "warmup=50", "connections=3", "value=facebook", "sets=100"
        )
        assert result.returncode == 0, result.stderr
        assert len(server.values) == 100
        gets = server.gets
    lines = result.stdout.splitlines()
    answered = int(lines[1].removeprefix("answered "))
    # Poisson with a mean of 400; nine tenths of these and of 100 more are gets.
    assert 300 < answered < 500
    assert abs(gets - 450) < 120
    assert sum(int(pair.split(":")[1]) for pair in lines[3].split()[1:]) == answered


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda answer: answer[:-9] + b"!" + answer[-8:], "a wrong answer"),
        (lambda _: b"END\r\n" + bytes(300), "a wrong answer"),
        (lambda answer: answer + answer, "nobody waits for"),
        (lambda _: b"", "do not come"),
    ],
)
def test_wrong_answers_are_found(program: Path, change: Callable[[bytes], bytes], reason: str) -> None:
    with store(change):
        result = run(program, "rate=2000", "measured=20", "connections=1", "sets=0", "keys=1")
    assert result.returncode == 1
    assert reason in result.stderr


def test_a_server_that_is_not_there(program: Path) -> None:
    result = run(program)
    assert (result.returncode, result.stderr) == (1, "mutilate: Connection refused\n")


@pytest.mark.parametrize("setting", ["rate=0", "rate", "value=fixed", "connections=65", "nothing=1"])
def test_settings_that_cannot_be(program: Path, setting: str) -> None:
    result = run(program, setting)
    assert (result.returncode, result.stderr) == (
        2,
        f"mutilate: {setting}: not an option, or its value is out of range\n",
    )


def test_programs_that_are_not_there() -> None:
    with pytest.raises(RackwrightError, match=r"has no other\.c"):
        linux_program("other")
