"""Manifests: the description of a unit, as a file written by elaboration or by a user."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError

FORMAT = 2
"""The format of manifests that are written."""


def read_manifest(path: Path) -> dict[str, Any]:
    """The contents of a manifest, in the present format.

    A manifest of the former format causes a `FutureWarning` with the required changes. Raises
    `RackwrightError` when there is none, `EngineError` when it is not one.
    """
    from rackwright._engine import check_manifest

    if not path.exists():
        raise RackwrightError(f"{path}: no such manifest")
    places, advice = check_manifest(path)
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if advice is None:
        return record
    warnings.warn(f"{path}: {advice}", FutureWarning, stacklevel=2)
    clock = record.pop("clock")
    return record | {"format": FORMAT, "clocks": [clock], "attach": places}


_PATHS = ("verilog", "include", "dpi")
"""Parts of a manifest that name files and folders."""


def with_absolute_paths(record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The contents of a manifest in `folder`, such that they may be in a file in another folder."""
    paths = {part: [str(folder / each) for each in record.get(part, ())] for part in _PATHS}
    paths["include"].insert(0, str(folder))
    return {**record, **paths, "data": str(folder / record.get("data", "."))}


def main_clock(record: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of the clock in which the cycles of a unit are counted."""
    clock: dict[str, Any] = record["clocks"][0]
    return clock


def interrupt_pin(port: Mapping[str, Any]) -> str:
    """The pin of an interrupt line."""
    return str(port.get("pin") or f"interrupt_{port['name']}")


def require_one_clock(record: Mapping[str, Any], purpose: str) -> None:
    """Raises `RackwrightError` for a unit with several clocks, which cannot be had for this purpose."""
    if len(record["clocks"]) > 1:
        pins = " and ".join(clock["pin"] for clock in record["clocks"])
        raise RackwrightError(f"unit {record['unit']} has the clocks {pins}; {purpose} takes units with one")


def is_elaborated(record: Mapping[str, Any]) -> bool:
    """Whether elaboration wrote a manifest: its parameters are in the Verilog already."""
    return "hash" in record
