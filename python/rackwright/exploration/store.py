"""The store of measurements: a SQLite file, keyed by the content of the measured design."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from rackwright.errors import RackwrightError
from rackwright.exploration.calls import Call
from rackwright.exploration.measure import Measured

_VERSION = 2

_TABLE = """
CREATE TABLE IF NOT EXISTS portion (
    key TEXT NOT NULL,
    number INTEGER NOT NULL,
    calls TEXT NOT NULL,
    core_seconds REAL NOT NULL,
    PRIMARY KEY (key, number)
) WITHOUT ROWID
"""


class Store:
    """Portions by the key of their point's content and their number; each is on disk before `put` returns."""

    def __init__(self, path: Path) -> None:
        """Opens the file or creates it; raises `RackwrightError` if it is something else."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, isolation_level=None)
            found = self._database.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, _VERSION):
                raise RackwrightError(f"{path} is of version {found}, not {_VERSION}; give another folder")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute(_TABLE)
            self._database.execute(f"PRAGMA user_version = {_VERSION}")
        except (OSError, sqlite3.Error) as error:
            raise RackwrightError(f"{path}: {error}") from error

    def get(self, key: str, number: int) -> Measured | None:
        """A portion that was measured before."""
        row = self._database.execute(
            "SELECT calls, core_seconds FROM portion WHERE key = ? AND number = ?", (key, number)
        ).fetchone()
        if row is None:
            return None
        return Measured(tuple(Call(**call) for call in json.loads(row[0])), row[1])

    def put(self, key: str, number: int, measured: Measured) -> None:
        """Keeps a portion."""
        calls = json.dumps([asdict(call) for call in measured.calls])
        self._database.execute(
            "INSERT OR REPLACE INTO portion VALUES (?, ?, ?, ?)", (key, number, calls, measured.core_seconds)
        )

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()


def content_key(*parts: str) -> str:
    """The key of all inputs of a measurement."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
