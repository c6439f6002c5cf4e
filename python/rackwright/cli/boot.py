"""`rw boot`: Linux on a simulated server."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.fabric_option import CaptureOption, FabricOption, attached_fabric, write_capture
from rackwright.cli.output import JsonOption, messages, print_json, working
from rackwright.cli.settings import (
    ClockOption,
    CoreOption,
    UnitSetOption,
    apart,
    parse_timing,
    parse_unit_settings,
)
from rackwright.errors import RackwrightError
from rackwright.hardware.sizes import memory_bytes
from rackwright.unit.placements import Placement

if TYPE_CHECKING:
    from rackwright.unit.config import UnitConfig


class Cpu(StrEnum):
    """The model of the harts."""

    functional = "functional"
    rocket = "rocket"
    boom = "boom"


class OnOff(StrEnum):
    """Whether a feature is enabled."""

    on = "on"
    off = "off"


class Net(StrEnum):
    """The network to which an interface is connected."""

    none = "none"
    user = "user"


class Interrupts(StrEnum):
    """The interrupt controllers."""

    plic = "plic"
    aia = "aia"


InterruptsOption = Annotated[
    Interrupts,
    typer.Option(
        help="Interrupt controllers: a PLIC with wires, or the Advanced Interrupt Architecture, where "
        "PCI functions interrupt by messages (MSI-X)."
    ),
]


GuestMemoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--memory",
        metavar="SIZE|NAME=NUMBER|FILE.yaml",
        help="Bytes of memory, like 512MiB, 2GiB by default; or a number of the clock, caches or DRAM, such "
        "as l2-latency=20, or a file of numbers (docs/memory-model.md). Repeatable.",
    ),
]

DEFAULT_SIZE = "2GiB"


def guest_memory(given: list[str] | None) -> tuple[str | None, list[str]]:
    """The size among the values of --memory, and the other numbers.

    Raises `RackwrightError` for two sizes.
    """
    sizes, numbers = apart(given)
    if len(sizes) > 1:
        raise RackwrightError(f"--memory: a guest has one size of memory, not {' and '.join(sizes)}")
    return next(iter(sizes), None), numbers


def boot(
    context: typer.Context,
    image: Annotated[
        Path | None, typer.Argument(help="Image built by `rw image`; the default image without this option.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run this command as the guest's root, then power off."),
    ] = None,
    harts: Annotated[int, typer.Option(min=1, max=64, help="Number of harts, which share the memory.")] = 1,
    cpu: Annotated[Cpu, typer.Option(help="Model of the harts.")] = Cpu.functional,
    memory: GuestMemoryOption = None,
    core: CoreOption = None,
    vector: Annotated[
        OnOff, typer.Option(help="Give harts the vector extension, which the kernel then uses.")
    ] = OnOff.off,
    interrupts: InterruptsOption = Interrupts.plic,
    disk: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Image of a disk, /dev/vda; the file is not changed."),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option("--file", metavar="FILE", help="Copy this file into /root of the guest; repeatable."),
    ] = None,
    accelerator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A unit or a set (snappy) beside each hart; repeatable."),
    ] = None,
    tiles: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="File of tiles with harts and units, which processes reach through queues.",
        ),
    ] = None,
    placement: Annotated[Placement, typer.Option(help="Placement of the units.")] = Placement.near_core,
    values: UnitSetOption = None,
    clock: ClockOption = None,
    net: Annotated[
        Net,
        typer.Option(
            help="What eth0 is joined to: this host's sockets, so that real time enters the run and no two "
            "are the same, or nothing."
        ),
    ] = Net.none,
    fabric: FabricOption = None,
    capture: CaptureOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a checkpoint when the guest has booted; exit then, unless --run is given.",
        ),
    ] = None,
    prepare: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run this command before the checkpoint is written.")
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Continue from a checkpoint instead of booting an image."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Boot Debian's own kernel, with the console in this terminal, or to run one command.

    Control and ] leave the console. With --run, the exit status is the command's, and its standard output
    and error are this one's; the kernel's messages are not shown.

    Examples:
        ./rw boot

        ./rw boot --run 'uname -a' --harts 2

        ./rw boot --run 'cat /proc/cpuinfo' --cpu rocket --json

        ./rw boot --vector on --run 'grep isa /proc/cpuinfo'

        ./rw boot --interrupts aia --run 'cat /proc/interrupts'

        ./rw boot --disk data.img --run 'mkdir /mnt; mount -t ext4 /dev/vda /mnt; ls /mnt'

        ./rw boot --accelerator snappy --file program --run './program'

        ./rw boot --tiles examples/tiles/process.yaml --file program --run './program'

        ./rw boot --net user --run 'ping -c 3 10.0.2.2; wget -O - http://10.0.2.2:8000/'

        ./rw boot --checkpoint booted.checkpoint

        ./rw boot --from booted.checkpoint --cpu boom --run 'ls -R /usr'

    """
    from rackwright.linux.boot import boot as boot_image
    from rackwright.linux.boot import restore
    from rackwright.linux.console import raw_console
    from rackwright.linux.image import default_image, load_image
    from rackwright.tiles.layout import read_layout
    from rackwright.tiles.machine import hart_count
    from rackwright.tiles.timing import mesh_of_run
    from rackwright.unit.accelerators import build_units
    from rackwright.unit.config import unit_configs

    interactive = run is None and checkpoint is None
    if json and interactive:
        raise RackwrightError("--json requires --run: the console occupies the terminal")
    asked, numbers = guest_memory(memory)
    size, timing = memory_bytes(asked or DEFAULT_SIZE), parse_timing(numbers, core)
    units = (
        unit_configs(
            accelerator or (), parameters=parse_unit_settings(values), placement=placement.value, clock=clock
        )
        if tiles is None
        else _on_tiles(context, tiles, clock)
    )
    layout = None if tiles is None else read_layout(tiles)
    if layout is not None and from_ is None:
        harts = hart_count(layout)
    chip = None if layout is None else mesh_of_run(layout)
    attached = attached_fabric(fabric, capture)
    show = _silent if json else (_console_output if interactive else _command_output)
    if from_ is not None:
        for name in (
            "image",
            "harts",
            "memory",
            "vector",
            "interrupts",
            "checkpoint",
            "prepare",
            "files",
        ):
            source = context.get_parameter_source(name)
            on_line = source is not None and source.name == "COMMANDLINE"
            given = asked is not None if name == "memory" else on_line
            if given:
                raise RackwrightError(
                    f"{name.replace('files', '--file')} does not go with --from: "
                    "the checkpoint says what the machine is"
                )
        with raw_console() if interactive else nullcontext() as console:
            result = restore(
                from_,
                run,
                cpu=cpu.value,
                disk=disk,
                accelerators=units,
                timing=timing,
                net=net.value,
                fabric=attached,
                show=show,
                console=console,
                tiles=tiles,
                chip=chip,
            )
    else:
        with working("units" if units else "image") as activity:
            # Units that cannot be attached are refused before an image is built.
            build_units(units, translation=True)
            loaded = load_image(image or default_image(activity.begin))
        with raw_console() if interactive else nullcontext() as console:
            result = boot_image(
                loaded,
                run,
                harts=harts,
                cpu=cpu.value,
                memory_bytes=size,
                vector=vector is OnOff.on,
                interrupts=interrupts.value,
                disk=disk,
                files=files or (),
                accelerators=units,
                timing=timing,
                net=net.value,
                fabric=attached,
                chip=chip,
                checkpoint=checkpoint,
                prepare=prepare,
                show=show,
                console=console,
            )
    write_capture(attached, (image or Path("boot")).stem, capture)
    if net is Net.user:
        messages.print("the network is this host's: another run has another digest", highlight=False)
    if json:
        print_json(result.record())
    else:
        messages.print(
            f"{cpu.value}, {result.harts} hart(s): booted in {result.boot.wall_seconds:.1f} s "
            f"({result.boot.cycles:,} cycles), then {result.instructions:,} instructions in "
            f"{result.cycles:,} cycles, exit status {result.exit_code}; digest {result.digest}",
            highlight=False,
            soft_wrap=True,
        )
    raise typer.Exit(result.exit_code)


def _on_tiles(context: typer.Context, tiles: Path, clock: str | None) -> list[UnitConfig]:
    """The units of a file of tiles; options that say otherwise are errors."""
    from rackwright.tiles.machine import process_configs

    options = {
        "harts": "--harts",
        "accelerator": "--accelerator",
        "placement": "--placement",
        "values": "--set",
    }
    for name, option in options.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise RackwrightError(f"{option}: --tiles says which harts and units there are")
    return process_configs(tiles, clock)


def _silent(_port: int, _text: bytes) -> None:
    """Results in the JSON output are not printed twice."""


def _console_output(_port: int, text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _command_output(port: int, text: bytes) -> None:
    from rackwright.linux.boot import ERRORS, OUTPUT

    stream = {OUTPUT: sys.stdout, ERRORS: sys.stderr}.get(port)
    if stream is not None:
        stream.buffer.write(text)
        stream.flush()
