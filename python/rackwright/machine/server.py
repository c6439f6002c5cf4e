"""A server: a core, its caches and memory, and the units beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright import _engine
from rackwright.cluster.errors import TopologyError
from rackwright.cluster.nodes import Node, called
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import design
from rackwright.linux.boot import BootResult, Show, boot, restore
from rackwright.linux.features import NicFeatures
from rackwright.linux.image import load_image
from rackwright.linux.node import LinuxNode, from_checkpoint, from_reset, image_path
from rackwright.machine.parameters import ServerParameters
from rackwright.machine.programs import network_program
from rackwright.machine.rocket_rtl import MODEL, ROCKET_RTL, check_rocket_rtl, rocket_design
from rackwright.machine.workloads import Linux, Program, Workload, given_singly
from rackwright.unit.accelerators import Accelerator, build_units
from rackwright.unit.nic import server_nic

if TYPE_CHECKING:
    import pandas as pd

    from rackwright.fabric import AttachedFabric

CPUS = ("rocket", "boom", "functional")
"""Models of the core: two with a pipeline's timing, one that counts an instruction as a cycle."""

MOST_HARTS = 64
"""The maximum number of harts that share a memory."""

DEFAULT_MEMORY_BYTES = 512 << 20
"""Memory of a server that boots Linux."""


@dataclass(frozen=True)
class RunResult:
    """The result of a program on a server.

    `cycles` are of the core's clock, `clock_hz` cycles per second of the simulated time; `wall_seconds` is
    the time of the simulation. `unit_clocks_hz` are the clocks of the `accelerators`; `unit_cycles` counts
    the cycles of RTL that were stepped, of all units together. `counters` are those of the core and the
    caches, by name. `timing` has the numbers that were set (`ServerParameters.describe`). `unknown_calls`
    lists the program's system calls that are not emulated: they returned `ENOSYS`, and the program may
    therefore behave differently than under Linux. `fabric` is what has crossed its links
    (`AttachedFabric.record`), None without one. `waves` is the file that was asked for.
    """

    exit_code: int
    instructions: int
    cycles: int
    clock_hz: int
    digest: str
    wall_seconds: float
    cpu: str
    harts: int
    accelerators: tuple[str, ...]
    unit_clocks_hz: tuple[int, ...]
    timing: dict[str, dict[str, int]]
    stdout: bytes
    stderr: bytes = field(repr=False)
    unknown_calls: tuple[str, ...]
    waves: str | None
    unit_cycles: int
    counters: dict[str, int] = field(repr=False)
    fabric: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def seconds(self) -> float:
        """Simulated time."""
        return self.cycles / self.clock_hz

    def unit_clock_hz(self, unit: str) -> int | None:
        """The clock of the first accelerator of this name; None for a unit that the server does not have."""
        clocks = zip(self.accelerators, self.unit_clocks_hz, strict=True)
        return next((clock for name, clock in clocks if name == unit), None)

    def record(self) -> dict[str, Any]:
        """The result as `rw run --json` prints it; see docs/json.md."""
        row = asdict(self)
        for key in ("stderr", "unit_cycles", "counters"):
            del row[key]
        row["accelerators"] = list(self.accelerators)
        row["unit_clocks_hz"] = list(self.unit_clocks_hz)
        row["unknown_calls"] = list(self.unknown_calls)
        row["stdout"] = self.stdout.decode(errors="replace")
        return row

    def frame(self) -> pd.DataFrame:
        """The same as a data frame of one row, with the counters as columns `counters.<name>`."""
        import pandas as pd

        return pd.json_normalize({**self.record(), "counters": self.counters})


class Server(Node):
    """Cores of the model `cpu`, `harts` of them, each with `accelerators`; "rocket-rtl" is Rocket in RTL.

    The threads of a Linux program run on all of them, from one queue. A bare-metal program starts the harts
    other than the first by their software interrupts.

    An accelerator is the name of a unit ("snappy-compress"), of a set ("snappy"), the path of the manifest of
    your own unit, a `UnitConfig` of one of these, or a compiled design. Each unit has its own custom opcodes;
    several units of one opcode have ranges of functs; docs/attach-units.md describes how programs reach them.
    `tiles` is a file of tiles (docs/tiles.md), whose harts and units it has in place of `accelerators`; in a
    cluster, `network` without `mirror` is on the server's link, beside the network interface.

    Accesses to memory cross the mesh `chip` of a server alone, which `tiles` has if its file says so.

    `check_idle` clocks them in every cycle, and a unit whose state changes while it is idle ends a run with
    an `EngineError`. `waves` is an FST file for their signals (or a SAIF file for their activity), one file
    per unit named after it if there are several; compiled designs must have been built with waves then.

    `timing` has numbers of caches, DRAM and harts that replace the defaults.

    Its `workload` is `BareMetal(path, arguments)`, `Linux(image, run)` or `Program(path, arguments)`, a Linux
    program in user mode. In a cluster, a server has a network interface in RTL, `nic` or else that of
    `server_nic`; one with a `Program` has none, and frames that arrive are counted and dropped. `mac` and
    `ip` are assigned unless pinned. Alone, `run()` runs its `Program`, and `boot()` its `Linux`.

    Under Linux it has `memory_bytes`, with `vector` the vector extension, and a network interface that
    Debian's own driver knows, for packets of up to `mtu` bytes, which does `nic_features` for it. Its
    accelerators translate the addresses of processes. With a checkpoint, it has the harts, the memory and the
    vectors of that machine. With `fabric`, a bare-metal program that it runs alone, or the Linux that it
    boots alone, finds a PCIe fabric behind the PCI host bridge.

    `program`, `arguments`, `static_arp`, `image`, `checkpoint` and `run` are the older form of a workload; a
    warning shows the new form.
    """

    def __init__(
        self,
        cpu: str = "rocket",
        accelerators: Sequence[Accelerator] = (),
        *,
        tiles: str | Path | None = None,
        harts: int | None = None,
        skip_idle: bool = True,
        check_idle: bool = False,
        waves: Path | None = None,
        timing: ServerParameters | None = None,
        name: str | None = None,
        workload: Workload | None = None,
        program: str | Path | None = None,
        arguments: Sequence[str | Node] = (),
        static_arp: bool = False,
        image: str | Path | None = None,
        checkpoint: str | Path | None = None,
        run: str | Sequence[str | Node] | None = None,
        memory_bytes: int | None = None,
        vector: bool | None = None,
        mtu: int = 1500,
        nic_features: NicFeatures | None = None,
        nic: str | Path | _engine.Design | None = None,
        mac: str | None = None,
        ip: str | None = None,
        fabric: AttachedFabric | None = None,
        chip: _engine.ChipMesh | None = None,
    ) -> None:
        """Elaborates and compiles missing designs; the network interface only for a cluster.

        Raises `RackwrightError` for an unknown name and for a unit that cannot be; `EngineError` for a
        `timing` that cannot, and for units that cannot share an opcode.
        """
        if cpu not in (*CPUS, ROCKET_RTL):
            raise RackwrightError(f"no core model {cpu}; there are {', '.join((*CPUS, ROCKET_RTL))}")
        workload = given_singly(
            workload,
            program=program,
            arguments=arguments,
            static_arp=static_arp,
            image=image,
            checkpoint=checkpoint,
            run=run,
        )
        linux = workload if isinstance(workload, Linux) else None
        has_booted = linux is not None and linux.checkpoint is not None
        if has_booted and any(given is not None for given in (harts, memory_bytes, vector)):
            raise RackwrightError(
                "a checkpoint has harts, memory and vectors: a server is given the one or the others"
            )
        if tiles is not None:
            if accelerators or harts is not None or chip is not None:
                raise RackwrightError(
                    f"{tiles}: a server with `tiles` has their units, harts and mesh, and no others"
                )
            accelerators, harts, chip = _on_tiles(Path(tiles))
        harts = 1 if harts is None else harts
        if harts not in range(1, MOST_HARTS + 1):
            raise RackwrightError(f"a server has 1 to {MOST_HARTS} harts, not {harts}")
        timing = timing or ServerParameters()
        self._is_rtl = cpu == ROCKET_RTL
        if self._is_rtl:
            check_rocket_rtl(harts, timing)
        timing.check(MODEL if self._is_rtl else cpu)
        if isinstance(workload, Program) and nic is not None:
            raise RackwrightError("a server with a program in user mode has no `nic`")
        if vector is not None and linux is None:
            raise RackwrightError("`vector` is for servers that boot an image; programs always have vectors")
        super().__init__(name)
        self.workload = workload
        self.cpu = cpu
        self.harts = harts
        start = None if linux is None else _linux_start(linux, harts, memory_bytes, vector=bool(vector))
        self._accelerators = list(accelerators)
        self.units = build_units(accelerators, waves=waves, translation=start is not None)
        self.timing = timing
        self._check_idle = check_idle
        self._waves = waves
        self._skip_idle = skip_idle
        features = nic_features or NicFeatures()
        self.linux = None
        if linux is not None and start is not None:
            self.linux = LinuxNode(start, linux.run, mtu, features)
        self._memory_bytes, self._vector = memory_bytes, bool(vector)
        self.nic = nic
        self.mac = mac
        self.ip = ip
        self.fabric = fabric
        self._chip = chip

    def run(
        self,
        program: str | Path | None = None,
        arguments: Sequence[str] = (),
        *,
        stdin: bytes | None = b"",
        write_folder: Path | None = None,
        echo: bool = False,
        max_cycles: int = 0,
        progress: Callable[[int, int], None] | None = None,
        observer: _engine.Observer | None = None,
    ) -> RunResult:
        """Runs a static RV64GC ELF file from the start to its exit, on a server fresh from reset.

        Without `program`, that of the server's `workload`, with its arguments. The program sees the host's
        files for reading, relative to this process's folder; it can write only below `write_folder`. Without
        `stdin` (None) it reads this process's standard input, up to its end when it first reads. `echo`
        prints its output as it appears. `max_cycles` ends a run that takes longer with an `EngineError` (0:
        no limit). `progress` is called with instructions and cycles a few times per second. `observer`
        observes the hart: `rackwright.profile` combines its results.
        """
        if program is None:
            program, arguments = self._own_program()
        machine = _engine.Server(
            MODEL if self._is_rtl else self.cpu,
            self.harts,
            units=self.units,
            skip_idle=self._skip_idle,
            check_idle=self._check_idle,
            waves=str(self._waves) if self._waves else None,
            memory=self.timing.memory,
            core=self.timing.core,
            fabric=self.fabric.engine if self.fabric else None,
            rtl=rocket_design(self.harts) if self._is_rtl else None,
            chip=self._chip,
        )
        result = machine.run(
            str(program),
            arguments,
            stdin=stdin,
            write_folder=str(write_folder) if write_folder else None,
            echo=echo,
            max_cycles=max_cycles,
            progress=progress,
            notice=_say,
            observer=observer,
        )
        return RunResult(
            exit_code=result.exit_code,
            instructions=result.instructions,
            cycles=result.cycles,
            clock_hz=result.clock_hz,
            digest=result.digest,
            wall_seconds=result.wall_seconds,
            cpu=self.cpu,
            harts=self.harts,
            accelerators=tuple(unit.design.unit for unit in self.units),
            unit_clocks_hz=tuple(unit.design.clock_hz for unit in self.units),
            stdout=result.stdout,
            stderr=result.stderr,
            unknown_calls=tuple(result.unknown_calls),
            waves=str(self._waves) if self._waves else None,
            unit_cycles=result.unit_cycles,
            counters=dict(result.counters),
            timing=self.timing.describe(),
            fabric=self.fabric.record() if self.fabric else None,
        )

    def boot(self, *, show: Show | None = None, observer: _engine.Observer | None = None) -> BootResult:
        """Boots the server's `Linux` alone, runs its `run`, and powers it off, as `rw boot` does.

        Alone, it has no link: `nic`, `mac` and `ip` are for clusters. `show` is called with the output of
        serial ports as it appears; `observer` observes the harts. Raises `RackwrightError` for a server with
        another workload, or one that stays on; `EngineError` if the image does not boot.
        """
        if not isinstance(self.workload, Linux):
            raise RackwrightError("a server that boots needs Linux: Server(workload=Linux(run=…))")
        if self._is_rtl:
            raise RackwrightError(f"{ROCKET_RTL} runs bare-metal programs, and no Linux")
        if self.workload.run is None:
            raise RackwrightError("a single server that boots needs a command to run: Linux(run=…)")
        if self._waves or self._check_idle:
            option = "waves" if self._waves else "check_idle"
            raise RackwrightError(f"`{option}` is for servers that run a Program alone")
        command = self.workload.run
        text = command if isinstance(command, str) else "".join(_texts(command))
        all_have: dict[str, Any] = {
            "cpu": self.cpu,
            "accelerators": self._accelerators,
            "timing": self.timing,
            "observer": observer,
            "chip": self._chip,
        }
        if show is not None:
            all_have["show"] = show
        image = self.workload.image
        if self.workload.checkpoint is not None:
            if self.fabric is not None:
                raise RackwrightError("a guest of a checkpoint has no `fabric`: kernels find it at boot")
            loaded = None if image is None else load_image(image_path(image))
            return restore(Path(self.workload.checkpoint), text, image=loaded, **all_have)
        return boot(
            load_image(image_path(image)),
            text,
            harts=self.harts,
            memory_bytes=self._memory_bytes or DEFAULT_MEMORY_BYTES,
            vector=self._vector,
            fabric=self.fabric,
            **all_have,
        )

    def describe(self, names: Mapping[Node, str]) -> dict[str, Any]:
        """As the engine reads it in a cluster, without its name."""

        def described(argument: str | Node) -> str | dict[str, str]:
            if not isinstance(argument, Node):
                return str(argument)
            if argument not in names:
                raise TopologyError(
                    f"`{names[self]}` refers to the address of {called(argument)}, but no path connects them"
                )
            return {"address_of": names[argument]}

        if self._is_rtl:
            raise TopologyError(f"`{names[self]}`: {ROCKET_RTL} is for servers that run alone")
        if self._waves or self._check_idle:
            option = "waves" if self._waves else "check_idle"
            raise TopologyError(f"`{names[self]}`: `{option}` is for servers that run alone")
        if self.fabric is not None:
            raise TopologyError(f"`{names[self]}`: `fabric` is for servers that run alone")
        if self._chip:
            raise TopologyError(f"`{names[self]}`: memory behind the mesh is for servers that run alone")
        all_have = {
            "cpu": self.cpu,
            "units": [{"design": _key(unit.design), "placement": unit.placement} for unit in self.units],
            "skip_idle": self._skip_idle,
            **self.timing.describe(),
            "mac": self.mac,
            "ip": self.ip,
        }
        if self.workload is None:
            raise TopologyError(f'`{names[self]}` needs a program: Server(workload=BareMetal("ping.elf"))')
        if isinstance(self.workload, Program):
            return {
                "kind": "program",
                "harts": self.harts,
                "program": str(self.workload.path),
                "arguments": [described(argument) for argument in self.workload.arguments],
                **all_have,
            }
        both = {"static_arp": self.workload.static_arp, "nic": _key(self._interface()), **all_have}
        if isinstance(self.workload, Linux):
            assert self.linux is not None
            command = [described(part) for part in self.linux.command]
            return {"kind": "linux", **self.linux.describe(), "command": command, **both}
        return {
            "kind": "server",
            "harts": self.harts,
            "program": str(network_program(self.workload.path)),
            "arguments": [described(argument) for argument in self.workload.arguments],
            **both,
        }

    def _own_program(self) -> tuple[str | Path, Sequence[str]]:
        """The program of `run` if no other is given.

        Raises `RackwrightError` if there is none, or if its arguments contain the address of a server.
        """
        if isinstance(self.workload, Linux):
            raise RackwrightError("a server alone boots Linux by `boot()`")
        if self.workload is None:
            raise RackwrightError("what is the server to run? Give `run` a program, or the server a workload")
        return self.workload.path, _texts(self.workload.arguments)

    def _interface(self) -> str | Path | _engine.Design:
        return server_nic(virtio=self.linux is not None) if self.nic is None else self.nic

    def designs(self) -> Mapping[str, _engine.Design]:
        """The network interface and the accelerators, by the names that the description uses."""
        units = {_key(unit.design): unit.design for unit in self.units}
        if isinstance(self.workload, Program):
            return units
        nic = self._interface()
        return {_key(nic): _built(nic), **units}


def run(
    program: str | Path,
    arguments: Sequence[str] = (),
    *,
    cpu: str = "rocket",
    accelerators: Sequence[Accelerator] = (),
) -> RunResult:
    """Runs one program on one server: `Server(...).run(...)` in a call."""
    return Server(cpu, accelerators).run(program, arguments)


def _on_tiles(file: Path) -> tuple[Sequence[Accelerator], int, _engine.ChipMesh | None]:
    """The units, the harts and the mesh of a file of tiles."""
    from rackwright.tiles.layout import read_layout
    from rackwright.tiles.machine import hart_count, tile_configs
    from rackwright.tiles.timing import mesh_of_run

    layout = read_layout(file)
    return tile_configs(layout), hart_count(layout), mesh_of_run(layout)


def _linux_start(linux: Linux, harts: int, memory_bytes: int | None, *, vector: bool) -> dict[str, object]:
    """The start of a server with Linux."""
    if linux.checkpoint is not None:
        return from_checkpoint(linux.checkpoint, linux.image)
    given = DEFAULT_MEMORY_BYTES if memory_bytes is None else memory_bytes
    return from_reset("default" if linux.image is None else linux.image, harts, given, vector=vector)


def _texts(arguments: Sequence[str | Node]) -> list[str]:
    """Arguments of a server alone. Raises `RackwrightError` when one of them is another server."""
    texts = [argument for argument in arguments if not isinstance(argument, Node)]
    if len(texts) < len(arguments):
        raise RackwrightError("a server alone knows no addresses of others: run it in a cluster")
    return texts


def _say(sentence: str) -> None:
    print(f"rackwright: {sentence}", file=sys.stderr)


def _key(unit: str | Path | _engine.Design) -> str:
    """The name of a unit in the description of a cluster: the same in each process that describes it."""
    if not isinstance(unit, _engine.Design):
        return str(unit)
    return "@".join([unit.unit, unit.key, str(unit.clock_hz), *unit.plusargs])


@cache
def _named(unit: str | Path) -> _engine.Design:
    return design(unit)


def _built(unit: str | Path | _engine.Design) -> _engine.Design:
    """A unit, compiled; the same for all servers that name it alike."""
    return unit if isinstance(unit, _engine.Design) else _named(unit)
