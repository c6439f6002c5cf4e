"""`rw bench cluster` and `dispatch`: the simulation speed of clusters, and the dispatcher on real sockets."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.benchmarks.cluster_loads import SCENARIOS
from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.benchmarks.cluster import ClusterSpeed
    from rackwright.benchmarks.dispatch import ForwardingRow, TailRow


def cluster(
    scenarios: Annotated[
        list[str] | None, typer.Argument(help=f"Of {', '.join(SCENARIOS)}; all by default.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads; all processors by default.")
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="Number of measurements for each scenario.")] = 5,
    json: JsonOption = False,
) -> None:
    """Speed of cluster simulation on one thread and on several, relative to the machine's upper bound.

    docs/json.md describes the keys of --json.

    Examples:
        ./rw bench cluster

        ./rw bench cluster busy-64 --repetitions 9 --json

    """
    from rackwright.benchmarks import cluster as benchmark

    rows: list[ClusterSpeed] = []
    with working("clusters, on one thread and on several") as activity:
        for scenario in scenarios or SCENARIOS:
            activity.detail(scenario)
            rows.append(benchmark.measure(scenario, threads, repetitions))
    if json:
        print_json({"rows": [vars(row) for row in rows]})
    else:
        _print_clusters(rows)
    if not all(row.same for row in rows):
        raise typer.Exit(EXIT_FAILED)


def _print_clusters(rows: list[ClusterSpeed]) -> None:
    columns = [("scenario", "left"), ("MHz on 1 thread", "right"), ("threads", "right"), ("MHz", "right")]
    columns += [("speedup", "right"), ("of as many processes", "right"), ("same digest", "left")]
    cells = [
        [
            row.scenario,
            f"{row.cycles_per_second / 1e6:,.2f}",
            str(row.threads),
            f"{row.cycles_per_second_on_threads / 1e6:,.2f}",
            f"{row.speedup:.2f}x",
            f"{row.ceiling:.2f}x",
            "yes" if row.same else "NO",
        ]
        for row in rows
    ]
    print_table(columns, cells)


def dispatch(
    rates: Annotated[
        list[float] | None, typer.Option("--rate", help="Offered requests per second; repeatable.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.5, help="Length of each measurement.")] = 4.0,
    repetitions: Annotated[int, typer.Option(min=1, help="Repetitions of the forwarding measurements.")] = 3,
    load: Annotated[
        float, typer.Option(min=0.05, max=0.99, help="Load of the workers of three racks.")
    ] = 0.8,
    xdp: Annotated[
        bool,
        typer.Option("--xdp", help="Only forwarding, in network namespaces, also with AF_XDP; needs root."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Compare the dispatcher on real sockets with nginx: throughput, added latency, tails with three racks.

    Examples:
        ./rw bench dispatch

        ./rw bench dispatch --xdp

    """
    from rackwright.benchmarks import dispatch as benchmark
    from rackwright.benchmarks.namespaces import Namespaces

    tails = []
    with working("forwarding, in turns") as activity, ExitStack() as stack:
        place = benchmark.at_the_cable(stack.enter_context(Namespaces())) if xdp else benchmark.LOOPBACK
        forwarding = benchmark.measure_forwarding(rates or benchmark.RATES, seconds, repetitions, place)
        if not xdp:
            names = list(benchmark.DISTRIBUTIONS)
            tails = benchmark.measure_tails(load, 3 * seconds, names, activity.begin)
    if json:
        print_json({"forwarding": [vars(row) for row in forwarding], "tails": [vars(row) for row in tails]})
    else:
        _print_dispatch(forwarding, tails)


def _print_dispatch(forwarding: list[ForwardingRow], tails: list[TailRow]) -> None:
    columns = [("forwarder", "left"), ("requests/s", "right"), ("per CPU second", "right")]
    columns += [("median, us", "right"), ("added, us", "right")]
    cells = [
        [
            row.forwarder,
            f"{row.answered_per_second:,.0f}",
            f"{row.per_cpu_second:,.0f}",
            f"{row.median_us:.1f}",
            f"{row.added_us:.1f}",
        ]
        for row in forwarding
    ]
    print_table(columns, cells)
    if not tails:
        return
    columns = [("work", "left"), ("forwarder", "left"), ("load", "right"), ("mean, us", "right")]
    columns += [("50 %, us", "right"), ("99 %, us", "right"), ("lost", "right")]
    cells = [
        [
            row.distribution,
            row.forwarder,
            f"{row.load:.2f}",
            f"{row.mean_us:,.0f}",
            f"{row.p50_us:,.0f}",
            f"{row.p99_us:,.0f}",
            f"{row.lost:,}",
        ]
        for row in tails
    ]
    print_table(columns, cells)
