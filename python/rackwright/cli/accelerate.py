"""`rw accelerate`: one unit alone, one file."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.output import (
    EXIT_FAILED,
    JsonOption,
    human_bytes,
    print_json,
    print_record,
    working,
)
from rackwright.cli.settings import ClockOption, MemoryOption, SetOption, parse_settings, parse_timing
from rackwright.errors import RackwrightError
from rackwright.unit.placements import Placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from rackwright.compression.codec import AcceleratorResult, CodecUnit
    from rackwright.hardware.designs import ParameterValue


class Algorithm(StrEnum):
    """The families of units."""

    snappy = "snappy"
    zstd = "zstd"
    deflate = "deflate"
    zlib = "zlib"
    gzip = "gzip"


class Operation(StrEnum):
    """The operations of units."""

    compress = "compress"
    decompress = "decompress"


def make_folder(path: Path) -> None:
    """Creates a folder if it is missing; raises `RackwrightError` with its name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}") from error


def _power_of_two(entries: int | None) -> int | None:
    if entries is not None and entries & (entries - 1):
        raise typer.BadParameter(f"{entries} is not a power of two")
    return entries


HistoryOption = Annotated[
    int | None,
    typer.Option(
        "--history",
        metavar="KIB",
        min=2,
        max=64,
        help="Decompress: history kept on chip. Compress: maximum distance of matches.",
    ),
]
HashEntriesOption = Annotated[
    int | None,
    typer.Option(
        "--hash-entries",
        metavar="N",
        min=2**9,
        max=2**14,
        callback=_power_of_two,
        help="Compress: entries of the hash table, a power of two.",
    ),
]
CombinedOption = Annotated[
    bool,
    typer.Option(
        "--combined", help="Use combined-compress or combined-decompress, the units of all formats."
    ),
]
SpeculationOption = Annotated[
    int | None,
    typer.Option("--speculation", metavar="BITS", help="Decompress codes: bits decoded per cycle."),
]


def read_input(path: Path) -> bytes:
    """A file's bytes; raises `RackwrightError` that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}") from error


def write_output(path: Path, data: bytes) -> None:
    """Writes a file; raises `RackwrightError` that names it."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}") from error


def accelerate(
    algorithm: Annotated[Algorithm, typer.Argument(help="The family of units.")],
    operation: Annotated[Operation, typer.Argument(help="The operation.")],
    file: Annotated[Path, typer.Argument(help="Plain data to compress, compressed data to decompress.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File for the result.")] = None,
    history: HistoryOption = None,
    hash_entries: HashEntriesOption = None,
    speculation: SpeculationOption = None,
    combined: CombinedOption = False,
    level: Annotated[
        int | None,
        typer.Option(
            help="Compress to zstd, deflate, zlib, gzip: preset of parameters, 1 to 3; --set has precedence."
        ),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(help="ZStd: a dictionary, trained or raw content."),
    ] = None,
    placement: Annotated[Placement, typer.Option(help="Placement of the unit.")] = Placement.near_core,
    settings: SetOption = None,
    clock: ClockOption = None,
    memory: MemoryOption = None,
    waves: Annotated[Path | None, typer.Option(help="Write the unit's signals to this FST file.")] = None,
    check_idle: Annotated[
        bool,
        typer.Option("--check-idle", help="Check that the unit's state does not change while it is idle."),
    ] = False,
    assertions: Annotated[
        bool,
        typer.Option("--assertions", help="Check the assertions in the unit's sources."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run a unit alone against the memory model on a file, and verify the result.

    The exit status is 0 if the unit's status is ok and the official library agrees, 1 otherwise: a malformed
    input, for example, ends with the unit's status and the offset of the error.

    Examples:
        ./rw accelerate snappy compress README.md -o README.md.sz

        ./rw accelerate snappy decompress README.md.sz --history 16 --json

        ./rw accelerate snappy compress README.md --set hash-ways=2 --clock 1.5e9

        ./rw accelerate snappy compress README.md --memory l2-latency=40 --memory dram-channels=1

        ./rw accelerate zstd compress README.md -o README.md.zst --set block-kib=64

        ./rw accelerate zstd decompress README.md.zst -o README.md

        ./rw accelerate gzip compress README.md --combined

        ./rw accelerate gzip decompress README.md.gz --combined

        ./rw accelerate zstd compress README.md --level 3

        ./rw accelerate zstd decompress message.zst --dictionary messages.dict

        ./rw accelerate gzip decompress README.md.gz --speculation 32 -o README.md

    """
    data = read_input(file)
    before = b"" if dictionary is None else read_input(dictionary)
    name = f"{algorithm}-{operation}"
    parameters = {**_preset(algorithm, operation, level), **parse_settings(settings)}
    if speculation is not None:
        parameters["speculation"] = speculation
    timing = parse_timing(memory, None)
    with working(f"{name}: elaborating and compiling") as activity:
        build = _builder(algorithm, operation.value, combined=combined, dictionary=before)
        unit = build(
            hash_entries=hash_entries,
            history_kib=history,
            placement=placement.value,
            waves=waves,
            parameters=parameters,
            clock=clock,
            memory=timing.memory,
            check_idle=check_idle,
            assertions=assertions,
        )
        activity.begin(f"{name}: {human_bytes(len(data))}")
        result = unit.run(data)
    if output is not None and result.status == "ok":
        write_output(output, result.output)
    if json:
        print_json(result.record())
    else:
        _print(result, algorithm)
    if result.status != "ok" or not result.verified:
        raise typer.Exit(EXIT_FAILED)


def _preset(algorithm: Algorithm, operation: Operation, level: int | None) -> dict[str, ParameterValue]:
    """The parameters of a level; none without one."""
    from rackwright.formats import CODECS, level_parameters

    return {} if level is None else level_parameters(f"{CODECS[algorithm.value].family}-{operation}", level)


def _builder(
    algorithm: Algorithm, operation: str, *, combined: bool, dictionary: bytes
) -> Callable[..., CodecUnit]:
    """The constructor of the unit, with the arguments common to all units."""
    from rackwright.compression.combined import CombinedCompressor, CombinedDecompressor
    from rackwright.formats import CODECS

    if dictionary and algorithm is not Algorithm.zstd:
        raise RackwrightError(f"{algorithm.value} takes no dictionary")
    if combined and operation == "decompress":
        return partial(CombinedDecompressor, algorithm.value, dictionary=dictionary)
    if combined:
        if dictionary:
            raise RackwrightError("combined-compress takes no dictionary")
        return partial(CombinedCompressor, algorithm.value)
    options = {"dictionary": dictionary} if dictionary else {}
    return partial(CODECS[algorithm.value].unit, operation, **options)


def _print(result: AcceleratorResult, algorithm: Algorithm) -> None:
    from rackwright.formats import CODECS

    verdict = "yes" if result.verified else "NO"
    parameters = ", ".join(f"{name}={value}" for name, value in result.parameters.items())
    pairs = [
        ("unit", result.unit),
        ("status", f"{result.status} at input offset {result.input_offset:,}"),
        *([("note", result.note)] if result.note else []),
        ("bytes", f"{result.input_bytes:,} -> {result.output_bytes:,}"),
        ("ratio", f"{result.ratio:.3f}"),
        ("cycles", f"{result.cycles:,} at {result.clock_hz / 1e9:g} GHz ({result.clock_source})"),
        ("speed", f"{result.gigabytes_per_second:.2f} GB/s of uncompressed bytes"),
        ("verified", f"{verdict} (official {CODECS[algorithm.value].library})"),
        ("simulated in", f"{result.wall_seconds:.2f} s"),
        ("digest", result.digest),
        ("parameters", parameters),
    ]
    print_record(pairs)
