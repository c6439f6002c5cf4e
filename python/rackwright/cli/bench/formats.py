"""`rw bench snappy` and `compression`: codecs in RTL beside the official libraries."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.accelerate import (
    Algorithm,
    HashEntriesOption,
    HistoryOption,
    Operation,
)
from rackwright.cli.bench.inputs import Files, named_inputs
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
from rackwright.errors import RackwrightError
from rackwright.unit.placements import Placement

if TYPE_CHECKING:
    from rackwright.benchmarks.compression import Row as CompressionRow
    from rackwright.benchmarks.snappy import FileRow
    from rackwright.machine.parameters import ServerParameters


def snappy(
    operation: Annotated[Operation, typer.Argument(help="The operation.")],
    files: Files = None,
    history: HistoryOption = None,
    hash_entries: HashEntriesOption = None,
    placement: Annotated[Placement, typer.Option(help="Placement of the unit.")] = Placement.near_core,
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
            named_inputs(files),
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


class Target(StrEnum):
    """The target."""

    host = "host"
    rocket = "rocket"
    rocket_unit = "rocket+unit"
    boom = "boom"
    boom_unit = "boom+unit"


class MemoryState(StrEnum):
    """The initial state of caches."""

    warm = "warm"
    cold = "cold"


def _memory(given: list[str] | None, core: list[str] | None) -> tuple[MemoryState, ServerParameters]:
    """The state of caches in --memory, and the numbers of --memory and --core."""
    states, numbers = apart(given)
    if len(states) > 1 or not {*states} <= {*MemoryState}:
        raise RackwrightError(f"--memory: caches are warm or cold, not {' and '.join(states)}")
    return MemoryState(states[0] if states else MemoryState.warm), parse_timing(numbers, core)


def compression(
    files: Files = None,
    format_name: Annotated[Algorithm, typer.Option("--format", help="Format of the data.")] = Algorithm.zstd,
    level: Annotated[
        int | None, typer.Option(help="Level of the official library; its usual level by default.")
    ] = None,
    operations: Annotated[
        list[Operation] | None, typer.Option("--operation", help="One operation; both by default.")
    ] = None,
    targets: Annotated[
        list[Target] | None,
        typer.Option("--target", help="Targets; repeatable; host, boom and boom+unit by default."),
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

    Programs call the library's own functions; for the unit, the linker redirects these calls to it. Each
    result is compared with the official library's.

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
                named_inputs(files),
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


def _print_compression(rows: list[CompressionRow]) -> None:
    columns = [("file", "left"), ("operation", "left"), ("target", "left"), ("memory", "left")]
    columns += [("bytes", "right"), ("GB/s", "right"), ("incl. use", "right"), ("ratio", "right")]
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
