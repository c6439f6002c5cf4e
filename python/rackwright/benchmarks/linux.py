"""Cost of Linux: booting compared with QEMU, programs under it, several harts, checkpoints, memory."""

from __future__ import annotations

import io
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import SOFTWARE
from rackwright import _engine
from rackwright.benchmarks import idle_worker
from rackwright.errors import RackwrightError
from rackwright.linux.archive import ArchiveWriter, Entry, content_of, folder, program
from rackwright.linux.boot import COMMAND_LINE, boot, restore
from rackwright.linux.image import Image, default_image, load_image
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server

QEMU = "qemu-system-riscv64"
CORES = ("functional", "rocket")
HARTS = 4
"""Busy ones, beside one alone."""

_SERVERS = (2, 18)
"""Numbers of idle servers, whose difference in memory is measured."""

_MEMORY = 1 << 30
_SLICE = 1 << 26
_LIMIT = 1 << 36
_INIT = rb"""#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
echo here is a shell
if /bin/busybox stty -F /dev/ttyS1 raw -echo 2>/dev/null; then
    printf 'ready\nexit 0\n' >/dev/ttyS1
fi
exec /bin/busybox poweroff -f
"""
"""Our machine communicates with a guest through the second serial port, which QEMU's machine does not
have."""

_SORT = SOFTWARE / "workloads" / "sort.cpp"


@dataclass(frozen=True)
class LinuxRow:
    """One figure, in processor time, and its ratio to its reference.

    `figure` and `cpu` identify the measurement. `measured` and `reference` are in `unit`: seconds,
    instructions per second or MiB. `ratio` is measured over reference; both are None if there is no
    reference.
    """

    figure: str
    cpu: str
    measured: float
    unit: str
    reference: float | None = None
    ratio: float | None = None


def measure(cores: Sequence[str] = CORES, tell: Callable[[str], None] = lambda _: None) -> Iterator[LinuxRow]:
    """Measures all figures once, one after the other; `tell` is called with the current measurement.

    Raises `RackwrightError` if QEMU is missing, or if a run fails.
    """
    if shutil.which(QEMU) is None:
        raise RackwrightError(f"no {QEMU}; install the package qemu-system-misc")
    image = load_image(default_image(tell))
    with tempfile.TemporaryDirectory() as scratch:
        yield from _boots(image, Path(scratch), cores, tell)
        yield from _programs(image, Path(scratch), cores, tell)
        yield _idle_servers(image, Path(scratch), tell)


def _compared(figure: str, cpu: str, measured: float, unit: str, reference: float) -> LinuxRow:
    return LinuxRow(figure, cpu, measured, unit, reference, measured / reference)


def _boots(
    image: Image, scratch: Path, cores: Sequence[str], tell: Callable[[str], None]
) -> Iterator[LinuxRow]:
    files = _smallest_files(image)
    tell(f"booting on {QEMU}")
    reference = _boot_on_qemu(image, files, scratch)
    for cpu in cores:
        tell(f"booting on {cpu}")
        guest = _engine.Guest(image.firmware, image.kernel, files, COMMAND_LINE, cpu, 1, _MEMORY)
        began = time.process_time()
        while guest.run(_SLICE)[0] != "off":
            if guest.cycles > _LIMIT:
                raise RackwrightError("the guest does not switch itself off")
        yield _compared("boot and power off", cpu, time.process_time() - began, "s", reference)


def _smallest_files(image: Image) -> bytes:
    """An initial file system with a shell that prints a line and powers the machine off."""
    stream = io.BytesIO()
    archive = ArchiveWriter(stream)
    for path in ("bin", "dev"):
        archive.add(folder(path))
    archive.add(Entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
    archive.add(program("bin/busybox", content_of(image.files, "usr/bin/busybox")))
    archive.add(program("init", _INIT))
    archive.close()
    return stream.getvalue()


def _boot_on_qemu(image: Image, files: bytes, scratch: Path) -> float:
    """Seconds of processor time, with the same firmware, kernel and files."""
    parts = {"bios": image.firmware, "kernel": image.kernel, "initrd": files}
    words = [QEMU, "-M", "virt", "-m", f"{_MEMORY >> 20}M", "-nographic", "-append", COMMAND_LINE]
    for name, content in parts.items():
        (scratch / name).write_bytes(content)
        words += [f"-{name}", str(scratch / name)]
    before = _children_seconds()
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=600)
    if b"here is a shell" not in result.stdout:
        raise RackwrightError(f"{QEMU} does not come to a shell")
    return _children_seconds() - before


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _programs(
    image: Image, scratch: Path, cores: Sequence[str], tell: Callable[[str], None]
) -> Iterator[LinuxRow]:
    """A program under Linux over the same in user mode, several harts over one, and restoring."""
    sort = compile_program([_SORT], scratch / "sort")
    checkpoint = scratch / "harts.checkpoint"
    tell("a checkpoint of a machine with several harts")
    boot(image, harts=HARTS, memory_bytes=_MEMORY, files=[sort], checkpoint=checkpoint)
    yield LinuxRow(
        "restore, and run `true`", "functional", _under_linux(checkpoint, "true", "functional").seconds, "s"
    )
    for cpu in cores:
        tell(f"{_SORT.name} on {cpu}, in user mode and under Linux")
        nothing = _under_linux(checkpoint, "true", cpu)
        alone = _sorts_under_linux(checkpoint, 1, cpu, nothing)
        yield _compared(
            "a program under Linux over user mode", cpu, alone, "instructions/s", _speed_of(cpu, sort)
        )
        tell(f"{HARTS} of {_SORT.name} on {cpu} under Linux")
        together = _sorts_under_linux(checkpoint, HARTS, cpu, nothing)
        yield _compared(f"{HARTS} busy harts over one", cpu, together, "instructions/s", alone)


def _speed_of(cpu: str, path: Path) -> float:
    began = time.process_time()
    result = Server(cpu).run(path)
    return result.instructions / (time.process_time() - began)


@dataclass(frozen=True)
class _Cost:
    """The output and the time of a command, from a checkpoint until power-off."""

    printed: bytes
    instructions: int
    seconds: float


def _under_linux(checkpoint: Path, command: str, cpu: str) -> _Cost:
    began = time.process_time()
    result = restore(checkpoint, command, cpu=cpu)
    return _Cost(result.stdout, result.instructions, time.process_time() - began)


def _sorts_under_linux(checkpoint: Path, copies: int, cpu: str, nothing: _Cost) -> float:
    """Instructions per second, excluding the time of a run of `nothing`."""
    cost = _under_linux(checkpoint, " & ".join(["./sort"] * copies) + " & wait", cpu)
    if len(set(cost.printed.split())) != 1 or len(cost.printed.split()) != copies:
        raise RackwrightError(f"{_SORT.name} printed {cost.printed!r}")
    return (cost.instructions - nothing.instructions) / (cost.seconds - nothing.seconds)


def _idle_servers(image: Image, scratch: Path, tell: Callable[[str], None]) -> LinuxRow:
    """Memory of each further server of a cluster that was restored from one checkpoint, pinged, and idles."""
    tell("idle servers from one checkpoint")
    checkpoint = scratch / "server.checkpoint"
    boot(image, memory_bytes=256 << 20, checkpoint=checkpoint)
    few, many = (_memory_of(checkpoint, servers) for servers in _SERVERS)
    each = (many - few) / (_SERVERS[1] - _SERVERS[0])
    return LinuxRow("a further idle server of a cluster", "functional", each / 2**20, "MiB")


def _memory_of(checkpoint: Path, servers: int) -> int:
    """The host memory of a process with this number of idle servers, in bytes."""
    words = [sys.executable, "-m", idle_worker.__name__, str(checkpoint), str(servers)]
    result = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    if result.returncode != 0:
        raise RackwrightError(f"a process with {servers} servers ended with {result.returncode}")
    return int(result.stdout)
