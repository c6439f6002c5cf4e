"""Verbs that run until they receive a signal."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGTERM, signal.SIGINT)
_HELD = (*_ENDING, signal.SIGHUP)


class HeldSignals:
    """Signals to end and to reload, in the order of their arrival; created by `signals_held`."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def next(self) -> signal.Signals:
        """Waits for a signal, or returns one that has already arrived."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
        try:
            while (number := os.read(self._pipe, 1)[0]) not in _HELD:
                pass
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
        return signal.Signals(number)

    def wait_for_end(self) -> None:
        """Waits until the process receives SIGTERM or Control-C."""
        while self.next() not in _ENDING:
            pass


@contextmanager
def signals_held() -> Iterator[HeldSignals]:
    """Queues signals to end and to reload, so that this thread and those that it starts are not interrupted.

    Libraries have older threads that do not block signals. Signals delivered to such a thread are written to
    the same pipe, so that a signal neither ends the process nor is lost, whichever thread receives it.
    """
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    handlers = {number: signal.signal(number, lambda *_: None) for number in _HELD}
    wakeup = signal.set_wakeup_fd(theirs)
    try:
        yield HeldSignals(ours)
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.close(ours)
        os.close(theirs)
