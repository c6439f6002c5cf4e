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
    """Updates the table, row by row: an existing row for this RTL and this flow is kept.

    `detail` is called with the current step, `done` with each new row.
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
    """Writes a row into the table, and removes rows without a configuration."""
    # The table is read again, because another process may have added rows of other units in the meantime.
    read_table.cache_clear()
    rows = {each.configuration: each for each in read_table().values()} | {row.configuration: row}
    write_table(rows[name] for name in (each.name for each in configurations()) if name in rows)
