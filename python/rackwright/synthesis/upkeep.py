"""Keeps the committed table of depth, area and clock up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rackwright.synthesis.batch import synthesise_all
from rackwright.synthesis.configurations import Configuration, configurations
from rackwright.synthesis.flow import Design, Report
from rackwright.synthesis.library import Library
from rackwright.synthesis.process import Process
from rackwright.synthesis.table import Row, flow_hash, read_table, row_of, write_table


def update_table(
    wanted: Sequence[tuple[Configuration, Design]],
    library: Library,
    process: Process,
    *,
    detail: Report,
    done: Report,
) -> None:
    """Brings the table up to date, row by row: one that is there for this RTL and this flow is kept.

    `detail` is told what is under way, `done` what each new row says.
    """
    kept, flow = read_table(), flow_hash(library, process)
    missing: dict[str, Design] = {}
    for each, design in wanted:
        row = kept.get(design.rtl_hash)
        if row is not None and row.flow_hash == flow:
            _keep(replace(row, configuration=each.name))
        else:
            missing[each.name] = design
    found = synthesise_all(list(missing.values()), library, process, paths=1, report=detail)
    for name, figures in zip(missing, found, strict=True):
        row = row_of(name, figures, flow)
        _keep(row)
        done(f"{name}: {row.depth_fo4:.1f} FO4, {row.worst_start} -> {row.worst_end}")


def _keep(row: Row) -> None:
    """Puts a row into the table, and drops those that are of no configuration any more."""
    # Read again, for another process may have added the rows of other units meanwhile.
    read_table.cache_clear()
    rows = {each.configuration: each for each in read_table().values()} | {row.configuration: row}
    write_table(rows[name] for name in (each.name for each in configurations()) if name in rows)
