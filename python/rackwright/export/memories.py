"""Which modules of a unit are memories, in the form that Chipyard's compiler of macros reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.synthesis.memories import recognise
from rackwright.synthesis.verilog import modules


@dataclass(frozen=True)
class ExportedMemory:
    """A module that is a memory: `depth` words of `width` bits, with a write granularity of `lane` bits.

    `ports` are, in this order, read-write, write-only and read-only ports. `synchronous` memories return read
    data in the next cycle; only they can become macros.
    """

    module: str
    depth: int
    width: int
    lane: int
    ports: tuple[str, ...]
    synchronous: bool

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> ExportedMemory:
        """The memory of a row of `--json`."""
        return cls(**{**record, "ports": tuple(record["ports"])})

    @property
    def line(self) -> str:
        """It in a `.conf` file, as FIRRTL and firtool write them for memories that are replaced."""
        gran = f" mask_gran {self.lane}" if self.lane < self.width else ""
        return f"name {self.module} depth {self.depth} width {self.width} ports {','.join(self.ports)}{gran}"

    def record(self) -> dict[str, Any]:
        """The row of `--json`."""
        return {
            "module": self.module,
            "depth": self.depth,
            "width": self.width,
            "lane": self.lane,
            "ports": list(self.ports),
            "synchronous": self.synchronous,
        }


def memories_of(verilog: str) -> Iterator[ExportedMemory]:
    """The memories of a file that elaboration wrote, each a module of its own."""
    for module in modules(verilog).values():
        memory = recognise(module)
        if memory is None:
            continue
        widths = {port.name: port.width or 1 for port in module.ports}
        masks = [width for name, width in widths.items() if name.endswith("mask")]
        lane = memory.width // max(masks, default=1)
        masked = "m" if masks else ""
        ports = (
            *[f"{masked}rw"] * memory.shared_ports,
            *[f"{masked}write"] * memory.write_ports,
            *["read"] * memory.read_ports,
        )
        yield ExportedMemory(module.name, memory.depth, memory.width, lane, ports, memory.synchronous)
