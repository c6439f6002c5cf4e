"""Runs `rw` as a user does."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

from bootstrap.builds import build_environment
from bootstrap.paths import VENV

REPOSITORY = Path(__file__).resolve().parents[2]


def environment() -> dict[str, str]:
    """That of commands, without what pytest adds for each test."""
    return {name: value for name, value in build_environment().items() if name != "PYTEST_CURRENT_TEST"}


_PLAIN = environment()
"""That of tests that do not change it."""


def network() -> str:
    """The network namespace of this thread."""
    return os.readlink("/proc/thread-self/ns/net")


_NETWORK = network()
"""That of tests that make none."""

_started: set[str] = set()
"""Verbs that were started as a process of their own."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.stdout)


class _Copies:
    """The process of which commands are copies (`command_copies.py`); it ends with this one."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = Path(__file__).with_name("command_copies.py")
        with theirs:
            self._process = subprocess.Popen(
                [VENV / "bin" / "python", program, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                # A process with threads cannot be copied.
                env=_PLAIN | {"OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        atexit.register(self._stop)

    def run(self, words: list[str], stdin: str, timeout: float) -> Ended:
        """Runs a command; kills one that takes too long and raises `TimeoutExpired`."""
        with ExitStack() as opened:
            streams = [opened.enter_context(TemporaryFile("w+")) for _ in range(3)]
            streams[0].write(stdin)
            streams[0].seek(0)
            answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            opened.enter_context(answers)
            with theirs:
                request = json.dumps([os.getcwd(), *words]).encode()
                descriptors = [*(stream.fileno() for stream in streams), theirs.fileno()]
                socket.send_fds(self._requests, [request], descriptors)
            process = json.loads(answers.recv(100))
            answers.settimeout(timeout)
            try:
                status = json.loads(answers.recv(100))
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise subprocess.TimeoutExpired(words, timeout) from None
            for stream in streams[1:]:
                stream.seek(0)
            return Ended(status, streams[1].read(), streams[2].read())

    def _stop(self) -> None:
        self._requests.close()
        self._process.wait()


_copies = cache(_Copies)
_turn = Lock()
"""For tests that run commands at the same time."""


def rw(*arguments: object, timeout: float = 1200, stdin: str = "") -> Ended:
    """Runs `./rw ARGUMENTS` with `stdin` to read.

    What the launcher does before is not done again, as all is built: it takes as long as the command itself.
    test_bootstrap.py is about it. The first command of a verb, and one in another environment or network, is
    a process of its own; others are copies of one that has imported what they need.
    """
    words = list(map(str, arguments))
    verb = words[0] if words else ""
    is_plain = environment() == _PLAIN and network() == _NETWORK
    if verb in _started and verb != "doctor" and is_plain:
        with _turn:
            copies = _copies()
        ended = copies.run(words, stdin, timeout)
    else:
        ended = started(words, stdin, timeout)
        _started.add(verb)
    assert "Traceback" not in ended.stderr
    return ended


def started(words: list[str], stdin: str = "", timeout: float = 1200) -> Ended:
    """Runs a command as a process of its own."""
    is_of_launcher = words[:1] == ["doctor"]
    command_line = (
        [REPOSITORY / "rw"] if is_of_launcher else [VENV / "bin" / "python", "-m", "rackwright.cli"]
    )
    result = subprocess.run(
        [*command_line, *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        input=stdin,
        check=False,
    )
    return Ended(result.returncode, result.stdout, result.stderr)
