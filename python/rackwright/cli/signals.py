"""Verbs that go on until they are told to end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def signals_held() -> Iterator[None]:
    """Keeps signals to end and to reload for `next_signal`, in this thread and those that it starts."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (*_ENDING, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def next_signal() -> signal.Signals:
    """Waits for a signal that is held."""
    return signal.Signals(signal.sigwait((*_ENDING, signal.SIGHUP)))


def wait_for_end() -> None:
    """Waits until the process is told to end, by SIGTERM or Control-C. Signals are held before."""
    while next_signal() not in _ENDING:
        pass
