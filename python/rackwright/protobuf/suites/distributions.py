"""Distributions of the shapes of messages, read from a YAML file and checked."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.files.document import load_yaml

FLEET = Path(__file__).with_name("fleet.yaml")
"""Published statistics of a fleet; the comments in the file name the sources."""

TYPES = ("int32", "int64", "uint64", "enum", "bool", "string", "bytes", "double", "float", "fixed64")
"""Types of fields that a file may name."""

_SHARES = ("repeated", "packed", "proto3", "proto3_optional")
"""A single share instead of a distribution."""

Shares = Mapping[Any, float]
"""A share of the whole for each upper bound, or name; the shares sum to 1."""


@dataclass(frozen=True)
class Distributions:
    """The distributions of a suite; fleet.yaml explains each name."""

    seed: int
    services: int
    messages: int
    message_bytes: Shares
    field_types: Shares
    bytes_sizes: Shares
    varint_sizes: Shares
    presence: Shares
    density: Shares
    defined_fields: Shares
    depth: Shares
    repeated: float
    packed: float
    proto3: float
    proto3_optional: float


_NAMES = {field.name for field in fields(Distributions)}


def read_distributions(path: Path) -> Distributions:
    """Reads a file; missing distributions are those of the fleet.

    Raises `RackwrightError` with the name of an invalid entry.
    """
    values = _read(FLEET) | _read(path)
    for name in values:
        _check(path, name, values[name])
    return Distributions(**values)


def _read(path: Path) -> dict[str, Any]:
    values = load_yaml(path)
    if not isinstance(values, dict):
        raise RackwrightError(f"{path}: has to say which distributions differ from the fleet's")
    if unknown := sorted(map(str, values.keys() - _NAMES)):
        raise RackwrightError(f"{path}: not known: {', '.join(unknown)}")
    return values


def _check(path: Path, name: str, value: Any) -> None:
    if name in _SHARES:
        good = isinstance(value, int | float) and 0 <= value <= 1
        needs = "a number from 0 to 1"
    elif name in ("seed", "services", "messages"):
        good = isinstance(value, int) and value >= (name != "seed")
        needs = "a positive number"
    else:
        good, needs = _are_shares(name, value), "shares that add up to 1"
    if not good:
        raise RackwrightError(f"{path}: {name} has to be {needs}")


def _are_shares(name: str, value: Any) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    if not all(isinstance(share, int | float) and share >= 0 for share in value.values()):
        return False
    known = all(key in TYPES if name == "field_types" else _is_bound(key) for key in value)
    return known and abs(sum(value.values()) - 1) < 1e-6


def _is_bound(key: object) -> bool:
    return isinstance(key, int | float) and key > 0


def draw_name(shares: Shares, draw: random.Random) -> str:
    """One of the names, drawn with its share."""
    return str(draw.choices(list(shares), list(shares.values()))[0])


def draw_bucket(shares: Shares, draw: random.Random) -> tuple[float, float]:
    """A bucket: the upper bound before it (0 for the first), and its own."""
    bounds = sorted(shares)
    index = draw.choices(range(len(bounds)), [shares[bound] for bound in bounds])[0]
    return (bounds[index - 1] if index else 0), bounds[index]


def draw_size(shares: Shares, draw: random.Random) -> int:
    """An integer from a bucket, uniform on a logarithmic scale; the first bucket begins at 1."""
    low, high = draw_bucket(shares, draw)
    least = low + 1
    return min(int(least * (high / least) ** draw.random() + 0.5), int(high))


def draw_share(shares: Shares, draw: random.Random) -> float:
    """A number from a bucket, evenly."""
    return draw.uniform(*draw_bucket(shares, draw))
