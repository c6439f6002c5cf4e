"""How often the signals of RTL changed in a run: the SAIF file that a run with `--waves FILE.saif` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import RackwrightError

_DURATION = re.compile(r"^\(DURATION (\d+)\)", re.MULTILINE)
_LINE = re.compile(
    r" *(?:\(INSTANCE (?P<scope>\S+)|(?P<nets>\(NET)|(?P<end>\))"
    r"|\((?P<net>\S+) \(T0 \d+\) \(T1 (?P<ones>\d+)\).*\(TC (?P<changes>\d+)\)\))"
)
_ROOTS = ("TOP", "$rootio")
_STEPS = 2
"""Steps of the file's time in a cycle: before and after the edge."""


@dataclass(frozen=True)
class Signal:
    """A bit: how often it changes in a cycle, on average, and the share of time in which it is 1."""

    changes: float
    ones: float


@dataclass(frozen=True)
class Activity:
    """The bits of a unit by their names in its top module, over the cycles in which the unit was clocked."""

    cycles: int
    signals: dict[str, Signal]


def read_activity(path: Path, top: str) -> Activity:
    """The activity of the unit whose top module is `top`.

    Raises `RackwrightError` for a file that is not there, is no SAIF, or is of another unit.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RackwrightError(f"{path}: not a SAIF file: {error}") from error
    duration = _DURATION.search(text)
    if duration is None:
        raise RackwrightError(f"{path}: not a SAIF file: it has no (DURATION …)")
    steps = int(duration[1])
    found = dict(_signals(text, top, steps))
    if not found:
        raise RackwrightError(f"{path}: has no signals of {top}: it is of another unit")
    return Activity((steps + 1) // _STEPS if steps else 0, found)


def _signals(text: str, top: str, steps: int) -> Iterator[tuple[str, Signal]]:
    """Each bit below the module `top` with its name there; nothing changes in a run of no cycles."""
    # What is open: scopes by name, and lists of nets.
    opened: list[str | None] = []
    for match in filter(None, map(_LINE.fullmatch, text.splitlines())):
        if match["scope"]:
            opened.append(match["scope"])
        elif match["nets"]:
            opened.append(None)
        elif match["end"]:
            del opened[-1:]
        elif (name := _name([scope for scope in opened if scope], top, match["net"])) is not None:
            changes, ones = int(match["changes"]), int(match["ones"])
            yield name, Signal(changes * _STEPS / (steps + 1), ones / steps) if steps else Signal(0.0, 0.0)


def _name(scopes: Sequence[str], top: str, net: str) -> str | None:
    inner = [scope for scope in scopes if scope not in _ROOTS]
    if inner[:1] != [top]:
        return None
    return ".".join([*inner[1:], net]).replace("\\", "")
