"""`rw run`: a program on a simulated server."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.accelerate import Placement
from rackwright.cli.output import JsonOption, messages, print_json, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.server import RunResult, Server


class Cpu(StrEnum):
    """How the core is modelled."""

    rocket = "rocket"
    boom = "boom"
    functional = "functional"
    rocket_rtl = "rocket-rtl"


def run(
    program: Annotated[Path, typer.Argument(help="A static RV64GC ELF file: Linux or bare metal.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="The program's own, after --.")] = None,
    cpu: Annotated[
        Cpu, typer.Option(help="Model of the core; rocket-rtl is the real RTL, for bare-metal programs.")
    ] = Cpu.rocket,
    accelerator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A unit, a set (snappy) or a manifest.json; repeatable."),
    ] = None,
    placement: Annotated[Placement, typer.Option(help="Where the units sit.")] = Placement.near_core,
    write_folder: Annotated[
        Path | None, typer.Option(help="The only folder that the program may write to.")
    ] = None,
    max_cycles: Annotated[int, typer.Option(min=0, help="Give up after so many cycles; 0: never.")] = 0,
    json: JsonOption = False,
) -> None:
    """Run a program on a simulated server and report how long it took there.

    The exit status is the program's. Its output appears as it comes; what the run cost is told on
    standard error. With --json, standard output holds the JSON alone and the program's output is in it.

    Examples:
        ./rw run hello.elf -- one two

        ./rw run --cpu boom --accelerator snappy app.elf --json -- FILE

    """
    from rackwright.rocket_rtl import run_rocket_rtl
    from rackwright.server import Server

    if not program.is_file():
        raise RackwrightError(f"{program}: no such file")
    words = arguments or []
    if cpu is Cpu.rocket_rtl:
        if accelerator or words:
            raise RackwrightError("rocket-rtl takes neither accelerators nor program arguments")
        result = run_rocket_rtl(program, max_cycles)
    else:
        server = Server(cpu.value, accelerator or [], placement=placement.value)
        result = _run_with_progress(server, program, words, write_folder, max_cycles, not json)
    _report(result, json)
    raise typer.Exit(result.exit_code)


def _run_with_progress(
    server: Server, program: Path, words: list[str], folder: Path | None, limit: int, echo: bool
) -> RunResult:
    """Echoes the program's output, or shows progress: not both in one terminal."""
    if echo:
        return server.run(program, words, write_folder=folder, echo=True, max_cycles=limit)
    with working(program.name) as activity:

        def show(instructions: int, cycles: int) -> None:
            activity.detail(f"{program.name}: {instructions:,} instructions, {cycles:,} cycles")

        return server.run(program, words, write_folder=folder, max_cycles=limit, progress=show)


def _report(result: RunResult, json: bool) -> None:
    if json:
        print_json(result.record())
        return
    sys.stdout.flush()
    speed = result.instructions / result.wall_seconds / 1e6 if result.wall_seconds else 0.0
    messages.print(
        f"{result.cpu}: {result.instructions:,} instructions in {result.cycles:,} cycles "
        f"({result.seconds * 1e3:.3f} ms at {result.clock_hz / 1e9:g} GHz), exit status "
        f"{result.exit_code}; simulated in {result.wall_seconds:.2f} s ({speed:.1f} million "
        f"instructions/s); digest {result.digest}",
        highlight=False,
        soft_wrap=True,
    )
