"""`rw run`: a program on a simulated server, or a cluster."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rackwright.cli.fabric_option import CaptureOption, FabricOption, attached_fabric, write_capture
from rackwright.cli.output import JsonOption, messages, print_json, working
from rackwright.cli.run_cluster import run_cluster
from rackwright.cli.settings import (
    ClockOption,
    CoreOption,
    MemoryOption,
    PlusargOption,
    parse_timing,
    parse_unit_settings,
)
from rackwright.errors import RackwrightError
from rackwright.unit.placements import Placement

if TYPE_CHECKING:
    from rackwright import _engine
    from rackwright.machine.server import RunResult, Server
    from rackwright.unit.config import UnitConfig


class Cpu(StrEnum):
    """The model of the core."""

    rocket = "rocket"
    boom = "boom"
    functional = "functional"
    rocket_rtl = "rocket-rtl"


MOST_CYCLES = 2**63 - 1
"""The largest supported number of cycles."""

_OF_PROGRAMS = {
    "cpu": "--cpu",
    "harts": "--harts",
    "accelerator": "--accelerator",
    "tiles": "--tiles",
    "graph": "--graph",
    "placement": "--placement",
    "write_folder": "--write-folder",
    "max_cycles": "--max-cycles",
    "waves": "--waves",
    "check_idle": "--check-idle",
    "clock": "--clock",
    "plusarg": "--plusarg",
    "memory": "--memory",
    "core": "--core",
    "fabric": "--fabric",
    "capture": "--capture",
}
_OF_MODELS = {
    "tiles": "--tiles",
    "fabric": "--fabric",
}
_OF_CLUSTERS = {
    "output": "--output",
    "threads": "--threads",
    "pcap": "--pcap",
    "console": "--console",
    "checkpoint": "--checkpoint",
    "checkpoint_us": "--checkpoint-us",
    "restart": "--restart",
}


def run(
    context: typer.Context,
    program: Annotated[
        Path,
        typer.Argument(
            help="A static RV64GC ELF file, a WORKLOAD.yaml with a bare-metal program and its data, or a "
            "Python script with a cluster."
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the program or script, after --.")
    ] = None,
    cpu: Annotated[
        Cpu, typer.Option(help="Model of the core; rocket-rtl is the real RTL, for bare-metal programs.")
    ] = Cpu.rocket,
    harts: Annotated[
        int,
        typer.Option(
            min=1, max=64, help="Number of harts for the program's threads, each with its own units."
        ),
    ] = 1,
    accelerator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A unit, a set (snappy, zstd, deflate, protobuf), a manifest.json or a unit.yaml.",
        ),
    ] = None,
    tiles: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="File of tiles with harts and units, which programs reach through queues.",
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="GRAPH.yaml", help="Refuse to run if these services could deadlock."),
    ] = None,
    placement: Annotated[
        Placement, typer.Option(help="Placement of units, except those in YAML files.")
    ] = Placement.near_core,
    clock: ClockOption = None,
    plusarg: PlusargOption = None,
    memory: MemoryOption = None,
    core: CoreOption = None,
    fabric: FabricOption = None,
    capture: CaptureOption = None,
    write_folder: Annotated[
        Path | None, typer.Option(help="The only folder that the program may write to.")
    ] = None,
    max_cycles: Annotated[
        int, typer.Option(min=0, max=MOST_CYCLES, help="Maximum number of cycles; 0: unlimited.")
    ] = 0,
    waves: Annotated[
        Path | None,
        typer.Option(
            help="Write the signals of the units to this FST file, one per unit, or their activity to *.saif."
        ),
    ] = None,
    check_idle: Annotated[
        bool, typer.Option("--check-idle", help="Check that units' states do not change while they are idle.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Cluster: folder for run.json, tables, captures.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Cluster: number of threads; by default the fastest number is measured."),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A unit's parameter, snappy-compress.hash-entries=512 (of the only unit: WIDTH=64); in a "
            "cluster tor*.buffer_kib=16.",
        ),
    ] = None,
    pcap: Annotated[
        list[str] | None,
        typer.Option(metavar="PORT", help="Cluster: capture this port, such as tor0.port3; repeatable."),
    ] = None,
    console: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVER", help="Cluster: show this Linux server's console at the end; repeatable."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Cluster: write a checkpoint at the end.")
    ] = None,
    checkpoint_us: Annotated[
        float | None,
        typer.Option(
            min=0.001, help="Cluster: also write a checkpoint at this interval of simulated microseconds."
        ),
    ] = None,
    restart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Cluster: repeat the run up to a checkpoint, and continue."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Run a program on a simulated server, or a script that runs a cluster, and report how long it took.

    The exit status is the program's. It reads standard input. Its output appears immediately; the cost of the
    run is printed on standard error. With --json, standard output holds the JSON alone and the program's
    output is in it.

    Examples:
        ./rw run hello.elf -- one two

        ./rw run --harts 4 threads.elf

        ./rw run --accelerator stream-copy examples/soc/workloads/text.yaml

        ./rw run --cpu boom --accelerator snappy app.elf --json -- FILE

        ./rw run --fabric examples/fabric/switch.py enumerate.elf

        ./rw run --tiles examples/tiles/two-by-two.yaml copy.elf -- INPUT OUTPUT

        ./rw run --cpu boom --core reorder-buffer=192 --memory llc-latency=80 app.elf

        ./rw run examples/clusters/two_racks.py --set link.latency_us=1 --pcap tor0.port3

    """
    if program.is_dir():
        raise RackwrightError(f"{program}: is a folder, not a program")
    if not program.is_file():
        raise RackwrightError(f"{program}: no such file")
    words = arguments or []
    if program.suffix == ".py":
        _refuse(context, _OF_PROGRAMS, f"{program.name} is a script with a cluster")
        status = run_cluster(
            program,
            words,
            values=values or [],
            threads=threads,
            pcap_ports=pcap or [],
            consoles=console or [],
            output=output,
            checkpoint=checkpoint,
            checkpoint_us=checkpoint_us,
            restart=restart,
            json=json,
        )
        raise typer.Exit(status)
    _refuse(context, _OF_CLUSTERS, f"{program.name} is a program")
    if cpu is Cpu.rocket_rtl:
        _refuse(context, _OF_MODELS, "rocket-rtl reports no writes, for which tiles and cards wait")
    from rackwright.machine.server import Server
    from rackwright.machine.workload_file import workload_of
    from rackwright.unit.accelerators import header_of_units
    from rackwright.unit.config import unit_configs

    workload = workload_of(program, words)
    timing = parse_timing(memory, core)
    attached = attached_fabric(fabric, capture)
    on_tiles = None if tiles is None else _tiles(context, tiles, graph, clock)
    if graph is not None and tiles is None:
        raise RackwrightError("--graph goes with --tiles, which says where its services are")
    units = (
        on_tiles.units
        if on_tiles
        else unit_configs(
            accelerator or [],
            parameters=parse_unit_settings(values, or_of_one=True),
            placement=placement.value,
            clock=clock,
            plusargs=plusarg or [],
        )
    )
    server = Server(
        cpu.value,
        units,
        harts=on_tiles.harts if on_tiles else harts,
        check_idle=check_idle,
        waves=waves,
        timing=timing,
        fabric=attached,
        chip=on_tiles.chip if on_tiles else None,
    )
    elf = workload.build(header_of_units(units) if workload.program is None else "")
    result = _run_with_progress(server, elf, list(workload.arguments), write_folder, max_cycles, not json)
    workload.collect(result.stdout, result.record())
    write_capture(attached, program.stem, capture)
    _report(result, json)
    raise typer.Exit(exit_status(result.exit_code))


class _OnTiles(NamedTuple):
    units: list[UnitConfig]
    harts: int
    chip: _engine.ChipMesh | None


def _tiles(context: typer.Context, file: Path, graph: Path | None, clock: str | None) -> _OnTiles:
    """The harts and units of a file of tiles, with a graph, if any, that cannot deadlock."""
    from rackwright.tiles import check, read_graph, read_layout
    from rackwright.tiles.hosting import tile_units
    from rackwright.tiles.machine import hart_count, tile_configs
    from rackwright.tiles.timing import mesh_of_run

    others = {
        "harts": "--harts",
        "accelerator": "--accelerator",
        "placement": "--placement",
        "values": "--set",
    }
    _refuse(context, others, "--tiles says which harts and units there are")
    layout = read_layout(file, tile_units())
    if graph is not None:
        verdict = check(layout, read_graph(graph))
        if not verdict.legal:
            raise RackwrightError(f"{graph}: {verdict.reason}")
    return _OnTiles(tile_configs(layout, clock), hart_count(layout), mesh_of_run(layout))


def exit_status(code: int) -> int:
    """The exit status of a process for `code`: its low byte, but never 0 for a nonzero code."""
    return code & 0xFF or int(code != 0)


def _refuse(context: typer.Context, options: dict[str, str], because: str) -> None:
    """An option without effect is an error, and is not ignored."""
    for name, option in options.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise RackwrightError(f"{option} does not apply: {because}")


def _run_with_progress(
    server: Server, program: Path, words: list[str], folder: Path | None, limit: int, echo: bool
) -> RunResult:
    """Echoes the program's output, or shows progress: not both in one terminal."""
    if echo:
        return server.run(program, words, stdin=None, write_folder=folder, echo=True, max_cycles=limit)
    with working(program.name) as activity:

        def show(instructions: int, cycles: int) -> None:
            activity.detail(f"{program.name}: {instructions:,} instructions, {cycles:,} cycles")

        return server.run(program, words, stdin=None, write_folder=folder, max_cycles=limit, progress=show)


def _report(result: RunResult, json: bool) -> None:
    if result.unknown_calls:
        sys.stdout.flush()
        messages.print(
            f"the program made system calls that are not emulated: {', '.join(result.unknown_calls)}",
            highlight=False,
            soft_wrap=True,
        )
    if json:
        print_json(result.record())
        return
    sys.stdout.flush()
    speed = result.instructions / result.wall_seconds / 1e6 if result.wall_seconds else 0.0
    several = f", {result.harts} harts" if result.harts > 1 else ""
    messages.print(
        f"{result.cpu}{several}: {result.instructions:,} instructions in {result.cycles:,} cycles "
        f"({result.seconds * 1e3:.3f} ms at {result.clock_hz / 1e9:g} GHz), exit status "
        f"{result.exit_code}; simulated in {result.wall_seconds:.2f} s ({speed:.1f} million "
        f"instructions/s); digest {result.digest}",
        highlight=False,
        soft_wrap=True,
    )
