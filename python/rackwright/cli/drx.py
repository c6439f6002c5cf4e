"""`rw drx`: kernels of the unit that restructures data, and its programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rackwright.cli.accelerate import read_input, write_output
from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_record, working
from rackwright.cli.settings import SetOption, parse_settings
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    import numpy as np

    from rackwright.drx.result import KernelResult

drx = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Compile kernels that restructure arrays for the unit `drx`, and run them.",
)

MOST_CYCLES = (1 << 40) - 1
"""The largest limit that the unit's setting holds."""

KernelArgument = Annotated[Path, typer.Argument(help="A Python file with one kernel.", metavar="KERNEL.py")]
FileArgument = Annotated[Path, typer.Argument(metavar="FILE")]
OutputOption = Annotated[Path | None, typer.Option("-o", "--output", help="File for the result.")]


class Form(StrEnum):
    """The form in which a compiled kernel is printed."""

    ir = "ir"
    schedule = "schedule"
    asm = "asm"


class Place(StrEnum):
    """The target of a kernel."""

    rtl = "rtl"
    model = "model"
    boom = "boom"
    host = "host"


class Way(StrEnum):
    """The translation of operations on arrays in a program for harts."""

    by_operation = "by-operation"
    fused = "fused"


@drx.command("compile")
def compile_(
    kernel: KernelArgument,
    emit: Annotated[
        Form | None,
        typer.Option(help="Show loop nests, tiles and buffers, or instructions, instead of the program."),
    ] = None,
    output: OutputOption = None,
    settings: SetOption = None,
) -> None:
    """Compile a kernel for a unit with the parameters of --set, by default the one that is built by default.

    Without --emit, the program itself is written to the file of -o. The same kernel produces the same bytes.

    Examples:
        ./rw drx compile examples/drx/scale.py --emit asm

        ./rw drx compile examples/drx/scale.py --set lanes=128 -o scale.drx

    """
    from rackwright.drx import Configuration, compile_kernel, load_kernel

    compiled = compile_kernel(load_kernel(kernel), Configuration.of(parse_settings(settings)))
    if emit is None and output is None:
        raise RackwrightError("a program is no text: -o FILE, or --emit asm")
    texts = {Form.ir: compiled.ir, Form.schedule: compiled.schedule, Form.asm: str(compiled.program)}
    data = compiled.program.to_bytes() if emit is None else texts[emit].encode()
    _give(data, output)


@drx.command("asm")
def assemble(file: FileArgument, output: OutputOption = None) -> None:
    """Make a program of its text: a line an instruction, with its fields as NAME=VALUE; the others are 0.

    Examples:
        ./rw drx asm scale.s -o scale.drx

    """
    from rackwright.drx import Program

    if output is None:
        raise RackwrightError("a program is no text: -o FILE")
    with _named(file):
        program = Program.from_text(_text(read_input(file)))
    _give(program.to_bytes(), output)


@drx.command("disasm")
def disassemble(file: FileArgument, output: OutputOption = None) -> None:
    """Show the instructions of a program, as `asm` reads them.

    Examples:
        ./rw drx disasm scale.drx

    """
    from rackwright.drx import Program

    with _named(file):
        program = Program.from_bytes(read_input(file))
    _give(str(program).encode(), output)


@drx.command("run")
def run(
    kernel: KernelArgument,
    inputs: Annotated[
        list[Path] | None,
        typer.Option("--input", help="Inputs, in the order of the parameters; random ones by default."),
    ] = None,
    on: Annotated[
        Place,
        typer.Option(
            "--on",
            help="The unit in RTL, or its exact model; as a program in C, simulated harts (boom), or this "
            "machine (host).",
        ),
    ] = Place.model,
    harts: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="For boom and host: number of harts or threads; 1 by default."),
    ] = None,
    code: Annotated[
        Way | None,
        typer.Option(
            help="Of boom and host: a pass and threads for each operation, or all fused, which is without."
        ),
    ] = None,
    program: Annotated[
        Path | None,
        typer.Option(
            help="For the unit: run this program in the place of what the compiler makes; assembly if it "
            "ends in .s.",
        ),
    ] = None,
    cycle_limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_CYCLES,
            help="For the unit: cycles after which a program that has not ended is stopped; 67 million by "
            "default.",
        ),
    ] = None,
    output: OutputOption = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Run a kernel, and compare the result with NumPy's. Inputs and the result are files of NumPy.

    The exit status is 0 when the program ended well and the result is the same, to the bit.

    Examples:
        ./rw drx run examples/drx/scale.py

        ./rw drx run examples/drx/scale.py --on rtl --set lanes=8 --json

        ./rw drx run examples/drx/scale.py --input x.npy -o scaled.npy

        ./rw drx run examples/drx/scale.py --on boom --harts 16 --code by-operation

        ./rw drx run examples/drx/join.py --program examples/drx/join.s --set lanes=128

        ./rw drx run examples/drx/scale.py --program mine.s --cycle-limit 100000

    """
    from rackwright.drx import load_kernel
    from rackwright.drx.arrays import random_inputs, read_array, write_array
    from rackwright.drx.harts.program import Way as Code
    from rackwright.drx.machine import LIMIT
    from rackwright.drx.program import read_program
    from rackwright.drx.result import UNITS, run_kernel

    for name, given in (("--harts", harts), ("--code", code)):
        if given is not None and on.value in UNITS:
            raise RackwrightError(f"{name}: is for --on boom and --on host, which run a program in C")
    for name, is_given in (
        ("--set", bool(settings)),
        ("--program", program is not None),
        ("--cycle-limit", cycle_limit is not None),
    ):
        if is_given and on.value not in UNITS:
            raise RackwrightError(f"{name}: is for the unit, and --on {on.value} runs a program in C")
    loaded = load_kernel(kernel)
    arrays: list[np.ndarray[Any, Any]] = (
        [read_array(path) for path in inputs] if inputs else random_inputs(loaded)
    )
    with working(f"{loaded.name}: on {on.value}"):
        result = run_kernel(
            loaded,
            arrays,
            on.value,
            parse_settings(settings),
            harts=harts or 1,
            way=Code(code or Way.fused),
            program=None if program is None else read_program(program),
            limit=cycle_limit or LIMIT,
        )
    if output is not None:
        write_array(output, result.output)
    if json:
        print_json(result.record())
    else:
        _print(result)
    if not result.verified:
        raise typer.Exit(EXIT_FAILED)


def _print(result: KernelResult) -> None:
    record, ended = result.record(), result.ended
    pairs = [
        ("kernel", result.kernel),
        ("on", result.on),
        ("status", result.status if ended is None else f"{result.status} at instruction {ended.index:,}"),
        ("verified", "yes (NumPy)" if result.verified else "NO (NumPy)"),
        ("bytes", f"{result.bytes:,}"),
    ]
    if result.instructions is not None:
        pairs.append(("instructions", f"{result.instructions:,}"))
    if ended is not None:
        clock = f"{ended.clock_hz / 1e9:g} GHz ({ended.clock_source})"
        pairs += [
            ("cycles", f"{ended.cycles:,} at {clock}"),
            ("stalls", ", ".join(f"{name} {count:,}" for name, count in ended.stalls.items())),
        ]
        if result.of_roofline is not None and result.bytes_per_second is not None:
            pairs += [
                ("speed", f"{result.bytes_per_second / 1e9:.2f} GB/s of inputs and result"),
                ("roofline", f"{record['roofline']:,} cycles, {result.of_roofline:.0%} reached"),
            ]
        pairs.append(("digest", ended.digest))
    timed = result.timed
    if timed is not None:
        if timed.cycles is not None and timed.clock_hz is not None:
            pairs.append(("cycles", f"{timed.cycles:,} at {timed.clock_hz / 1e9:g} GHz"))
        pairs += [
            ("harts", f"{timed.harts}, {timed.way.value}{'' if timed.vectors else ', without vectors'}"),
            ("time", f"{timed.nanoseconds / 1e6:.3f} ms"),
            ("speed", f"{record['bytes_per_second'] / 1e9:.2f} GB/s of inputs and result"),
        ]
        if timed.digest is not None:
            pairs.append(("digest", timed.digest))
    print_record(pairs)


def _give(data: bytes, output: Path | None) -> None:
    """Writes a result to its file, or as text to standard output."""
    if output is None:
        typer.echo(data.decode(), nl=False)
    else:
        write_output(output, data)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RackwrightError(f"is no text: {error.reason} at byte {error.start}") from error


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Has errors name a file."""
    try:
        yield
    except RackwrightError as error:
        raise RackwrightError(f"{file}: {str(error).removeprefix(f'{file}: ')}") from error
