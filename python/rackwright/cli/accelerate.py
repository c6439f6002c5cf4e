"""`rw accelerate`: one unit alone, one file."""

from __future__ import annotations

from enum import StrEnum
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
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.snappy import AcceleratorResult


class Algorithm(StrEnum):
    """What there are units for."""

    snappy = "snappy"


class Operation(StrEnum):
    """What a unit does."""

    compress = "compress"
    decompress = "decompress"


class Placement(StrEnum):
    """Where the unit sits."""

    near_core = "near-core"
    chiplet = "chiplet"
    pcie_cached = "pcie-cached"
    pcie = "pcie"


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
    operation: Annotated[Operation, typer.Argument(help="What to do with the file.")],
    file: Annotated[Path, typer.Argument(help="Plain data to compress, Snappy data to decompress.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to put the result.")] = None,
    history: Annotated[
        int | None, typer.Option(metavar="KIB", help="Decompress: history kept on chip, 2 to 64.")
    ] = None,
    hash_entries: Annotated[
        int | None, typer.Option(metavar="N", help="Compress: entries of the hash table, 2^9 to 2^14.")
    ] = None,
    placement: Annotated[Placement, typer.Option(help="Where the unit sits.")] = Placement.near_core,
    waves: Annotated[Path | None, typer.Option(help="Write the unit's signals to this FST file.")] = None,
    json: JsonOption = False,
) -> None:
    """Run a unit alone against the memory model on a file, and verify the result.

    The exit status is 0 when the unit says ok and the official library agrees, 1 otherwise: a
    malformed input, for example, ends with the unit's status and the offset where it found out.

    Examples:
        ./rw accelerate snappy compress README.md -o README.md.sz

        ./rw accelerate snappy decompress README.md.sz --history 16 --json

    """
    from rackwright.snappy import SnappyUnit

    data = read_input(file)
    with working(f"snappy-{operation}: elaborating and compiling") as activity:
        unit = SnappyUnit(
            operation.value,
            history_kib=history,
            hash_entries=hash_entries,
            placement=placement.value,
            waves=waves,
        )
        activity.begin(f"snappy-{operation}: {human_bytes(len(data))}")
        result = unit.run(data)
    if output is not None and result.status == "ok":
        write_output(output, result.output)
    if json:
        print_json(result.record())
    else:
        _print(result)
    if result.status != "ok" or not result.verified:
        raise typer.Exit(EXIT_FAILED)


def _print(result: AcceleratorResult) -> None:
    verdict = "yes" if result.verified else "NO"
    parameters = ", ".join(f"{name}={value}" for name, value in result.parameters.items())
    pairs = [
        ("unit", result.unit),
        ("status", f"{result.status} at input offset {result.input_offset:,}"),
        ("bytes", f"{result.input_bytes:,} -> {result.output_bytes:,}"),
        ("ratio", f"{result.ratio:.3f}"),
        ("cycles", f"{result.cycles:,} at {result.clock_hz / 1e9:g} GHz"),
        ("speed", f"{result.gigabytes_per_second:.2f} GB/s of uncompressed bytes"),
        ("verified", f"{verdict} (official libsnappy)"),
        ("simulated in", f"{result.wall_seconds:.2f} s"),
        ("digest", result.digest),
        ("parameters", parameters),
    ]
    print_record(pairs)
