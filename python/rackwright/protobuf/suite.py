"""The measured benchmarks: schemas, and recorded messages of their classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MESSAGES = 64
"""Default number of messages of a benchmark."""


@dataclass(frozen=True)
class Benchmark:
    """Messages of one class that are measured together.

    `message` is the full name of their type. Benchmarks of the same `group` are averaged. `proto` is the file
    that declares the type, below the folder of the suite's own, if not that itself.
    """

    name: str
    message: str
    messages: Sequence[bytes]
    group: str = ""
    proto: Path | None = None


@dataclass(frozen=True)
class Suite:
    """Benchmarks whose messages' types are declared by `proto`, a file."""

    name: str
    proto: Path
    benchmarks: Sequence[Benchmark]

    def parts(self) -> Iterator[Suite]:
        """Suites of the benchmarks that one file declares: one program is compiled for each of them."""
        for proto in dict.fromkeys(benchmark.proto for benchmark in self.benchmarks):
            of_it = [benchmark for benchmark in self.benchmarks if benchmark.proto == proto]
            yield Suite(self.name if proto is None else of_it[0].name, proto or self.proto, of_it)
