"""Synthesis of several designs at once, so that every processor of the host has work until the end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from rackwright.synthesis.figures import Figures, figures
from rackwright.synthesis.flow import Design, Report, map_designs, synthesise
from rackwright.synthesis.library import Library
from rackwright.synthesis.process import Process


def synthesise_all(
    designs: Sequence[Design],
    library: Library,
    process: Process,
    *,
    paths: int = 10,
    report: Report = lambda _: None,
) -> Iterator[Figures]:
    """The results of each design, in order; common pieces are mapped once."""
    map_designs(designs, library, process, report)

    def finish(design: Design) -> Figures:
        report(f"looking for the longest paths of {design.unit}")
        return figures(synthesise(design, library, process, paths=paths), library, process)

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from pool.map(finish, designs)
