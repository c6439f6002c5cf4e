"""The elaborator of `hardware/`, a Java program: run once, or kept running for requests of this process."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Sequence

from bootstrap.paths import LOGS
from rackwright.errors import RackwrightError

_MAIN = "rackwright.elaborate.Main"

_JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=128m", "-cp")
"""Without the second compiler, which pays off in programs that run for longer, but with as much room for
compiled code as most of that which Java has with both."""

_JAVA_NOTE = "Picked up "
"""The beginning of Java's note on options from the environment, which is not an error."""


def run_once(arguments: Sequence[str], classpath: str) -> str:
    """Runs the elaborator; returns its output. Raises `RackwrightError` with the line of the error."""
    command = [*_JAVA, classpath, _MAIN, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        # Chisel's warnings are on the standard output.
        lines = [*result.stderr.strip().splitlines(), *result.stdout.strip().splitlines()]
        reasons = [line for line in lines if not line.startswith(_JAVA_NOTE)]
        raise RackwrightError(reasons[0] if reasons else f"{_MAIN} failed")
    return result.stdout


class Elaborator:
    """An elaborator that runs until it is stopped: a second design takes a fraction of the first one's time.

    `version` identifies the class path.
    """

    def __init__(self, classpath: str, version: str) -> None:
        self.version = version
        self._log = LOGS / "elaborator.log"
        LOGS.mkdir(parents=True, exist_ok=True)
        command = [*_JAVA, classpath, _MAIN, "--requests"]
        pipe = subprocess.PIPE
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._answers = self._process.stdout

    def write(self, commands: Sequence[Sequence[str]]) -> None:
        """Elaborates the units of these command lines, in parallel.

        Raises `RackwrightError` with the reason of the first that is refused.
        """
        # A process that has ended accepts no request, and may have printed an error.
        with contextlib.suppress(BrokenPipeError):
            self._requests.write(json.dumps(commands).encode() + b"\n")
            self._requests.flush()
        answer = self._answers.readline()
        if not answer:
            self.stop()
            raise RackwrightError(f"{_MAIN} has ended; see {self._log}")
        try:
            reason = json.loads(answer)
        except json.JSONDecodeError:
            raise RackwrightError(self._last_words(answer)) from None
        if reason is not None:
            raise RackwrightError(reason)

    def _last_words(self, first: bytes) -> str:
        """Ends it; returns its output if it is not a response, for example why Java could not start."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        lines = (first + self._answers.read()).decode(errors="replace").splitlines()
        self.stop()
        return f"java: {': '.join(line.strip() for line in lines)}"

    @property
    def is_running(self) -> bool:
        """Whether it takes requests."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Ends it, also in the middle of a request."""
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        self._process.wait()


_lock = threading.Lock()
_kept: Elaborator | None = None


def run_kept(commands: Sequence[Sequence[str]], classpath: str, version: str) -> None:
    """Lets this process's elaborator execute the command lines; it is started if necessary."""
    global _kept
    with _lock:
        if _kept is not None and (_kept.version != version or not _kept.is_running):
            _stop()
        if _kept is None:
            _kept = Elaborator(classpath, version)
        try:
            _kept.write(commands)
        except RackwrightError:
            raise
        except BaseException:
            # Interrupted: the answer to this request must not become that to the next.
            _stop()
            raise


def _stop() -> None:
    global _kept
    if _kept is not None:
        _kept.stop()
        _kept = None


def _leave_to_parent() -> None:
    """A process that was forked starts one of its own."""
    global _kept, _lock
    _kept, _lock = None, threading.Lock()


atexit.register(_stop)
os.register_at_fork(after_in_child=_leave_to_parent)
