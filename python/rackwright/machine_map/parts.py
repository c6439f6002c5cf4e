"""The parts of a server, as the engine will build it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rackwright import _engine
from rackwright.machine.parameters import memory_parameters
from rackwright.machine.server import Server
from rackwright.machine.workloads import Program


@dataclass(frozen=True)
class Part:
    """One part of a server.

    `kind` is `harts`, `memory`, `unit`, `device` or `pci`. `address` and `size_bytes` are those of its
    registers or bytes, None for a part that harts reach only by instructions; `functs` are the ranges of
    commands of a unit, as `custom-n` opcode, first and last number. `interrupt` is its source at the PLIC.
    """

    kind: str
    name: str
    clock_hz: int
    address: int | None = None
    size_bytes: int | None = None
    interrupt: int | None = None
    functs: tuple[tuple[int, int, int], ...] = ()
    detail: str = ""

    def record(self) -> dict[str, Any]:
        """The part in the format of the JSON output."""
        return {**asdict(self), "functs": [list(each) for each in self.functs]}


@dataclass(frozen=True)
class ServerMap:
    """A server by its parts. `runs` is `linux`, `bare-metal` or `program`."""

    name: str
    runs: str
    cpu: str
    harts: int
    clock_hz: int
    parts: tuple[Part, ...]

    def of_kind(self, *kinds: str) -> list[Part]:
        """The parts of these kinds, in their order."""
        return [part for part in self.parts if part.kind in kinds]

    def record(self) -> dict[str, Any]:
        """As `rw map --json` prints it; see docs/json.md."""
        return {**asdict(self), "parts": [part.record() for part in self.parts]}


def map_server(server: Server, name: str, *, networked: bool) -> ServerMap:
    """The parts of `server`, which has a NIC on a link when it is `networked`.

    Raises `EngineError` for units that cannot be attached together.
    """
    default = next(each.default for each in memory_parameters() if each.name == "clock-hz")
    clock = server.timing.memory.get("clock-hz", default)
    in_user_mode = isinstance(server.workload, Program) or not networked
    runs = "linux" if server.linux else "program" if in_user_mode else "bare-metal"
    parts = [
        Part("harts", server.cpu, clock, detail=f"{server.harts} of the model {server.cpu}"),
        _memory(server, runs, clock),
        *_units(server),
        *_devices(runs, clock, networked=networked),
    ]
    return ServerMap(name, runs, server.cpu, server.harts, clock, tuple(parts))


def _memory(server: Server, runs: str, clock: int) -> Part:
    base, bare_metal_bytes, user_bytes = _engine.memory_places()
    if runs == "program":
        return Part("memory", "address space", clock, 0, user_bytes, detail="of the process")
    if server.linux:
        size = server.linux.memory_bytes
        return Part("memory", "memory", clock, base, size, detail="" if size else "as in the checkpoint")
    return Part("memory", "memory", clock, base, bare_metal_bytes)


def _units(server: Server) -> Iterator[Part]:
    reached = _engine.reach_of([unit.design for unit in server.units])
    for (name, functs, registers), placed in zip(reached, server.units, strict=True):
        size = None if registers is None else _engine.unit_register_bytes()
        yield Part(
            "unit",
            name,
            placed.design.clock_hz,
            registers,
            size,
            functs=tuple(functs),
            detail=f"beside each hart, {placed.placement}",
        )


def _devices(runs: str, clock: int, *, networked: bool) -> Iterator[Part]:
    if runs == "program":
        return
    linux = runs == "linux"
    rows = _engine.linux_devices() if linux else _engine.bare_metal_devices(networked)
    for name, base, size, source in rows:
        yield Part("device", name, clock, base, size, source or None)
    functions = ["virtio entropy", *(["virtio nic"] if networked else [])] if linux else []
    for number, name in enumerate(functions):
        place = f"function 00:{number:02x}.0"
        yield Part("pci", name, clock, interrupt=_engine.pci_interrupt(number), detail=place)
