"""Signals of verbs that go on until they are told to end."""

from __future__ import annotations

import subprocess
import sys

# A library's thread, from before: it blocks nothing, so what the main thread holds back is given to it.
PROGRAM = """
import os, signal, sys, threading
from rackwright.cli.signals import signals_held

end = threading.Event()
thread = threading.Thread(target=end.wait)
if "thread" in sys.argv:
    thread.start()
with signals_held() as signals:
    for number in (signal.SIGHUP, signal.SIGTERM):
        os.kill(os.getpid(), number)
    print(signals.next().name, signals.next().name)
    os.kill(os.getpid(), signal.SIGINT)
    signals.wait_for_end()
end.set()
print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, signal.pthread_sigmask(signal.SIG_BLOCK, []))
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_signal_is_held_whoever_is_given_it() -> None:
    for arguments in ([], ["thread"]):
        command = [sys.executable, "-c", PROGRAM, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        words, restored = done.stdout.splitlines()
        # Without a thread the kernel keeps both until they are asked for, and chooses their order.
        assert sorted(words.split()) == ["SIGHUP", "SIGTERM"]
        assert restored == "True set()"
        assert done.returncode == -15, done.stderr
