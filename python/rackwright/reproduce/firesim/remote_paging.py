"""Figure 2.11: programs with little local memory, paged by software and by the page-fault unit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from rackwright.remote_memory import Paging, PagingResult, run_paged, workload
from rackwright.reports.plots import Points, line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

PAGE_BYTES = 4096
FRACTIONS = (1.0, 0.5, 0.25)
"""Fractions of the pages that a workload uses at its peak; with the first, everything is local."""
WORKLOADS = {
    "genome": (("4000", "300", "262144"), ("1000", "300", "65536")),
    "qsort": (("131072",), ("32768",)),
}
"""Arguments: for a full measurement, and for a quick one."""
SORT_OF_64_MIB = ("8388608",)
"""Arguments of the quicksort whose peak is the paper's; a quick measurement has its usual one instead."""
ALL_LOCAL = 17_000 * PAGE_BYTES
"""More than the pages of any workload, and within the runtime's maximum of frames."""
LATENCY_US = 2.0
BLADE_US = 0.2
"""A blade's time for a request."""
SHORTER_US = (0.25, 0.5, 1.0)
"""Latencies of the link to the blade; with the shorter ones, one workload with the lowest local memory runs.
The paper does not state its latency.
"""
KINDS: tuple[Paging, ...] = ("software", "unit")
AHEAD = "8"
"""The prefetch distance of the genome in k-mers: more than the pages that the unit has in flight."""
SPARE_PAGES = 100
"""More than the frames that either kind keeps free."""


def by_both(
    name: str, arguments: Sequence[str], local_bytes: int, latency_us: float = LATENCY_US
) -> dict[Paging, PagingResult]:
    """The workload paged by either kind, on a thread of the host each."""
    program = workload(name)

    def run(kind: Paging) -> PagingResult:
        return run_paged(program, arguments, local_bytes=local_bytes, paging=kind, link_latency_us=latency_us)

    with ThreadPoolExecutor(max_workers=len(KINDS)) as pool:
        return dict(zip(KINDS, pool.map(run, KINDS), strict=True))


def all_local(name: str, arguments: Sequence[str]) -> PagingResult:
    """The workload without remote memory."""
    return run_paged(workload(name), arguments, local_bytes=ALL_LOCAL)


def require_output(name: str, results: Sequence[PagingResult], expected: PagingResult) -> None:
    """Raises `AssertionError` if one of them printed an unexpected output."""
    outputs = {(result.output, result.exit_code) for result in results}
    if outputs != {(expected.output, expected.exit_code)}:
        raise AssertionError(f"{name} prints something else with less memory: {outputs}")


def sweep(name: str, settings: Settings) -> dict[tuple[Paging, float], PagingResult]:
    """Both kinds with every fraction of local memory. Raises `AssertionError` when an output differs."""
    arguments = WORKLOADS[name][settings.quick]
    local = all_local(name, arguments)
    results: dict[tuple[Paging, float], PagingResult] = {}
    for fraction in FRACTIONS:
        pages = round(local.counts["peak_pages"] * fraction) + (SPARE_PAGES if fraction == 1.0 else 0)
        settings.detail(f"firesim-2.11: {name}, {pages} pages")
        both = by_both(name, arguments, pages * PAGE_BYTES)
        results |= {(kind, fraction): result for kind, result in both.items()}
    require_output(name, list(results.values()), local)
    return results


def largest_sort(settings: Settings) -> tuple[dict[str, float], list[str]]:
    """The slow-down of the quicksort of 64 MiB with a quarter of its pages, and the digests of the runs."""
    arguments = WORKLOADS["qsort"][True] if settings.quick else SORT_OF_64_MIB
    settings.detail(f"firesim-2.11: qsort of {arguments[0]} numbers")
    local = all_local("qsort", arguments)
    results = by_both("qsort", arguments, round(local.counts["peak_pages"] * FRACTIONS[-1]) * PAGE_BYTES)
    require_output("qsort", list(results.values()), local)
    names = {"software": "software", "unit": "the unit"}
    slow_downs = {
        f"qsort of 64 MiB: slow-down with {names[kind]}": result.seconds / local.seconds
        for kind, result in results.items()
    }
    return slow_downs, [result.digest for result in (local, *results.values())]


def overhead_ratio(results: dict[Paging, PagingResult], local_seconds: float) -> float:
    """Time beyond that with all memory local, with software over that with the unit."""
    return (results["software"].seconds - local_seconds) / (results["unit"].seconds - local_seconds)


def prefetching(
    settings: Settings, local_bytes: int, expected: PagingResult
) -> tuple[dict[Paging, PagingResult], PagingResult]:
    """The genome with prefetches by both kinds, the same binary, and with all memory local.

    Raises `AssertionError` when an output is not the `expected` one.
    """
    arguments = (*WORKLOADS["genome"][settings.quick], AHEAD)
    settings.detail(f"firesim-2.11: genome, slots prefetched {AHEAD} k-mers ahead")
    local = all_local("genome", arguments)
    results = by_both("genome", arguments, local_bytes)
    require_output("genome", [local, *results.values()], expected)
    return results, local


def prefetching_rows(results: dict[Paging, PagingResult], local: PagingResult) -> dict[str, float]:
    """The compared quantities for the genome with prefetches."""
    by_software, by_unit = results["software"], results["unit"]
    return {
        "genome with prefetches: overhead with software over that with the unit": overhead_ratio(
            results, local.seconds
        ),
        "genome with prefetches: slow-down with software": by_software.seconds / local.seconds,
        "genome with prefetches: slow-down with the unit": by_unit.seconds / local.seconds,
        "genome with prefetches: evictions with the unit over those with software": by_unit.counts[
            "evictions"
        ]
        / by_software.counts["evictions"],
        "genome with prefetches: metadata time with software over that with the unit": metadata_ratio(
            by_software, by_unit
        ),
    }


def fault_us(result: PagingResult) -> float:
    """The software cost of a remote fault."""
    return result.counts["fault_cycles"] / result.counts["remote_faults"] / 2000


def by_latency(
    settings: Settings, local_bytes: int, local_seconds: float
) -> tuple[dict[float, float], list[str]]:
    """The genome's ratio of overheads for each shorter link, and the digests of the runs."""
    ratios: dict[float, float] = {}
    digests: list[str] = []
    for latency in SHORTER_US:
        settings.detail(f"firesim-2.11: genome, a link of {latency:g} us")
        results = by_both("genome", WORKLOADS["genome"][settings.quick], local_bytes, latency)
        ratios[latency] = overhead_ratio(results, local_seconds)
        digests += [result.digest for result in results.values()]
    return ratios, digests


def metadata_ratio(by_software: PagingResult, by_unit: PagingResult) -> float:
    """Metadata time of a remote fault, with software over that with the unit."""

    def each(result: PagingResult) -> float:
        return result.counts["metadata_cycles"] / result.counts["remote_faults"]

    return each(by_software) / each(by_unit)


def rows_of(name: str, results: dict[tuple[Paging, float], PagingResult]) -> dict[str, float]:
    """The compared quantities, at the lowest local memory."""
    lowest = FRACTIONS[-1]
    by_software, by_unit = results["software", lowest], results["unit", lowest]
    local = results["software", FRACTIONS[0]].seconds
    return {
        f"{name}: overhead with software over that with the unit": overhead_ratio(
            {"software": by_software, "unit": by_unit}, local
        ),
        f"{name}: slow-down with software": by_software.seconds / local,
        f"{name}: slow-down with the unit": by_unit.seconds / local,
        f"{name}: metadata time with software over that with the unit": metadata_ratio(by_software, by_unit),
        f"{name}: evictions with the unit over those with software": by_unit.counts["evictions"]
        / by_software.counts["evictions"],
        f"{name}: remote faults with software": by_software.counts["remote_faults"],
        f"{name}: a fault with software": fault_us(by_software),
        f"{name}: network bytes with the unit over those with software": by_unit.network_bytes
        / by_software.network_bytes,
    }


def measure(settings: Settings) -> Outcome:
    """Both workloads, with a line for each kind of paging, and the rows beside them."""
    rows: dict[str, float] = {}
    charts, digests = [], []
    swept = {name: sweep(name, settings) for name in WORKLOADS}
    for name, results in swept.items():
        rows |= rows_of(name, results)
        digests += [result.digest for result in results.values()]
        lines: dict[str, Points] = {
            kind: [(100 * fraction, results[kind, fraction].seconds * 1e3) for fraction in sorted(FRACTIONS)]
            for kind in KINDS
        }
        charts.append(line_chart(f"{name}: run time", "local memory, % of the peak", "ms", lines))
    genome = swept["genome"]
    lowest = genome["unit", FRACTIONS[-1]]
    prefetched, prefetched_local = prefetching(settings, lowest.local_bytes, lowest)
    rows |= prefetching_rows(prefetched, prefetched_local)
    network_us = 2 * LATENCY_US + BLADE_US
    rows["genome: a fault with software over two links and the blade"] = (
        fault_us(genome["software", FRACTIONS[-1]]) / network_us
    )
    digests += [result.digest for result in (*prefetched.values(), prefetched_local)]
    slow_downs, sort_digests = largest_sort(settings)
    rows |= slow_downs
    ratios, more = by_latency(settings, lowest.local_bytes, genome["software", FRACTIONS[0]].seconds)
    for latency, ratio in ratios.items():
        rows[f"genome: the same with a link of {latency:g} us"] = ratio
    ratios[LATENCY_US] = rows["genome: overhead with software over that with the unit"]
    charts.append(
        line_chart(
            "genome: overhead with software over that with the unit",
            "latency of the link, us",
            "times",
            {"lowest local memory": sorted(ratios.items())},
        )
    )
    return Outcome(compare("firesim/figure_2_11.csv", rows), charts, digests + sort_digests + more)


EXPERIMENT = Experiment(
    "firesim-2.11",
    "Remote memory by software and by a page-fault unit",
    "Karandikar 2024, section 2.6",
    "A `rocket` server and a memory blade, 2 us and less apart; Linux programs above a paging runtime.",
    measure,
)
