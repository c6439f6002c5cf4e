"""Build steps: their dependencies, whether they are up to date, and how to run several in parallel."""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from bootstrap import caches
from bootstrap.console import NotReadyError, elapsed, say
from bootstrap.paths import BUILD, LOGS, REPOSITORY, STAMPS

_HEARTBEAT_SECONDS = 20.0


@dataclass(frozen=True)
class Step:
    """A build step.

    It is up to date if `outputs` exist and its stamp holds the hash of `inputs` (files, or folders with
    everything below them that matches `patterns`) and of `settings`. `kept` is the compiler's incremental
    cache: it is removed if inputs have changed during the run, because it may list the changed files as
    compiled. `uses` are the names of the tools that it needs, or None if it may need any.
    """

    name: str
    purpose: str
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]
    run: Callable[[], None]
    patterns: tuple[str, ...] = ("*",)
    settings: Callable[[], tuple[str, ...]] = tuple
    after: tuple[str, ...] = ()
    kept: tuple[Path, ...] = ()
    uses: tuple[str, ...] | None = None

    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of all inputs of the result."""
        digest = hashlib.sha256("\0".join(self.settings()).encode())
        for path in input_files(self.inputs, self.patterns):
            digest.update(f"\0{path.relative_to(REPOSITORY)}\0".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    @property
    def stamp(self) -> Path:
        """The file that remembers the fingerprint of the last successful run."""
        return STAMPS / self.name

    def is_current(self) -> bool:
        """Whether running the step again would change nothing."""
        if not self.stamp.exists() or not all(output.exists() for output in self.outputs):
            return False
        return self.stamp.read_text(encoding="ascii") == self.fingerprint()

    def remember(self, fingerprint: str) -> None:
        """Notes a successful run from inputs that had this fingerprint."""
        STAMPS.mkdir(parents=True, exist_ok=True)
        self.stamp.write_text(fingerprint, encoding="ascii")

    def run_on_what_is_there(self) -> None:
        """Runs the step, a second time if its inputs have changed in the meantime; records its inputs."""
        while True:
            fingerprint = self.fingerprint()
            self.run()
            if self.fingerprint() == fingerprint:
                self.remember(fingerprint)
                return
            say(f"{self.name}: its sources have changed meanwhile: once more")
            for folder in self.kept:
                shutil.rmtree(folder, ignore_errors=True)


class Errand(Step):
    """A step without a result to compare: it runs whenever it is among the steps."""

    def is_current(self) -> bool:
        """Never."""
        return False

    def run_on_what_is_there(self) -> None:
        """Runs it once."""
        self.run()


def input_files(roots: Iterable[Path], patterns: tuple[str, ...]) -> list[Path]:
    """The files under `roots` in a fixed order, except outputs of builds."""
    wanted = re.compile("|".join(map(fnmatch.translate, patterns)))
    files = set(roots)
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in ("target", "__pycache__")]
            files |= {Path(folder, name) for name in names if wanted.match(name)}
    # Editors lock open files with dangling links.
    return sorted(filter(Path.is_file, files))


def execute(
    name: str,
    command: list[str],
    directory: Path = REPOSITORY,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Runs a command of step `name`, whose output is written to that step's log.

    Raises `NotReadyError` with the relevant part of the log.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    with open(log, "ab") as sink:
        sink.write(f"$ {' '.join(command)}\n".encode())
        sink.flush()
        result = subprocess.run(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if result.returncode != 0:
        where = log.relative_to(REPOSITORY)
        # Maven writes in the colours of terminals.
        text = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(encoding="utf-8", errors="replace"))
        says = _gist(text) + _advice(text)
        raise NotReadyError(f"{name} failed; the whole log is {where}. It says:\n{says}")


def _gist(text: str, count: int = 12) -> str:
    """The relevant lines of a log: the first lines with an error, or else the last ones."""
    lines = text.splitlines()
    errors = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)]
    return "\n".join(f"    {line}" for line in (errors[:count] or lines[-count:]))


def _advice(text: str) -> str:
    """What to do about causes that the lines of a log name in terms of the tool alone."""
    if "unable to find valid certification path" not in text:
        return ""
    return (
        "\n    Java does not trust the certificate that this network presents: it may inspect TLS.\n"
        "    Add your organisation's certificate: keytool -importcert -cacerts -file CERTIFICATE.crt"
    )


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """Lets one `rw` build at a time; another one waits here and then finds the work done."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another rw to finish building")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def bring_up_to_date(steps: tuple[Step, ...]) -> None:
    """Runs the steps whose inputs have changed, each as soon as its predecessors are complete.

    Raises the first `NotReadyError`, after the running steps have ended.
    """
    pending = {step.name: step for step in steps if not step.is_current()}
    if pending:
        caches.check()
        with build_lock():
            _run_all({step.name: step for step in pending.values() if not step.is_current()})


def _run_all(pending: dict[str, Step]) -> None:
    running: dict[Future[None], str] = {}
    failures: list[BaseException] = []
    with ThreadPoolExecutor(max_workers=max(1, len(pending))) as pool, _heartbeat(running):
        while running or pending:
            for step in _startable(pending, set(running.values())) if not failures else ():
                del pending[step.name]
                running[pool.submit(_run_one, step)] = step.name
            if not running:
                break
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name = running.pop(future)
                if error := future.exception():
                    failures.append(error)
                    if running:
                        say(f"{name}: failed; its error follows the end of: {', '.join(running.values())}")
    if failures:
        raise failures[0]


def _startable(pending: dict[str, Step], running: set[str]) -> list[Step]:
    waiting_for = pending.keys() | running
    return [step for step in pending.values() if not waiting_for & set(step.after)]


def _run_one(step: Step) -> None:
    start = elapsed()
    say(f"{step.name}: {step.purpose}")
    (LOGS / f"{step.name}.log").unlink(missing_ok=True)
    step.run_on_what_is_there()
    say(f"{step.name}: done in {elapsed() - start:.1f} s")


@contextlib.contextmanager
def _heartbeat(running: Mapping[Future[None], str]) -> Iterator[None]:
    """Prints the running steps from time to time."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(_HEARTBEAT_SECONDS):
            names = ", ".join(list(running.values()))
            if names:
                say(f"still at work: {names}")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
