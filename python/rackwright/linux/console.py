"""The user's terminal as the console of a guest."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rackwright.errors import RackwrightError

LEAVE = b"\x1d"
"""Control and ], which telnet uses for the same."""

_END_OF_INPUT = b"\x04"


class Console:
    """The user's input, key by key."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._ended = False

    def typed(self, wait_seconds: float) -> bytes:
        """The input that arrives within this time. Raises `RackwrightError` for the keys to leave."""
        watched = [] if self._ended else [self._descriptor]
        ready, _, _ = select.select(watched, [], [], wait_seconds)
        if not ready:
            return b""
        typed = os.read(self._descriptor, 4096)
        if not typed:
            self._ended = True
            return _END_OF_INPUT
        if LEAVE in typed:
            raise RackwrightError("left the console; the guest was stopped where it was")
        return typed


@contextmanager
def raw_console() -> Iterator[Console]:
    """The console on standard input; a terminal is raw in the meantime, and is always restored."""
    descriptor = sys.stdin.fileno()
    if not os.isatty(descriptor):
        yield Console(descriptor)
        return
    before = termios.tcgetattr(descriptor)
    ends = (signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.signal(number, _end) for number in ends]
    try:
        tty.setraw(descriptor, termios.TCSANOW)
        yield Console(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        for number, handler in zip(ends, handlers, strict=True):
            signal.signal(number, handler)


def _end(number: int, _frame: FrameType | None) -> None:
    """Ends the program normally, so that the terminal is restored."""
    raise SystemExit(128 + number)
