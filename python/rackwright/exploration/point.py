"""One configuration of a unit, as a value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.designs import ParameterValue

Pairs = tuple[tuple[str, ParameterValue], ...]
"""Names and values, by name."""


def pairs(values: Mapping[str, ParameterValue]) -> Pairs:
    """A mapping as a value that can be hashed."""
    return tuple(sorted(values.items()))


@dataclass(frozen=True)
class Point:
    """A unit with its parameters (of elaboration), its settings (at run time) and its placement."""

    unit: str
    parameters: Pairs
    settings: Pairs
    placement: str

    def record(self) -> dict[str, Any]:
        """As JSON and data frames hold it: one key for each value."""
        return {
            "unit": self.unit,
            **{f"parameters.{name}": value for name, value in self.parameters},
            **{f"settings.{name}": value for name, value in self.settings},
            "placement": self.placement,
        }

    def key(self) -> str:
        """The same for equal points, on every machine."""
        text = json.dumps([self.unit, self.parameters, self.settings, self.placement])
        return hashlib.sha256(text.encode()).hexdigest()

    def __str__(self) -> str:
        values = [f"{name}={value}" for name, value in (*self.parameters, *self.settings)]
        return ", ".join([self.unit, *values, self.placement])
