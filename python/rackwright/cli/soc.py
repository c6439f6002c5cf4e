"""`rw soc`: complete chips in Verilog."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from rackwright.cli.accelerate import write_output
from rackwright.cli.output import (
    EXIT_FAILED,
    JsonOption,
    print_json,
    print_record,
    print_table,
    results,
    working,
)
from rackwright.errors import RackwrightError

soc = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Compose a whole chip in Verilog of harts, caches, buses and units, and run programs on it.",
)

FileArgument = Annotated[Path, typer.Argument(metavar="SOC.yaml", help="The chip (docs/soc.md).")]
OutputOption = Annotated[
    Path | None, typer.Option("-o", "--output", help="Output folder; out/soc/NAME by default.")
]


@contextmanager
def _witnessed(*, json: bool) -> Iterator[None]:
    """Prints why a chip cannot be, with `json` as an object, and ends the command with a failure."""
    try:
        yield
    except RackwrightError as error:
        if not json:
            raise
        print_json({"legal": False, "witness": str(error)})
        raise typer.Exit(EXIT_FAILED) from error


@soc.command("check")
def check(file: FileArgument, json: JsonOption = False) -> None:
    """Check whether a chip can be built, and list how programs reach its units. No generator is started.

    Examples:
        ./rw soc check examples/soc/tiny.yaml

    """
    from rackwright.soc import Soc, checked

    with _witnessed(json=json):
        value = Soc.load(file)
        units = checked(value)
    routes = [(unit, route) for unit in units for route in unit.routes]
    if json:
        opcodes = [
            {"unit": unit.name, "hart": unit.hart, "opcode": way.opcode, "first": way.first, "last": way.last}
            for unit, way in routes
        ]
        pages = [
            {"unit": unit.name, "base": unit.registers.base, "size": unit.registers.size}
            for unit in units
            if unit.registers is not None
        ]
        print_json({"legal": True, "witness": None, "top": value.top, "opcodes": opcodes, "registers": pages})
        return
    parts = f"{_count(value.harts, 'hart')}, buses of {value.bus_bits} bits, {_count(units, 'unit')}"
    results.print(f"[bold]{value.name}[/bold]: {parts}\n")
    columns = [("hart", "right"), ("unit", "left"), ("custom", "right"), ("functs", "left")]
    rows = [
        (
            "all" if unit.hart is None else str(unit.hart),
            unit.name,
            str(way.opcode),
            f"{way.first} to {way.last}",
        )
        for unit, way in routes
    ]
    if rows:
        print_table(columns, rows)
    for unit in units:
        if unit.registers is not None:
            results.print(f"{unit.name}: registers at {unit.registers}, for all harts", highlight=False)


def _count(things: Sized, name: str) -> str:
    """How many there are: `1 hart`, `2 harts`."""
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")


@soc.command("draw")
def draw(
    file: FileArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The SVG file; NAME.svg by default.")
    ] = None,
) -> None:
    """Draw the blocks of a chip as SVG.

    Examples:
        ./rw soc draw examples/soc/tiny.yaml -o tiny.svg

    """
    from rackwright.soc import Soc, checked
    from rackwright.soc.drawing import soc_diagram

    value = Soc.load(file)
    path = output or Path(f"{value.name}.svg")
    write_output(path, soc_diagram(value, checked(value)).svg().encode())
    results.print(str(path), highlight=False)


@soc.command("compose")
def compose(
    file: FileArgument,
    output: OutputOption = None,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            help="`simulation`; `fpga`: no checks, no initial values; `asic`: the same, memories apart.",
        ),
    ] = "simulation",
    json: JsonOption = False,
) -> None:
    """Write a chip as Verilog with all that its users need: files, device tree, C headers, a harness.

    The same chip is generated once. A folder that is not that of a chip is never overwritten.

    Examples:
        ./rw soc compose examples/soc/tiny.yaml -o out/tiny

        ./rw soc compose examples/soc/tiny.yaml --target asic -o out/tiny-asic

    """
    with _witnessed(json=json):
        folder, description = _composed(file, output, target)
    if json:
        print_json({**description, "folder": str(folder), "legal": True, "witness": None})
        return
    print_record(
        [
            ("folder", str(folder)),
            ("top", description["top"]),
            ("Verilog", ", ".join(description["files"])),
            ("headers", ", ".join(description["headers"]) or "none"),
            *([("memories", str(len(description["memories"])))] if description["memories"] else []),
        ]
    )


@soc.command("run")
def run(
    file: FileArgument,
    program: Annotated[
        Path,
        typer.Argument(
            metavar="PROGRAM.elf|WORKLOAD.yaml", help="A bare-metal program, or one with its data."
        ),
    ],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the program, after --.")] = None,
    second: Annotated[
        Path | None,
        typer.Option(
            metavar="PROGRAM.elf",
            help="Program of the second system, or of a second chip, joined with the first by its streams.",
        ),
    ] = None,
    frames: Annotated[
        Path | None,
        typer.Option(metavar="FILE.pcap", help="Write the frames that leave by streams, as pcap."),
    ] = None,
    output: OutputOption = None,
    max_cycles: Annotated[int, typer.Option(min=0, help="Maximum number of cycles; 0: unlimited.")] = 0,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Also run it on the engine's models, which have no units on the buses; compare cycles.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run a bare-metal program on a chip alone, in plain Verilator, without the engine.

    The first run of a chip generates and compiles it, which takes minutes.

    Examples:
        ./rw soc run examples/soc/tiny.yaml copy.elf

        ./rw soc run examples/soc/tiny.yaml copy.elf --compare

        ./rw soc run examples/soc/tiny.yaml examples/soc/workloads/text.yaml

        ./rw soc run examples/soc/nic.yaml ping.elf --second ping.elf --frames ping.pcap -- 172.16.0.3 5

    """
    from rackwright.machine.workload_file import header_of, workload_of
    from rackwright.soc import Soc
    from rackwright.soc.compare import operations, require_comparable, run_modelled
    from rackwright.soc.simulator import run_program, simulator

    for file_ in (program, second):
        if file_ is not None and not file_.is_file():
            raise RackwrightError(f"{file_}: no such file")
    workload = workload_of(program, arguments or [])
    words = list(workload.arguments)
    if compare and (words or second):
        raise RackwrightError("--compare: programs on the models have no arguments and no second chip")
    if compare:
        require_comparable(Soc.load(file))
    for file_ in (workload.program, second):
        if file_ is not None:
            _require_elf(file_)
    folder, description = _composed(file, output)
    headers = [folder / name for name in _headers_of_first(description)]
    elf = workload.build(header_of(headers)).absolute()
    with working("compiling the chip"):
        simulator(folder)
    with working(f"running {program.name}"):
        ended = run_program(
            folder,
            elf,
            max_cycles,
            arguments=words,
            second=None if second is None else second.absolute(),
            frames=None if frames is None else frames.absolute(),
        )
    modelled = run_modelled(Soc.load(file), elf, max_cycles) if compare else None
    output_of_model = "" if modelled is None else modelled.stdout.decode(errors="replace")
    measured = list(operations(ended.stdout, output_of_model))
    record = {
        "exit_code": ended.exit_code,
        "cycles": ended.cycles,
        "boot_cycles": ended.boot_cycles,
        "wall_seconds": ended.wall_seconds,
        "cycles_per_second": (ended.cycles + ended.boot_cycles) / ended.wall_seconds,
        "stdout": ended.stdout,
        "model": None
        if modelled is None
        else {
            "exit_code": modelled.exit_code,
            "cycles": modelled.cycles,
            "cycles_over_model": ended.cycles / modelled.cycles,
            "stdout": output_of_model,
            "operations": [
                {"name": each.name, "cycles": each.cycles, "model_cycles": each.model_cycles}
                for each in measured
            ],
        },
    }
    workload.collect(ended.stdout.encode(), record)
    if json:
        print_json(record)
    else:
        sys.stdout.write(ended.stdout)
        sys.stdout.flush()
    if ended.exit_code is None:
        raise RackwrightError(f"{program}: has not ended after {max_cycles} cycles")
    if not json:
        print(f"{program}: {ended.cycles} cycles, after {ended.boot_cycles} of the boot ROM", file=sys.stderr)
        for each in measured:
            beside = f"{each.model_cycles} of the model: {each.over_model - 1:+.1%}"
            print(f"{each.name}: {each.cycles} cycles, {beside}", file=sys.stderr)
        if modelled is not None:
            more = ended.cycles / modelled.cycles - 1
            print(f"the model: {modelled.cycles} cycles; the chip takes {more:+.1%}", file=sys.stderr)
    raise typer.Exit(ended.exit_code)


def _require_elf(program: Path) -> None:
    """Refuses another file before the chip is generated, which takes minutes. The harness checks the rest."""
    with program.open("rb") as file:
        identification = file.read(20)
    # 64 bits, little endian; RISC-V: a compiler for this machine writes ELF files as well.
    if identification[:6] != b"\x7fELF\2\1" or identification[18:] != b"\xf3\0":
        raise RackwrightError(f"{program}: is no static ELF file for RV64")


def _headers_of_first(description: dict[str, Any]) -> list[str]:
    """The headers of the units that programs of the first hart reach."""
    return [name for name in description["headers"] if name == "hart0.h" or not name.startswith("hart")]


@soc.command("synth")
def synth(file: FileArgument, json: JsonOption = False) -> None:
    """Synthesise our part of a chip: the units of each hart, shared or on the buses, and what connects them.

    Depth, clock and area are those of `./rw synth`; harts with the same units are one row.

    Examples:
        ./rw soc synth examples/soc/tiny.yaml

    """
    from rackwright.soc import Soc
    from rackwright.soc.synthesis import synthesise_soc

    value = Soc.load(file)
    with working(f"synthesising {value.name}") as activity:
        found = synthesise_soc(value, activity.detail)
    if json:
        print_json({"rows": [each.record() for each in found]})
        return
    columns = [("module", "left"), ("FO4", "right"), ("GHz", "right"), ("mm²", "right")]
    columns += [
        ("of units", "right"),
        ("wrapper", "right"),
        ("its FO4", "right"),
        ("its longest path", "left"),
    ]
    rows = []
    for each in found:
        path = each.wrapper_path
        rows.append(
            (
                each.module,
                f"{each.figures.depth_fo4:.1f}",
                f"{each.figures.clock_hz / 1e9:.2f}",
                f"{each.figures.area_mm2:.4f}",
                f"{each.units_mm2:.4f}",
                f"{each.wrapper_mm2:.4f}",
                "" if path is None else f"{path.depth_fo4:.1f}",
                "within units" if path is None else f"{path.start} → {path.end}",
            )
        )
    print_table(columns, rows)


def _composed(file: Path, output: Path | None, target: str = "simulation") -> tuple[Path, dict[str, Any]]:
    from rackwright.soc import Soc
    from rackwright.soc import compose as write
    from rackwright.soc.composition import default_output
    from rackwright.soc.target import target_of

    value = Soc.load(file)
    wanted = target_of(target)
    folder = output or default_output(value, wanted)
    with working(f"composing {value.name}"):
        return folder, write(value, folder, wanted)
