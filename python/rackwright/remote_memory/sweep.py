"""A program with less and less local memory, by both kinds of paging: a table and a page with a plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError
from rackwright.remote_memory.measure import HART_HZ, Paging, PagingResult, run_paged
from rackwright.reports.page import page
from rackwright.reports.plots import Points, line_chart

if TYPE_CHECKING:
    import pandas as pd

KINDS: tuple[Paging, ...] = ("software", "unit")


def sweep(
    program: Path,
    arguments: Sequence[str] = (),
    *,
    local_bytes: Sequence[int],
    kinds: Sequence[Paging] = KINDS,
    harts: int = 1,
    files: Sequence[Path] = (),
    cpu: str = "rocket",
    link_latency_us: float = 2.0,
    progress: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """Runs the program with each amount of local memory and each kind of paging.

    A row for each run: `paging`, `local_bytes`, `seconds`, `faults` from blades, `evictions`,
    `fault_seconds` in the runtime's handler, `metadata_seconds`, `network_bytes`, `digest`. Raises
    `RackwrightError` when the program's output or status is not the same in all of them.
    """
    results: list[PagingResult] = []
    for each in local_bytes:
        for kind in kinds:
            progress(f"{program.name}: {each:,} bytes local, paged by {kind}")
            results.append(
                run_paged(
                    *(program, arguments),
                    local_bytes=each,
                    paging=kind,
                    harts=harts,
                    files=files,
                    cpu=cpu,
                    link_latency_us=link_latency_us,
                )
            )
    if len({(result.output, result.exit_code) for result in results}) > 1:
        raise RackwrightError(
            f"{program.name} does something else with less memory: does it ask for the time?"
        )
    import pandas as pd

    return pd.DataFrame([_row(result) for result in results])


def _row(result: PagingResult) -> dict[str, str | int | float]:
    counts = result.counts
    return {
        "paging": result.paging,
        "local_bytes": result.local_bytes,
        "seconds": result.seconds,
        "faults": counts["remote_faults"],
        "evictions": counts["evictions"],
        "fault_seconds": counts["fault_cycles"] / HART_HZ,
        "metadata_seconds": counts["metadata_cycles"] / HART_HZ,
        "network_bytes": result.network_bytes,
        "digest": result.digest,
    }


def sweep_page(title: str, table: pd.DataFrame) -> str:
    """A self-contained HTML page: run time over local memory, and the table."""
    lines: dict[str, Points] = {
        str(kind): sorted((row["local_bytes"] / 1024, row["seconds"] * 1e3) for _, row in rows.iterrows())
        for kind, rows in table.groupby("paging", sort=False)
    }
    chart = line_chart("run time", "local memory, KiB", "ms", lines)
    heading = "".join(f"<th>{escape(str(column))}</th>" for column in table.columns)
    rows = "".join(
        "<tr>" + "".join(f'<td class="right">{escape(str(cell))}</td>' for cell in row) + "</tr>"
        for row in table.itertuples(index=False)
    )
    body = f"<h1>{escape(title)}</h1>{chart}"
    return page(title, f'{body}<div class="scroll"><table><tr>{heading}</tr>{rows}</table></div>')
