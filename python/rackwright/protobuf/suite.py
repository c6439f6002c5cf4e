"""What is measured: schemas, and recorded messages of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Benchmark:
    """Messages of one class that are measured together.

    `message` is the full name of their type. Averages are made of benchmarks of the same `group`.
    """

    name: str
    message: str
    messages: Sequence[bytes]
    group: str = ""


@dataclass(frozen=True)
class Suite:
    """Benchmarks whose messages' types are declared by `proto`, a file."""

    name: str
    proto: Path
    benchmarks: Sequence[Benchmark]
