"""Figure 2.11: programs with little local memory, paged by software and by the page-fault unit."""

from __future__ import annotations

from rackwright.remote_memory import Paging, PagingResult, run_paged, workload
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.lines import Points, line_chart
from rackwright.reproduce.reference import compare

PAGE_BYTES = 4096
FRACTIONS = (1.0, 0.5, 0.25)
"""Of the pages that a workload uses at its peak; with the first, everything is local."""
WORKLOADS = {
    "genome": (("4000", "300", "262144"), ("1000", "300", "65536")),
    "qsort": (("131072",), ("32768",)),
}
"""Arguments: for a whole measurement, and for a quick one."""
KINDS: tuple[Paging, ...] = ("software", "unit")
SPARE_PAGES = 100
"""More than the frames that either kind keeps free."""


def sweep(name: str, settings: Settings) -> dict[tuple[Paging, float], PagingResult]:
    """Both kinds with every fraction of local memory. Raises `AssertionError` when an output differs."""
    arguments = WORKLOADS[name][settings.quick]
    program = workload(name)
    peak = run_paged(program, arguments, local_bytes=12_000 * PAGE_BYTES).counts["peak_pages"]
    results: dict[tuple[Paging, float], PagingResult] = {}
    for fraction in FRACTIONS:
        pages = round(peak * fraction) + (SPARE_PAGES if fraction == 1.0 else 0)
        for kind in KINDS:
            settings.detail(f"firesim-2.11: {name}, {pages} pages, by {kind}")
            results[kind, fraction] = run_paged(
                program, arguments, local_bytes=pages * PAGE_BYTES, paging=kind
            )
    outputs = {(result.output, result.exit_code) for result in results.values()}
    if len(outputs) != 1:
        raise AssertionError(f"{name} prints something else with less memory: {outputs}")
    return results


def rows_of(name: str, results: dict[tuple[Paging, float], PagingResult]) -> dict[str, float]:
    """What is compared, at the lowest local memory."""
    lowest = FRACTIONS[-1]
    by_software, by_unit = results["software", lowest], results["unit", lowest]
    local = results["software", FRACTIONS[0]].seconds
    overheads = [result.seconds - local for result in (by_software, by_unit)]

    def each(result: PagingResult) -> float:
        return result.counts["metadata_cycles"] / result.counts["remote_faults"]

    return {
        f"{name}: overhead with software over that with the unit": overheads[0] / overheads[1],
        f"{name}: slow-down with software": by_software.seconds / local,
        f"{name}: slow-down with the unit": by_unit.seconds / local,
        f"{name}: metadata time with software over that with the unit": each(by_software) / each(by_unit),
        f"{name}: evictions with the unit over those with software": by_unit.counts["evictions"]
        / by_software.counts["evictions"],
        f"{name}: remote faults with software": by_software.counts["remote_faults"],
        f"{name}: a fault with software": by_software.counts["fault_cycles"]
        / by_software.counts["remote_faults"]
        / 2000,
        f"{name}: network bytes with the unit over those with software": by_unit.network_bytes
        / by_software.network_bytes,
    }


def measure(settings: Settings) -> Outcome:
    """Both workloads; a line for each kind of paging."""
    rows: dict[str, float] = {}
    charts, digests = [], []
    for name in WORKLOADS:
        results = sweep(name, settings)
        rows |= rows_of(name, results)
        digests += [result.digest for result in results.values()]
        lines: dict[str, Points] = {
            kind: [(100 * fraction, results[kind, fraction].seconds * 1e3) for fraction in sorted(FRACTIONS)]
            for kind in KINDS
        }
        charts.append(line_chart(f"{name}: run time", "local memory, % of the peak", "ms", lines))
    return Outcome(compare("firesim/figure_2_11.csv", rows), charts, digests)


EXPERIMENT = Experiment(
    "firesim-2.11",
    "Remote memory by software and by a page-fault unit",
    "Karandikar 2024, section 2.6",
    "A `rocket` server and a memory blade, 2 us apart; Linux programs above a paging runtime.",
    measure,
)
