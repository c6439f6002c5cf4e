"""Messages to the user: on standard error, so that standard output carries results only."""

from __future__ import annotations

import sys
import threading
import time

EXIT_NOT_READY = 3
"""Exit status if a requirement is missing or could not be built."""

EXIT_INTERRUPTED = 130
"""Exit status after the user's Ctrl-C, as shells have it."""


class NotReadyError(Exception):
    """A requirement is missing; the message is one line that names it and how to install it."""


_start = time.monotonic()
_lock = threading.Lock()


def elapsed() -> float:
    """Seconds since the bootstrap began."""
    return time.monotonic() - _start


def say(message: str) -> None:
    """Prints one line with the time elapsed."""
    with _lock:
        print(f"[{elapsed():6.1f} s] {message}", file=sys.stderr, flush=True)


def fail(message: str) -> None:
    """Prints the message that explains the early exit."""
    with _lock:
        print(f"rw: {message}", file=sys.stderr, flush=True)
