"""`rw profile`: the distribution of a run's cycles."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rackwright.cli.boot import (
    DEFAULT_SIZE,
    GuestMemoryOption,
    Interrupts,
    InterruptsOption,
    guest_memory,
)
from rackwright.cli.boot import Cpu as BootCpu
from rackwright.cli.fabric_option import FabricOption, observed_fabric
from rackwright.cli.output import JsonOption, messages, print_json, working
from rackwright.cli.run import MOST_CYCLES, Cpu, exit_status
from rackwright.cli.settings import (
    ClockOption,
    CoreOption,
    MemoryOption,
    PlusargOption,
    parse_timing,
    parse_unit_settings,
)
from rackwright.errors import RackwrightError
from rackwright.hardware.sizes import memory_bytes
from rackwright.profiling.watching import EVERY, SAMPLES, Watching
from rackwright.unit.placements import Placement

if TYPE_CHECKING:
    from rackwright.profiling.compare import Stacks
    from rackwright.profiling.observed import Profile

_observed = typer.Typer(add_completion=False, context_settings={"help_option_names": ["--help", "-h"]})
"""The verbs that can be observed, with those of their options that select the workload."""


def profile(
    verb: Annotated[
        list[str] | None,
        typer.Argument(
            help="After --: `run PROGRAM …`, `run CLUSTER.py` or `boot --run COMMAND`, with their options.",
            metavar="VERB…",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the report and the other files.")
    ] = Path("profile"),
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TRIGGER", help="Start observing at this trigger, such as function:main."
        ),
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="TRIGGER", help="Stop observing at this trigger.")] = None,
    harts: Annotated[str, typer.Option(metavar="LIST", help="Observe only these harts, such as 0,1.")] = "",
    servers: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="In a cluster, observe only this server; repeatable."),
    ] = None,
    counters: Annotated[
        list[str] | None,
        typer.Option(metavar="EVENT", help="Record only these counters, separated by commas; repeatable."),
    ] = None,
    every: Annotated[
        int, typer.Option(min=1, metavar="CYCLES", help="Cycles between two samples of the counters.")
    ] = EVERY,
    samples: Annotated[
        int, typer.Option(min=2, metavar="N", help="Maximum number of samples for each hart.")
    ] = SAMPLES,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write every executed instruction to this file; `rw trace` prints it."
        ),
    ] = None,
    open_: Annotated[
        Path | None,
        typer.Option("--open", metavar="DIR", help="Show the report of an existing profile."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Compare with the profile in this folder."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show where every cycle of a run goes, without affecting the run: stacks, durations, counters.

    The folder then holds report.html (open it in a browser), profile.json, calls.parquet, counters.parquet,
    and the same for other tools: stacks.folded, profile.speedscope.json, profile.pb.gz (pprof),
    trace.perfetto-trace. The exit status is that of the observed run.

    Triggers are cycle:N, instructions:N, address:N, function:NAME (function:FILE!NAME in an image), word:N,
    hint:N (`slti x0, x0, N`), process:NAME, counter:NAME>=N and event:NAME.

    Examples:
        ./rw profile -- run hello.elf -- one two

        ./rw profile -o where -- run --cpu boom app.elf

        ./rw profile -- run --fabric examples/fabric/switch.py dma.elf

        ./rw profile -- boot --run 'ls -R /usr' --harts 2

        ./rw profile --from function:parse --to cycle:2_000_000 -- run app.elf

        ./rw profile --servers server0 -- run cluster.py

        ./rw profile --trace app.trace -- run app.elf

        ./rw profile --open where

        ./rw profile -o faster --compare where -- run faster.elf

        ./rw profile --open faster --compare where

    """
    from rackwright.profiling.compare import stacks_in
    from rackwright.profiling.files import compare as compare_folders
    from rackwright.profiling.files import report_of, write

    if open_ is not None:
        if verb:
            raise RackwrightError("--open shows a profile that was made before; it runs nothing")
        path = compare_folders(open_, compare) if compare else report_of(open_)
        messages.print(f"{path}", highlight=False, soft_wrap=True)
        webbrowser.open(path.resolve().as_uri())
        return
    if not verb:
        raise RackwrightError("there is nothing to run; say for example ./rw profile -- run PROGRAM")
    if compare is not None and not stacks_in(compare):
        raise RackwrightError(f"{compare}: holds no profile; `rw profile -o {compare} -- …` makes one")
    watching = Watching(from_, to, _names(counters or []), hart_numbers(harts), every, samples, trace)

    def tell(sentence: str) -> None:
        messages.print(sentence, highlight=False, soft_wrap=True, markup=False)

    with redirect_stdout(sys.stderr if json else sys.stdout):
        profiles = observe(verb, watching, servers or [])
    for name, made in profiles.items():
        unmet = (watching.of_server(name) if name else watching).unmet(made)
        for sentence in (*unmet, *made.shortened()):
            tell(f"{name}: {sentence}" if name else sentence)
        write(made, output / name, tell, None if compare is None else _other(compare / name, tell))
        if not json:
            _summary(made, output / name)
    records = {name: made.record() for name, made in profiles.items()}
    if json:
        print_json(records.get("", records))
    raise typer.Exit(exit_status(max(made.exit_code for made in profiles.values())))


def _other(folder: Path, tell: Callable[[str], None]) -> Stacks | None:
    """The profile to compare with. An unreadable profile is reported, but the new files are still written."""
    from rackwright.profiling.compare import Stacks

    try:
        return Stacks.of_folder(folder)
    except RackwrightError as error:
        tell(f"nothing is compared: {error}")
        return None


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for words in given for name in words.split(",") if name.strip())


def hart_numbers(given: str) -> tuple[int, ...]:
    """The harts of `--harts`, in which commas are between numbers; raises `RackwrightError` for others."""
    try:
        return tuple(int(number) for number in given.split(",") if number)
    except ValueError:
        raise RackwrightError(f"--harts {given}: not numbers with commas between them") from None


@dataclass(frozen=True)
class _Asked:
    watching: Watching
    servers: Sequence[str]


def observe(words: list[str], watching: Watching, servers: Sequence[str] = ()) -> dict[str, Profile]:
    """Runs the verb of `words`.

    Returns the observations by the names of servers; a machine that runs alone has no name.
    """
    command = typer.main.get_command(_observed)
    asked = _Asked(watching, servers)
    made: Any = command.main(words, prog_name="./rw profile --", standalone_mode=False, obj=asked)
    if isinstance(made, int):
        # A request for help only prints it.
        raise typer.Exit(made)
    return made if isinstance(made, dict) else {"": made}


@_observed.callback()
def _verbs() -> None:
    """The kinds of runs that can be observed."""


@_observed.command("run")
def _run(
    context: typer.Context,
    program: Annotated[Path, typer.Argument(help="A static RV64GC ELF file, or a script with a cluster.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the program, after --.")] = None,
    cpu: Annotated[Cpu, typer.Option(help="Model of the core.")] = Cpu.rocket,
    harts: Annotated[int, typer.Option(min=1, help="Cores that run the program's threads.")] = 1,
    accelerator: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A unit, a set or a manifest.json; repeatable.")
    ] = None,
    placement: Annotated[Placement, typer.Option(help="Placement of the units.")] = Placement.near_core,
    clock: ClockOption = None,
    plusarg: PlusargOption = None,
    memory: MemoryOption = None,
    core: CoreOption = None,
    write_folder: Annotated[
        Path | None, typer.Option(help="The only folder that the program may write to.")
    ] = None,
    max_cycles: Annotated[
        int, typer.Option(min=0, max=MOST_CYCLES, help="Maximum number of cycles; 0: unlimited.")
    ] = 0,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A unit's parameter, snappy-compress.hash-ways=2; in a cluster, instead of the script's.",
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Cluster: number of simulation threads.")] = None,
    fabric: FabricOption = None,
) -> Any:
    """Observe a program, or the servers of a cluster, without affecting them, as `rw run` runs it."""
    from rackwright.machine.server import Server
    from rackwright.profiling import profile as observe_program
    from rackwright.unit.config import unit_configs

    if cpu is Cpu.rocket_rtl:
        raise RackwrightError("rocket-rtl can't be observed; its model, rocket, can")
    if not program.is_file():
        raise RackwrightError(f"{program}: no such file")
    asked: _Asked = context.obj
    if program.suffix == ".py":
        if clock or memory or core or fabric:
            raise RackwrightError(
                "--clock, --memory, --core and --fabric are for programs; "
                f"{program.name} is a script with a cluster"
            )
        return _observe_cluster(program, arguments or [], asked, values or [], threads)
    if asked.servers or threads:
        raise RackwrightError(f"--servers and --threads are for clusters; {program.name} is a program")
    timing = parse_timing(memory, core)
    server = Server(
        cpu.value,
        unit_configs(
            accelerator or [],
            parameters=parse_unit_settings(values, or_of_one=True),
            placement=placement.value,
            clock=clock,
            plusargs=plusarg or [],
        ),
        harts=harts,
        timing=timing,
        fabric=observed_fabric(fabric),
    )
    return observe_program(
        server,
        program,
        arguments or [],
        watching=asked.watching,
        stdin=None,
        write_folder=write_folder,
        echo=False,
        max_cycles=max_cycles,
    )


def _observe_cluster(
    script: Path, arguments: list[str], asked: _Asked, values: list[str], threads: int | None
) -> dict[str, Profile]:
    """The servers of each run in the script, by name; from the second run on with its number."""
    from rackwright.cli.run_cluster import run_cluster
    from rackwright.cluster.session import Observing

    observing = Observing(asked.watching, asked.servers)
    status = run_cluster(script, arguments, values=values, threads=threads, observing=observing, json=False)
    if status:
        raise typer.Exit(status)
    return {
        f"{name}{number or ''}": made
        for number, profiles in enumerate(observing.profiles)
        for name, made in profiles.items()
    }


@_observed.command("boot")
def _boot(
    context: typer.Context,
    run: Annotated[
        str, typer.Option(metavar="COMMAND", help="Run this command as the guest's root, then power off.")
    ],
    image: Annotated[
        Path | None, typer.Argument(help="Image built by `rw image`; the default image without this option.")
    ] = None,
    harts: Annotated[int, typer.Option(min=1, max=64, help="Number of harts, which share the memory.")] = 1,
    cpu: Annotated[BootCpu, typer.Option(help="Model of the harts.")] = BootCpu.functional,
    memory: GuestMemoryOption = None,
    core: CoreOption = None,
    disk: Annotated[Path | None, typer.Option(metavar="FILE", help="Image of a disk.")] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Continue from a checkpoint of this image instead of booting."
        ),
    ] = None,
    fabric: FabricOption = None,
    interrupts: InterruptsOption = Interrupts.plic,
) -> Any:
    """Observe Linux, its kernel and all programs, without affecting them, as `rw boot` runs it."""
    from rackwright.linux.image import default_image, load_image
    from rackwright.profiling import profile_boot

    with working("image") as activity:
        loaded = load_image(image or default_image(activity.begin))
    size, numbers = guest_memory(memory)
    timing = parse_timing(numbers, core)
    options: dict[str, Any] = {
        "cpu": cpu.value,
        "disk": disk,
        "timing": timing,
        "fabric": observed_fabric(fabric),
    }
    if from_ is None:
        options |= {"harts": harts, "memory_bytes": memory_bytes(size or DEFAULT_SIZE)}
        options |= {"interrupts": interrupts.value}
    return profile_boot(loaded, run, watching=context.obj.watching, checkpoint=from_, **options)


def _summary(made: Profile, output: Path) -> None:
    """The functions with the most cycles, and the files with details."""
    total = max(1, sum(made.cycles))
    for row in made.calls().head(8).to_dict("records"):
        messages.print(
            f"{100 * row['exclusive_cycles'] / total:6.2f} %  {row['exclusive_cycles']:>15,} cycles  "
            f"{row['count']:>12,} calls  {row['function']}",
            highlight=False,
            soft_wrap=True,
            markup=False,
        )
    messages.print(
        f"{made.cpu}: {made.instructions:,} instructions, "
        f"{', '.join(f'{each:,}' for each in made.cycles)} cycles, exit status {made.exit_code}; "
        f"observed in {made.wall_seconds:.2f} s; digest {made.digest}; {output / 'report.html'}",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )
