"""`rw protobuf` and `rw bench protobuf`: messages by the official library and by the units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_table, working
from rackwright.cli.settings import (
    ClockOption,
    CoreOption,
    MemoryOption,
    UnitSetOption,
    parse_timing,
    parse_unit_settings,
)

if TYPE_CHECKING:
    from rackwright.protobuf import Row, Suite, Summary, Way

protobuf = typer.Typer(
    help="Parse and serialize recorded messages, with the official library and with the units.",
    no_args_is_help=True,
)


class Target(StrEnum):
    """The target on which messages are parsed and serialized."""

    host = "host"
    rocket = "rocket"
    boom = "boom"
    rocket_unit = "rocket+unit"
    boom_unit = "boom+unit"


class Calls(StrEnum):
    """The number of messages that are passed to a unit at a time."""

    batch = "batch"
    single = "single"


class Syntax(StrEnum):
    """The syntax of the services' schemas."""

    proto2 = "proto2"
    proto3 = "proto3"


_HOST_NOTE = (
    "Every target is given the same batch again: the host many times, in caches that are warm if it fits,\n"
    "with predictors that know few messages by heart. --messages 2048 are more than it can learn."
)

Proto = Annotated[Path, typer.Option("--proto", help="The .proto file that declares the message.")]
Message = Annotated[str, typer.Option("--message", metavar="NAME", help="Full name: package.Message.")]
Files = Annotated[list[Path], typer.Argument(help="Files of recorded messages, one message per file.")]
Delimited = Annotated[
    bool, typer.Option("--delimited", help="Files contain many messages, each preceded by its length.")
]
Include = Annotated[
    list[Path] | None,
    typer.Option("-I", "--proto-path", help="Folder in which imports are searched; repeatable."),
]
Targets = Annotated[list[Target] | None, typer.Option("--target", help="Only these targets; repeatable.")]


@protobuf.command("deserialize")
def deserialize(
    files: Files,
    proto: Proto,
    message: Message,
    delimited: Delimited = False,
    include: Include = None,
    target: Targets = None,
    values: UnitSetOption = None,
    clock: ClockOption = None,
    memory: MemoryOption = None,
    core: CoreOption = None,
    json: JsonOption = False,
) -> None:
    """Parse messages; every object is compared field by field with the official library's.

    Examples:
        ./rw protobuf deserialize --proto my.proto --message pkg.Msg a.bin b.bin

        ./rw protobuf deserialize --proto my.proto --message pkg.Msg a.bin --memory llc-latency=80

    """
    suite = _recorded(files, proto, message, delimited)
    way = _way(values, clock, memory, core)
    _measure(suite, ["deserialize"], include, target, json, way)


@protobuf.command("serialize")
def serialize(
    files: Files,
    proto: Proto,
    message: Message,
    delimited: Delimited = False,
    include: Include = None,
    target: Targets = None,
    values: UnitSetOption = None,
    clock: ClockOption = None,
    memory: MemoryOption = None,
    core: CoreOption = None,
    json: JsonOption = False,
) -> None:
    """Serialize messages; every output is compared byte by byte with the official library's.

    The files hold them serialized: they are parsed by the library, and that is not measured.

    Examples:
        ./rw protobuf serialize --proto my.proto --message pkg.Msg --delimited log.bin --json

    """
    suite = _recorded(files, proto, message, delimited)
    way = _way(values, clock, memory, core)
    _measure(suite, ["serialize"], include, target, json, way)


def bench_protobuf(
    suite: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Suite: fields, services, public, or a FILE.yaml with distributions."
        ),
    ] = "fields",
    operation: Annotated[
        list[str] | None, typer.Option("--operation", help="deserialize or serialize; both by default.")
    ] = None,
    syntax: Annotated[
        Syntax | None, typer.Option(help="All schemas of services in this; by default as distributed.")
    ] = None,
    schemas: Annotated[
        int | None, typer.Option(min=1, max=200, help="Number of schemas of the suite public; 12 by default.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the suite public; 11 by default.")] = None,
    messages: Annotated[
        int | None,
        typer.Option(min=1, help="Of each benchmark; 64 by default, of services as their YAML says, 48."),
    ] = None,
    target: Targets = None,
    save: Annotated[Path | None, typer.Option(help="Also write the suite into this folder.")] = None,
    calls: Annotated[
        Calls, typer.Option(help="Give the unit all messages of a benchmark at once, or one at a time.")
    ] = Calls.batch,
    values: UnitSetOption = None,
    clock: ClockOption = None,
    memory: MemoryOption = None,
    core: CoreOption = None,
    json: JsonOption = False,
) -> None:
    """Speed of the protobuf units over a suite of messages, against the official library.

    Examples:
        ./rw bench protobuf

        ./rw bench protobuf --suite services --json

        ./rw bench protobuf --suite services --syntax proto3

        ./rw bench protobuf --suite services --messages 2048 --target host --target boom+unit

        ./rw bench protobuf --suite public --schemas 200 --seed 11 --target boom --target boom+unit

    """
    from rackwright.protobuf.suites import chosen_suite, save_suite

    made = chosen_suite(suite, syntax.value if syntax else None, schemas, seed, messages)
    if save is not None:
        save_suite(made, save)
    way = _way(values, clock, memory, core, calls)
    _measure(made, operation, None, target, json, way)


def _recorded(files: list[Path], proto: Path, message: str, delimited: bool) -> Suite:
    """The messages in files as a suite of their own."""
    from rackwright.protobuf import Benchmark, Suite, read_messages

    return Suite(proto.name, proto, [Benchmark(message, message, read_messages(files, delimited))])


def _way(
    values: list[str] | None,
    clock: str | None,
    memory: list[str] | None,
    core: list[str] | None,
    calls: Calls = Calls.batch,
) -> Way:
    """The measurement that the options of the same names select."""
    from rackwright.protobuf import Way

    return Way(clock, calls.value, parse_unit_settings(values), parse_timing(memory, core))


def _measure(
    suite: Suite,
    operations: Sequence[str] | None,
    include: Sequence[Path] | None,
    targets: Sequence[Target] | None,
    json: bool,
    way: Way,
) -> None:
    from rackwright.protobuf import OPERATIONS, TARGETS, measure, summarize

    with working(suite.name) as activity:
        rows = list(
            measure(
                suite,
                operations or OPERATIONS,
                [target.value for target in targets] if targets else TARGETS,
                include=include or (),
                way=way,
                begin=activity.begin,
                detail=activity.detail,
            )
        )
    summaries = summarize(rows)
    if json:
        print_json(
            {
                "rows": [row.record() for row in rows],
                "summary": [summary.record() for summary in summaries],
            }
        )
    else:
        _print(rows, summaries)
    if not all(row.verified and row.status == "ok" for row in rows):
        raise typer.Exit(EXIT_FAILED)


def _print(rows: Sequence[Row], summaries: Sequence[Summary]) -> None:
    columns = [("benchmark", "left"), ("operation", "left"), ("target", "left"), ("messages", "right")]
    columns += [("bytes", "right"), ("cycles", "right"), ("cycles/B", "right"), ("GHz", "right")]
    columns += [
        ("Gbit/s", "right"),
        ("first", "right"),
        ("incl. use", "right"),
        ("fallbacks", "right"),
        ("status", "left"),
        ("verified", "left"),
    ]
    print_table(
        columns, [_cells(row) for row in sorted(rows, key=lambda row: (row.operation, row.benchmark))]
    )
    if not summaries:
        return
    print()
    columns = [("operation", "left"), ("group", "left"), ("target", "left"), ("over", "left")]
    columns += [("speed-up (geometric mean)", "right"), ("first run", "right"), ("with use", "right")]
    columns += [("fallbacks", "right"), ("benchmarks", "right")]
    columns += [("messages of each", "right")]
    cells = [
        [
            each.operation,
            each.group,
            each.target,
            each.over,
            f"{each.speedup:.2f}x",
            f"{each.first_speedup:.2f}x",
            f"{each.used_speedup:.2f}x",
            f"{each.fallbacks:.1%}" + _names(each.reasons),
            str(each.benchmarks),
            f"{each.messages:,}",
        ]
        for each in summaries
    ]
    print_table(columns, cells)
    if any(each.over == "host" for each in summaries):
        print()
        typer.echo(_HOST_NOTE)


def _names(reasons: Mapping[str, int]) -> str:
    return f" ({', '.join(sorted(reasons))})" if reasons else ""


def _cells(row: Row) -> list[str]:
    return [
        row.benchmark,
        row.operation,
        row.target,
        f"{row.messages:,}",
        f"{row.wire_bytes:,}",
        "" if row.cycles is None else f"{row.cycles:,}",
        "" if row.cycles_per_byte is None else f"{row.cycles_per_byte:.2f}",
        "" if row.unit_clock_hz is None else f"{row.unit_clock_hz / 1e9:.2f}",
        f"{row.gigabits_per_second:.3f}",
        f"{row.first_gigabits_per_second:.3f}",
        f"{row.used_gigabits_per_second:.3f}",
        f"{row.fallbacks:,}" + _names(row.reasons),
        row.status,
        "yes" if row.verified else "NO",
    ]
