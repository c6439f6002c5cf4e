"""The document of a recorded run: which file has the activity of a unit, and at which clock it ran."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.power.saif import Activity


@dataclass(frozen=True)
class RecordedRun:
    """The SAIF file of a unit in a run, and the clock that it had there."""

    file: Path
    clock_hz: int


def read_run(path: Path, unit: str) -> RecordedRun:
    """What `./rw run … --accelerator UNIT --waves FILE.saif --json` has printed into the file `path`.

    Raises `RackwrightError` for another file, and for a run without the unit or without its activity.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        names, clocks, waves = record["accelerators"], record["unit_clocks_hz"], record["waves"]
        harts = record["harts"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RackwrightError(
            f"{path}: not the JSON of `./rw run … --waves FILE.saif --json`: {error}"
        ) from error
    if unit not in names:
        raise RackwrightError(f"{path}: a run with {', '.join(names) or 'no unit'}, not with {unit}")
    if harts > 1 or names.count(unit) > 1:
        raise RackwrightError(f"{path}: has several units {unit}; take a run with one")
    if waves is None or not str(waves).endswith(".saif"):
        raise RackwrightError(f"{path}: a run without activity; record it with --waves FILE.saif")
    file = Path(waves)
    if len(names) > 1:
        file = file.with_name(f"{file.stem}-{unit}{file.suffix}")
    return RecordedRun(file, clocks[names.index(unit)])


def answers(activity: Activity, manifest: Mapping[str, Any]) -> int | None:
    """How many commands the unit answered.

    None for a unit without commands, and when an answer was not taken at once.
    """
    name = next((port["name"] for port in manifest["ports"] if port["contract"] == "command"), None)
    valid, ready = (activity.signals.get(f"{name}_response_{pin}") for pin in ("valid", "ready"))
    if valid is None or ready is None or (activity.cycles and ready.ones < 1):
        return None
    return round(valid.ones * activity.cycles)
