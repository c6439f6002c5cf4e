"""One point of a space: a unit and its memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from rackwright.machine.parameters import ServerParameters
from rackwright.unit.config import UnitConfig


@dataclass(frozen=True)
class Point:
    """A unit with its parameters, settings and placement, and non-default numbers of caches and DRAM."""

    config: UnitConfig
    timing: ServerParameters = field(default_factory=ServerParameters)

    def record(self) -> dict[str, Any]:
        """As JSON and data frames hold it: one key for each value."""
        numbers = sorted(self.timing.memory.items())
        return {**self.config.record(), **{f"memory.{name}": value for name, value in numbers}}

    def key(self) -> str:
        """The same for equal points, on every machine."""
        return hashlib.sha256(f"{self.config.key()} {self.timing.describe()}".encode()).hexdigest()

    def surroundings(self) -> tuple[str, ServerParameters]:
        """The placement and memory of the unit, which dominate the time of similar designs."""
        return self.config.placement, self.timing

    def __str__(self) -> str:
        numbers = [f"{name}={value}" for name, value in sorted(self.timing.memory.items())]
        return ", ".join([str(self.config), *numbers])
