"""Programs on the tiles of a file, as `./rw run --tiles` runs them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from command_line import Ended, rw

MOST_CYCLES = 30_000_000
"""Cycles after which a run is stopped."""

TILES = """
mesh: {width: 2, height: 2}
tiles:
  hart0: {at: [0, 0], hart: true}
  hart1: {at: [1, 0], hart: true}
  copy: {at: [0, 1], unit: stream-copy}
"""
"""Two harts and one unit."""


def tiles_of(folder: Path, unit: object, parameters: Mapping[str, object] | None = None) -> Path:
    """A hart, and a tile with the unit, of these parameters of elaboration."""
    file = folder / "tiles.yaml"
    chosen = json.dumps({"at": [1, 0], "unit": str(unit), "parameters": dict(parameters or {})})
    file.write_text(
        f"mesh: {{width: 2, height: 1}}\ntiles: {{hart: {{at: [0, 0], hart: true}}, unit: {chosen}}}\n"
    )
    return file


def run(tiles: Path, *arguments: object) -> Ended:
    """`./rw run --tiles` with these arguments."""
    return rw("run", "--tiles", tiles, "--max-cycles", MOST_CYCLES, "--json", *arguments)


def record_of(tiles: Path, program: Path, *words: object) -> Any:
    """The JSON of a program that ends well."""
    record = run(tiles, program, "--", *words).json()
    assert record["exit_code"] == 0, record["stdout"]
    return record


def said(tiles: Path, program: Path, *words: object) -> list[str]:
    """The lines of a program that ends well."""
    return str(record_of(tiles, program, *words)["stdout"]).splitlines()
