"""Results of runs that are complete, so that one that was interrupted resumes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from bootstrap.paths import BUILD, PYTHON, REPOSITORY, STAMPS
from rackwright.exploration.store import content_key
from rackwright.files.whole import write_whole
from rackwright.reproduce.experiment import Outcome, Row

KEPT = BUILD / "reproduce"
"""The folder of all results."""


def folder_of(experiment: str) -> Path:
    """The folder for results of an experiment with the engine, hardware, programs and code as they are."""
    return KEPT / experiment / _key()


def keep(file: Path, outcome: Outcome) -> None:
    """Stores a result, all of it or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "rows": [row.record() for row in outcome.rows],
        "charts": list(outcome.charts),
        "digests": list(outcome.digests),
    }
    write_whole(file, json.dumps(record) + "\n")


def kept(file: Path) -> Outcome:
    """A stored result."""
    record = json.loads(file.read_text(encoding="utf-8"))
    return Outcome([Row.of_record(row) for row in record["rows"]], record["charts"], record["digests"])


@cache
def _key() -> str:
    """A key of the engine, hardware and programs, as built, and of the measuring and judging code.

    It is that of the run's beginning, for what runs is what was loaded then.
    """
    stamps = [STAMPS / name for name in ("engine", "hardware", "software")]
    sources = sorted((PYTHON / "rackwright").rglob("*.py")) + sorted(
        (REPOSITORY / "validation").glob("*/*.csv")
    )
    return content_key(*(path.read_text(encoding="utf-8") for path in (*stamps, *sources) if path.exists()))[
        :16
    ]
