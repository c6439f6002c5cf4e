"""Verbs that go on until they are told to end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGTERM, signal.SIGINT)
_HELD = (*_ENDING, signal.SIGHUP)


class HeldSignals:
    """Signals to end and to reload, in the order in which they came; `signals_held` makes it."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def next(self) -> signal.Signals:
        """Waits for one, or gives one that has come already."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
        try:
            while (number := os.read(self._pipe, 1)[0]) not in _HELD:
                pass
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
        return signal.Signals(number)

    def wait_for_end(self) -> None:
        """Waits until the process is told to end, by SIGTERM or Control-C."""
        while self.next() not in _ENDING:
            pass


@contextmanager
def signals_held() -> Iterator[HeldSignals]:
    """Keeps signals to end and to reload; this thread and those that it starts are not interrupted.

    Libraries have threads that were there before and block nothing. What one of these is given goes down
    the same pipe, so that a signal neither ends the process nor is lost, whichever thread gets it.
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
