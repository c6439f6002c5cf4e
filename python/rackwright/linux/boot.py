"""Booting an image: on the console, or to run one command."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.linux.console import Console
from rackwright.linux.files import archive_of
from rackwright.linux.image import Image
from rackwright.linux.network import interface, set_up
from rackwright.machine.parameters import ServerParameters
from rackwright.tiles.machine import check_harts
from rackwright.unit.accelerators import Accelerator, PlacedUnit, build_units

if TYPE_CHECKING:
    from rackwright.fabric import AttachedFabric

COMMAND_LINE = "console=ttyS0 earlycon=sbi"
CONSOLE, OUTPUT, ERRORS = 0, 2, 3
"""Serial ports by their output."""

_BOOT_LIMIT = 100_000_000_000
"""Cycles after which a guest that is not ready will never be: 50 s of its time."""

_PREPARATION = "modprobe virtio_net\nwhile ps | grep -q '[c]ryptomgr_test'; do sleep 0.01; done"
"""Root's actions before a checkpoint is written: the kernel verifies the signatures of modules, and then
tests the algorithms for it for 0.2 s. Otherwise all guests restored from the checkpoint would repeat this.
"""

_SLICE = 4_000_000
"""Cycles between two checks for signals, keyboard and output: 2 ms of the guest's time."""


Show = Callable[[int, bytes], None]
"""Called with the output of a serial port."""


def _unseen(_port: int, _text: bytes) -> None:
    """The output is not shown; the result contains it."""


@dataclass(frozen=True)
class BootCost:
    """The cost until the guest was ready."""

    instructions: int
    cycles: int
    wall_seconds: float


@dataclass(frozen=True)
class BootResult:
    """The result of a guest, from reset to power-off.

    `instructions` are of all harts, `cycles` of their clock; both exclude `boot`, and so does
    `processor_seconds`, the processor time of this process. `timing` has the numbers that were set
    (`ServerParameters.describe`). `fabric` is what has crossed its links (`AttachedFabric.record`), None
    without one.
    """

    exit_code: int
    stdout: bytes
    cpu: str
    harts: int
    boot: BootCost
    instructions: int
    cycles: int
    clock_hz: int
    digest: str
    wall_seconds: float
    processor_seconds: float
    checkpoint: str | None
    net: str
    accelerators: tuple[str, ...]
    unit_clocks_hz: tuple[int, ...]
    timing: dict[str, dict[str, int]]
    counters: dict[str, int]
    stderr: bytes = field(repr=False)
    console: bytes = field(repr=False)
    fabric: dict[str, Any] | None = field(default=None, repr=False)

    def record(self) -> dict[str, Any]:
        """The result as `rw boot --json` prints it; see docs/json.md."""
        row = asdict(self)
        for key in ("stderr", "console"):
            del row[key]
        row["accelerators"] = list(self.accelerators)
        row["unit_clocks_hz"] = list(self.unit_clocks_hz)
        row["stdout"] = self.stdout.decode(errors="replace")
        return row


def boot(
    image: Image,
    command: str | None = None,
    *,
    harts: int = 1,
    cpu: str = "functional",
    memory_bytes: int = 2 << 30,
    vector: bool = False,
    kernel_options: str = "",
    disk: Path | None = None,
    files: Sequence[Path] = (),
    accelerators: Sequence[Accelerator] = (),
    timing: ServerParameters | None = None,
    checkpoint: Path | None = None,
    prepare: str | None = None,
    net: str = "none",
    fabric: AttachedFabric | None = None,
    interrupts: str = "plic",
    chip: _engine.ChipMesh | None = None,
    show: Show = _unseen,
    console: Console | None = None,
    observer: _engine.Observer | None = None,
) -> BootResult:
    """Boots `image` on a server fresh from reset, runs `command` as root, and switches the guest off.

    Without a command, there is a shell on `console`. `show` is called with the output of serial ports as it
    appears. With `vector`, harts have the vector extension (RVV 1.0, 128 bits), which the kernel then uses
    too. `kernel_options` go to the end of the kernel's command line. `disk` is a file with the contents of a
    disk; the guest's writes are discarded. `files` are copied into /root, where the command runs.
    `accelerators` are units beside each hart, as for `Server`, which translate the addresses of processes.
    With `net` "user", it has the network interface in RTL, joined to sockets of this host: real time then
    enters the run, whose digest is its own. A checkpoint cannot contain that interface, which is attached
    after the checkpoint is written. `timing` has numbers of caches, DRAM and harts that replace the defaults.
    `fabric` is behind the PCI host bridge, where the kernel finds it; a checkpoint contains its state if its
    cards are models.
    `interrupts` is "plic", or "aia" for the Advanced Interrupt Architecture, where PCI functions interrupt
    by messages. Accesses to memory cross the mesh `chip`, of a machine without network and fabric.
    `observer` observes the harts. `checkpoint` is a file to write when the guest has booted,
    loaded the driver of network interfaces, for servers of clusters that start from it, and executed
    `prepare` in root's shell.
    With neither command nor console, that is all. Raises `RackwrightError` if there is no work, the folder of
    the checkpoint does not exist or the user leaves the console, and `EngineError` if the image does not boot
    or the checkpoint cannot be written.
    """
    if command is None and console is None and checkpoint is None:
        raise RackwrightError("without a command, a guest needs a console")
    if prepare is not None and checkpoint is None:
        raise RackwrightError("a guest is prepared for a checkpoint, and none is to be written")
    if checkpoint is not None and not checkpoint.parent.is_dir():
        raise RackwrightError(f"cannot write {checkpoint}: there is no folder {checkpoint.parent}")
    if fabric is not None:
        fabric.check_interrupts(interrupts)
    _check_mesh(chip, net, fabric)
    if fabric is not None and checkpoint is not None:
        fabric.check_checkpoint()
    nic = interface(net)
    gets_nic_later = nic is not None and checkpoint is not None
    if gets_nic_later and observer is not None:
        raise RackwrightError("a guest that is observed is given a network without writing a checkpoint")
    began = time.monotonic()
    units = build_units(accelerators, translation=True)
    wakes_processes = any(unit.design.interrupts_processes for unit in units)
    drivers = image.drivers if fabric is not None or wakes_processes else b""
    guest = _engine.Guest(
        image.firmware,
        image.kernel,
        image.files + drivers + archive_of(files),
        f"{COMMAND_LINE} {kernel_options}".rstrip(),
        cpu,
        harts,
        memory_bytes,
        vector=vector,
        disk=disk,
        observer=observer,
        units=units,
        nic=None if gets_nic_later else nic,
        memory=timing.memory if timing else {},
        core=timing.core if timing else {},
        fabric=fabric.engine if fabric else None,
        aia=interrupts == "aia",
        chip=chip,
    )
    run = _Run(guest, cpu, show, console, began, units, net, timing, fabric)
    run.until("ready")
    if nic is not None and not gets_nic_later:
        run.prepare(set_up(restored=False))
    if checkpoint is not None:
        run.prepare("\n".join((_PREPARATION, prepare or "true")).encode())
        guest.save(checkpoint)
    if checkpoint is not None and nic is not None and (command is not None or console is not None):
        run.go_on_in(_restored(checkpoint, cpu, disk, units=units, nic=nic, timing=timing, fabric=fabric))
        run.prepare(set_up(restored=True))
    return run.to_end(command, run.cost(), checkpoint)


def restore(
    checkpoint: Path,
    command: str | None = None,
    *,
    cpu: str = "functional",
    disk: Path | None = None,
    accelerators: Sequence[Accelerator] = (),
    timing: ServerParameters | None = None,
    net: str = "none",
    fabric: AttachedFabric | None = None,
    show: Show = _unseen,
    console: Console | None = None,
    observer: _engine.Observer | None = None,
    image: Image | None = None,
    tiles: Path | None = None,
    chip: _engine.ChipMesh | None = None,
) -> BootResult:
    """Continues from a checkpoint written by `boot`, on harts of any model; otherwise like `boot`.

    A guest with a disk needs the file that it had, and one with a `fabric` an equal one; any `accelerators`
    may be attached now. The caches of timed harts are empty at first, unless those of equal harts were saved.
    `BootResult.boot` has the wall time of restoring. An `observer` needs the image that was booted. `tiles`
    is the file of `accelerators` on tiles, and `chip` the mesh between them, if memory is behind it.
    Raises `EngineError` when the file is no checkpoint, or damaged, or the disk is another one, and
    `RackwrightError` if the tiles have another number of harts.
    """
    if command is None and console is None:
        raise RackwrightError("without a command, a guest needs a console")
    _check_mesh(chip, net, fabric)
    nic = interface(net)
    began = time.monotonic()
    units = build_units(accelerators, translation=True)
    guest = _restored(
        checkpoint,
        cpu,
        disk,
        units=units,
        nic=nic,
        timing=timing,
        fabric=fabric,
        observer=observer,
        image=image,
        chip=chip,
    )
    if tiles is not None:
        check_harts(tiles, guest.harts)
    run = _Run(guest, cpu, show, console, began, units, net, timing, fabric)
    if nic is not None:
        run.prepare(set_up(restored=True))
    return run.to_end(command, run.cost(), None)


def _restored(
    checkpoint: Path,
    cpu: str,
    disk: Path | None,
    *,
    units: Sequence[PlacedUnit],
    nic: _engine.Design | None,
    timing: ServerParameters | None,
    fabric: AttachedFabric | None = None,
    observer: _engine.Observer | None = None,
    image: Image | None = None,
    chip: _engine.ChipMesh | None = None,
) -> _engine.Guest:
    """A guest restored from a checkpoint, with the parts added after it."""
    kernel, files = (image.kernel, image.files) if image else (None, None)
    return _engine.Guest.restore(
        checkpoint,
        cpu,
        disk,
        observer,
        kernel,
        files,
        units,
        nic,
        timing.memory if timing else {},
        timing.core if timing else {},
        fabric.engine if fabric else None,
        chip,
    )


def _check_mesh(chip: _engine.ChipMesh | None, net: str, fabric: AttachedFabric | None) -> None:
    """Raises `RackwrightError` if memory is behind a mesh, and a part of the machine is on no tile."""
    if chip is not None and (net != "none" or fabric is not None):
        raise RackwrightError("memory is behind the mesh: a network or a fabric needs it behind a crossbar")


class _Run:
    """A running guest."""

    def __init__(
        self,
        guest: _engine.Guest,
        cpu: str,
        show: Show,
        console: Console | None,
        began: float,
        units: Sequence[PlacedUnit],
        net: str,
        timing: ServerParameters | None,
        fabric: AttachedFabric | None,
    ) -> None:
        self._units = units
        self._fabric = fabric
        self._timing = timing or ServerParameters()
        self._net = net
        self._guest = guest
        self._cpu = cpu
        self._show = show
        self._console = console
        self._shown = {port: len(guest.output(port)) for port in (CONSOLE, OUTPUT, ERRORS)}
        self._began = began
        self._simulated = guest.cycles

    def cost(self) -> BootCost:
        """The cost up to this point."""
        return BootCost(self._guest.instructions, self._guest.cycles, self._elapsed())

    def go_on_in(self, guest: _engine.Guest) -> None:
        """Continues with a guest in the same state and with the same output as this one."""
        self._guest = guest

    def prepare(self, command: bytes) -> None:
        """Lets root's shell run a command in a guest that is ready, until it is ready again."""
        self._guest.request_prepare(command)
        self.until("ready")

    def to_end(self, command: str | None, cost: BootCost, checkpoint: Path | None) -> BootResult:
        """Sends the request to a guest that is ready, and runs it until power-off."""
        guest = self._guest
        status = 0
        before = time.process_time()
        if command is not None:
            guest.request_run(command.encode())
            status = self.until("off")
        elif self._console is not None:
            guest.request_console()
            status = self.until("off")
        return BootResult(
            exit_code=status,
            stdout=guest.output(OUTPUT),
            cpu=self._cpu,
            harts=guest.harts,
            boot=cost,
            instructions=guest.instructions - cost.instructions,
            cycles=guest.cycles - cost.cycles,
            clock_hz=guest.clock_hz,
            digest=guest.digest,
            wall_seconds=self._elapsed() - cost.wall_seconds,
            processor_seconds=time.process_time() - before,
            checkpoint=None if checkpoint is None else str(checkpoint),
            net=self._net,
            accelerators=tuple(unit.design.unit for unit in self._units),
            unit_clocks_hz=tuple(unit.design.clock_hz for unit in self._units),
            timing=self._timing.describe(),
            counters=dict(guest.unit_counters),
            stderr=guest.output(ERRORS),
            console=guest.output(CONSOLE),
            fabric=None if self._fabric is None else self._fabric.record(),
        )

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def until(self, wanted: str) -> int:
        """Runs until the engine reports the end; returns its status."""
        while True:
            state, status = self._guest.run(_SLICE)
            self._show_output()
            if state == wanted:
                return status or 0
            if state == "off":
                raise RackwrightError(
                    f"the guest was switched off, with status {status}, before it was ready"
                )
            if wanted == "ready" and self._guest.cycles > _BOOT_LIMIT:
                raise RackwrightError(f"the guest is not ready after {self._guest.cycles:,} cycles")
            self._serve_console(idle=state == "idle")

    def _show_output(self) -> None:
        for port, shown in self._shown.items():
            text = self._guest.output(port, shown)
            if text:
                self._shown[port] += len(text)
                self._show(port, text)

    def _serve_console(self, *, idle: bool) -> None:
        if self._console is None:
            if idle:
                raise RackwrightError("the guest waits for an event that cannot occur")
            return
        # A user types in real time: a guest that only waits must not run ahead of it.
        simulated = (self._guest.cycles - self._simulated) / self._guest.clock_hz
        ahead = simulated - self._elapsed()
        typed = self._console.typed(wait_seconds=0.1 if idle else max(0.0, min(ahead, 0.1)))
        if typed:
            self._guest.send(typed)
