"""The committed table of depth, area and clock, validation/synthesis/table.csv: a row for each RTL."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.paths import REPOSITORY
from rackwright.reports.records import read_records, write_records

if TYPE_CHECKING:
    from rackwright.synthesis.figures import Figures
    from rackwright.synthesis.library import Library
    from rackwright.synthesis.process import Process

TABLE = REPOSITORY / "validation" / "synthesis" / "table.csv"


@dataclass(frozen=True)
class Row:
    """A configuration's figures, for RTL and a flow of synthesis with these hashes."""

    configuration: str
    rtl_hash: str
    flow_hash: str
    depth_fo4: float
    path_nanoseconds: float
    clock_hz: int
    gate_equivalents: int
    flops: int
    sram_bits: int
    area_mm2: float
    worst_start: str
    worst_end: str


def flow_hash(library: Library, process: Process) -> str:
    """The inputs of the results besides the RTL: the library, the mapping scripts, the rules."""
    from rackwright.synthesis.mapping import mapping_key

    parts = (library.key, mapping_key(), repr(process))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def row_of(configuration: str, figures: Figures, flow: str) -> Row:
    """The row of a synthesised configuration, with the `flow_hash` of the flow."""
    worst = figures.paths[0]
    return Row(
        configuration,
        figures.rtl_hash,
        flow,
        figures.depth_fo4,
        figures.path_nanoseconds,
        figures.clock_hz,
        figures.gate_equivalents,
        figures.flops,
        figures.sram_bits,
        figures.area_mm2,
        worst.start,
        worst.end,
    )


def write_table(rows: Iterable[Row], path: Path = TABLE) -> None:
    """Writes the table."""
    write_records(path, Row, rows)


@cache
def read_table(path: Path = TABLE) -> dict[str, Row]:
    """The rows by the hash of the RTL; empty if there is no table."""
    return {row.rtl_hash: row for row in read_records(path, Row)}


def row_of_manifest(manifest: Path) -> Row | None:
    """The row of an elaborated manifest, or None."""
    return read_table().get(json.loads(manifest.read_text(encoding="utf-8"))["hash"])


def known_clock(rtl_hash: str) -> int | None:
    """The clock of the row for this RTL, or None."""
    row = read_table().get(rtl_hash)
    return None if row is None else row.clock_hz
