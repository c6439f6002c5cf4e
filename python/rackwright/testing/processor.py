"""The distribution of the test suite's processor time, by program."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_SECONDS_BETWEEN_LOOKS = 0.5

_KINDS = (
    ("Java: Scala, elaborating, blocks", ("java", "mvn")),
    ("firtool", ("firtool",)),
    ("Verilator", ("verilator",)),
    ("C and C++", ("clang", "cc1", "g++", "gcc", "c++", "cc", "collect2", "ld", "as", "ar", "riscv64")),
    ("Rust", ("rustc", "cargo", "clippy", "rustdoc", "rustfmt")),
    ("synthesis and proofs", ("yosys", "abc", "berkeley-abc", "sta")),
    ("Python and simulating", ("python", "pytest", "mypy", "ruff", "rw")),
)
"""Names of kinds with prefixes of their programs' names; the longest prefix decides."""

_OTHERS = "others, and what ended between two looks"


def kind_of(program: str) -> str:
    """The kind of a program, by its name."""
    found = [(len(start), kind) for kind, starts in _KINDS for start in starts if program.startswith(start)]
    return max(found)[1] if found else _OTHERS


class ProcessorTime:
    """Seconds of processors that this process's descendants use while it is observed, by kind.

    It samples them twice a second: the time of a program after the last sample is counted with the others.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, str], tuple[str, float]] = {}
        self._total = 0.0

    @contextlib.contextmanager
    def observed(self) -> Iterator[None]:
        """Observes the programs that run in this block."""
        ended = threading.Event()
        thread = threading.Thread(target=self._observe, args=(ended,), daemon=True)
        before = _of_ended_children()
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self._total += _of_ended_children() - before

    def by_kind(self) -> list[tuple[str, float]]:
        """Kinds with their seconds, most first. Their sum is the time of all that has ended."""
        seconds: defaultdict[str, float] = defaultdict(float)
        for program, used in self._seen.values():
            seconds[kind_of(program)] += used
        seconds[_OTHERS] += max(0.0, self._total - sum(seconds.values()))
        return sorted(seconds.items(), key=lambda pair: -pair[1])

    def _observe(self, ended: threading.Event) -> None:
        while not ended.wait(_SECONDS_BETWEEN_LOOKS):
            self._seen |= _descendants(os.getpid())


def _of_ended_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _descendants(ancestor: int) -> dict[tuple[int, str], tuple[str, float]]:
    """Name and seconds of each living descendant, by its number and when it began."""
    ticks = os.sysconf("SC_CLK_TCK")
    parents, found = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            head, _, rest = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
            program, fields = head.partition("(")[2], rest.split()
            pid = int(folder.name)
            parents[pid] = int(fields[1])
            found[pid] = fields[19], program, (int(fields[11]) + int(fields[12])) / ticks
    return {
        (pid, began): (program, seconds)
        for pid, (began, program, seconds) in found.items()
        if _is_below(pid, ancestor, parents)
    }


def _is_below(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid := parents.get(pid, 0):
        if pid == ancestor:
            return True
    return False
