"""`rw bench`: how fast the units are, and how fast the simulation is."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.benchmarks.cluster_loads import SCENARIOS
from rackwright.cli.accelerate import (
    Algorithm,
    HashEntriesOption,
    HistoryOption,
    Operation,
    Placement,
    read_input,
)
from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_table, working
from rackwright.cli.settings import (
    ClockOption,
    CoreOption,
    MemoryOption,
    SetOption,
    apart,
    parse_settings,
    parse_timing,
)
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.benchmarks.cluster import ClusterSpeed
    from rackwright.benchmarks.compression import Row as CompressionRow
    from rackwright.benchmarks.cpu import CpuRow
    from rackwright.benchmarks.dispatch import ForwardingRow, TailRow
    from rackwright.benchmarks.linux import LinuxRow
    from rackwright.benchmarks.snappy import FileRow
    from rackwright.benchmarks.speeds import Speed
    from rackwright.parameters import ServerParameters

bench = typer.Typer(help="Measure the units and the simulation itself.", no_args_is_help=True)

Files = Annotated[list[Path] | None, typer.Argument(help="Files; the demo's archive by default.")]


@bench.command("units")
def units(
    names: Annotated[list[str] | None, typer.Argument(help="Units; all by default.")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Put what was measured into the table that `rw units` shows.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Speed of every unit as it is built by default, on a workload of its kind.

    Examples:
        ./rw bench units

        ./rw bench units snappy-compress stream-copy --json

    """
    from rackwright.benchmarks import units as benchmark
    from rackwright.benchmarks.speeds import write_speeds

    chosen = names or list(benchmark.MEASUREMENTS)
    rows: list[Speed] = []
    with working("units") as activity:
        for number, name in enumerate(chosen):
            activity.detail(f"{name}, {number + 1} of {len(chosen)}")
            rows += benchmark.measure([name])
    if update:
        write_speeds(rows)
    if json:
        print_json({"rows": [row.record() for row in rows]})
        return
    columns = [("unit", "left"), ("bytes", "right"), ("cycles", "right"), ("GHz", "right"), ("GB/s", "right")]
    cells = [
        [
            row.unit,
            f"{row.bytes:,}",
            f"{row.cycles:,}",
            f"{row.clock_hz / 1e9:.2f}",
            f"{row.gigabytes_per_second:.2f}",
            row.workload,
        ]
        for row in rows
    ]
    print_table([*columns, ("workload", "left")], cells)


@bench.command("snappy")
def snappy(
    operation: Annotated[Operation, typer.Argument(help="What to do with the files.")],
    files: Files = None,
    history: HistoryOption = None,
    hash_entries: HashEntriesOption = None,
    placement: Annotated[Placement, typer.Option(help="Where the unit sits.")] = Placement.near_core,
    settings: SetOption = None,
    clock: ClockOption = None,
    memory: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Speed and ratio of a Snappy unit, file by file and in total.

    Examples:
        ./rw bench snappy decompress corpora/*

        ./rw bench snappy compress corpora/* --hash-entries 512 --json

    """
    from rackwright.benchmarks import snappy as benchmark

    timing = parse_timing(memory, None)
    rows: list[FileRow] = []
    with working(f"snappy-{operation}: elaborating and compiling") as activity:
        for row in benchmark.measure(
            operation.value,
            _inputs(files),
            history_kib=history,
            hash_entries=hash_entries,
            placement=placement.value,
            parameters=parse_settings(settings),
            clock=clock,
            memory=timing.memory,
        ):
            rows.append(row)
            activity.detail(f"snappy-{operation}: {row.file}")
    rows.append(benchmark.total(rows))
    if json:
        print_json({"rows": [row.record() for row in rows]})
    else:
        _print_snappy(rows)
    if not rows[-1].verified:
        raise typer.Exit(EXIT_FAILED)


class Target(StrEnum):
    """Who does it."""

    host = "host"
    rocket = "rocket"
    rocket_unit = "rocket+unit"
    boom = "boom"
    boom_unit = "boom+unit"


class MemoryState(StrEnum):
    """What caches hold before."""

    warm = "warm"
    cold = "cold"


def _memory(given: list[str] | None, core: list[str] | None) -> tuple[MemoryState, ServerParameters]:
    """What --memory says of the state of caches, and the numbers that it and --core give."""
    states, numbers = apart(given)
    if len(states) > 1 or not {*states} <= {*MemoryState}:
        raise RackwrightError(f"--memory: caches are warm or cold, not {' and '.join(states)}")
    return MemoryState(states[0] if states else MemoryState.warm), parse_timing(numbers, core)


@bench.command("compression")
def compression(
    files: Files = None,
    format_name: Annotated[Algorithm, typer.Option("--format", help="Of data.")] = Algorithm.zstd,
    level: Annotated[int | None, typer.Option(help="Of the official library; its usual one.")] = None,
    operations: Annotated[
        list[Operation] | None, typer.Option("--operation", help="One of the two; both by default.")
    ] = None,
    targets: Annotated[
        list[Target] | None,
        typer.Option("--target", help="Repeatable; host, boom and boom+unit by default."),
    ] = None,
    memory: Annotated[
        list[str] | None,
        typer.Option(
            metavar="warm|cold|NAME=NUMBER|FILE.yaml",
            help="Measure the second run on simulated cores, or the first; or a number of the clock, "
            "caches or DRAM, such as l2-latency=20, or a file of numbers (docs/memory-model.md). Repeatable.",
        ),
    ] = None,
    settings: SetOption = None,
    clock: ClockOption = None,
    core: CoreOption = None,
    json: JsonOption = False,
) -> None:
    """The official library on this machine and on a simulated core, and the unit beside that core.

    Programs measure it by the library's own functions; those of the unit are linked so that these go to it.
    Each result is compared with the official library's.

    Examples:
        ./rw bench compression --format zstd --level 3

        ./rw bench compression corpora/* --format snappy --operation decompress --json

        ./rw bench compression README.md --format gzip --target host --target rocket+unit --memory cold

    """
    from rackwright.benchmarks import compression as benchmark

    state, timing = _memory(memory, core)
    rows: list[CompressionRow] = []
    with working(f"{format_name.value}: elaborating and compiling") as activity:
        rows.extend(
            benchmark.measure(
                _inputs(files),
                format_name.value,
                level=level,
                operations=[each.value for each in operations or list(Operation)],
                targets=[each.value for each in targets or (Target.host, Target.boom, Target.boom_unit)],
                memory=state.value,
                parameters=parse_settings(settings),
                clock=clock,
                timing=timing,
                begin=activity.begin,
            )
        )
    if json:
        print_json({"rows": [row.record() for row in rows]})
    else:
        _print_compression(rows)
    if not all(row.verified for row in rows):
        raise typer.Exit(EXIT_FAILED)


@bench.command("rtl")
def rtl(files: Files = None, json: JsonOption = False) -> None:
    """What the engine costs around RTL: time against a bare Verilator loop with the same inputs.

    Examples:
        ./rw bench rtl

    """
    from rackwright.benchmarks import rtl as benchmark

    data = b"".join(data for _, data in _inputs(files))
    with working("stepping the units, through the engine and bare"):
        rows = [benchmark.measure(operation.value, data) for operation in Operation]
    if json:
        print_json({"rows": [vars(row) | {"cycles_per_second": row.cycles_per_second} for row in rows]})
        return
    columns = [("unit", "left"), ("cycles", "right"), ("cycles/s", "right"), ("time over bare loop", "right")]
    cells = [
        [row.unit, f"{row.cycles:,}", f"{row.cycles_per_second:,.0f}", f"{row.ratio:.3f}x"] for row in rows
    ]
    print_table(columns, cells)


@bench.command("cpu")
def cpu(json: JsonOption = False) -> None:
    """Instructions per second of each core model, against qemu-riscv64 on the same programs.

    Examples:
        ./rw bench cpu --json

    """
    from rackwright.benchmarks import cpu as benchmark

    with working("running the programs in turn"):
        rows = benchmark.measure()
    if json:
        print_json({"rows": [vars(row) | {"ratio": row.ratio} for row in rows]})
        return
    columns = [("program", "left"), ("core", "left"), ("instructions", "right")]
    columns += [("instructions/s", "right"), ("qemu's", "right"), ("ratio", "right")]
    print_table(columns, [_cpu_cells(row) for row in rows])


@bench.command("linux")
def linux(
    cores: Annotated[
        list[str] | None, typer.Option("--cpu", help="Models of harts; functional and rocket by default.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """What Linux costs: booting beside QEMU, programs under it, several harts, restoring, idle servers.

    Each is measured once, by processor time, so that others on this machine change little.

    Examples:
        ./rw bench linux

        ./rw bench linux --cpu functional --json

    """
    from rackwright.benchmarks import linux as benchmark

    with working("linux") as activity:
        rows = list(benchmark.measure(cores or benchmark.CORES, activity.begin))
    if json:
        print_json({"rows": [vars(row) for row in rows]})
        return
    columns = [("figure", "left"), ("harts", "left"), ("measured", "right"), ("reference", "right")]
    columns += [("ratio", "right"), ("unit", "left")]
    print_table(columns, [_linux_cells(row) for row in rows])


def _linux_cells(row: LinuxRow) -> tuple[str, ...]:
    reference = "" if row.reference is None else f"{row.reference:,.2f}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    return row.figure, row.cpu, f"{row.measured:,.2f}", reference, ratio, row.unit


@bench.command("cluster")
def cluster(
    scenarios: Annotated[
        list[str] | None, typer.Argument(help=f"Of {', '.join(SCENARIOS)}; all by default.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many; all processors by default.")] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="Measurements of each.")] = 5,
    json: JsonOption = False,
) -> None:
    """How fast clusters are simulated on one thread and on several, beside what the machine can give at all.

    --json says what each of them is.

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


@bench.command("dispatch")
def dispatch(
    rates: Annotated[
        list[float] | None, typer.Option("--rate", help="Requests per second offered, several times.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.5, help="Length of each measurement.")] = 4.0,
    repetitions: Annotated[int, typer.Option(min=1, help="Turns of forwarding.")] = 3,
    load: Annotated[float, typer.Option(min=0.05, max=0.99, help="Of three racks' workers.")] = 0.8,
    xdp: Annotated[
        bool,
        typer.Option("--xdp", help="Forwarding only, in network namespaces, with AF_XDP too; takes root."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """The dispatcher on real sockets beside nginx: what it forwards and adds, and tails with three racks.

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


def _cpu_cells(row: CpuRow) -> list[str]:
    speed = row.instructions / row.seconds
    qemu = row.instructions / row.qemu_seconds
    return [
        row.program,
        row.cpu,
        f"{row.instructions:,}",
        f"{speed / 1e6:.0f} M",
        f"{qemu / 1e6:.0f} M",
        f"1/{1 / row.ratio:.1f}",
    ]


def _print_compression(rows: list[CompressionRow]) -> None:
    columns = [("file", "left"), ("operation", "left"), ("target", "left"), ("memory", "left")]
    columns += [("bytes", "right"), ("GB/s", "right"), ("and use", "right"), ("ratio", "right")]
    columns += [("library's", "right")]
    columns += [("unit's GHz", "right"), ("GB/s per mm2", "right"), ("verified", "left")]
    cells = []
    for row in rows:
        record = row.record()
        density = record["gigabytes_per_second_per_mm2"]
        clock = f"{row.unit_clock_hz / 1e9:.2f} ({row.unit_clock_source})" if row.unit_clock_hz else ""
        cells.append(
            [
                row.file,
                row.operation,
                row.target,
                row.memory,
                f"{row.uncompressed_bytes:,}",
                f"{row.gigabytes_per_second:.3f}",
                f"{row.used_gigabytes_per_second:.3f}",
                f"{record['ratio']:.3f}",
                f"{record['library_ratio']:.3f}",
                clock,
                "" if density is None else f"{density:.1f}",
                "yes" if row.verified else "NO",
            ]
        )
    print_table(columns, cells)


def _print_snappy(rows: list[FileRow]) -> None:
    columns = [("file", "left"), ("bytes", "right"), ("cycles", "right"), ("GB/s", "right")]
    columns += [("ratio", "right"), ("libsnappy's", "right"), ("verified", "left")]
    cells = [
        [
            row.file,
            f"{row.uncompressed_bytes:,}",
            f"{row.cycles:,}",
            f"{row.gigabytes_per_second:.2f}",
            f"{row.ratio:.3f}",
            f"{row.library_ratio:.3f}",
            "yes" if row.verified else "NO",
        ]
        for row in rows
    ]
    print_table(columns, cells)


def _inputs(files: list[Path] | None) -> list[tuple[str, bytes]]:
    """The files by name; without any, the demo's archive."""
    if not files:
        return [("archive", default_archive())]
    return [(path.name, read_input(path)) for path in files]
