"""Which modules are memories, and whether they become macros or flops.

firtool writes each memory as a module of its own, with ports named R0, W0 and RW0 and the array `Memory`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rackwright.synthesis.process import Process
from rackwright.synthesis.verilog import FirtoolModule, Module

_ARRAY = re.compile(r"^\s+reg\s+(?:\[(\d+):0\]\s+)?Memory\[0:(\d+)\];", re.MULTILINE)
_DATA = re.compile(r"(RW|R|W)\d+_[rw]?data")

LEAST_ALONE = 4096
"""Minimum number of bits of a memory in flops that is mapped separately; a smaller one is mapped with the
logic around it.
"""

SLICE_BITS = 2048
"""Flops of a memory that are mapped at once; the others are copies."""


@dataclass(frozen=True)
class Memory:
    """A memory of `depth` words of `width` bits; `read_ports` may only read, `shared_ports` read or write.

    `synchronous` ones return read data in the next cycle.
    """

    module: FirtoolModule
    depth: int
    width: int
    read_ports: int
    write_ports: int
    shared_ports: int
    synchronous: bool

    @property
    def bits(self) -> int:
        """All that it holds."""
        return self.depth * self.width

    @property
    def ports(self) -> str:
        """The ports in short, for example "2R1W"."""
        counts = ((self.read_ports, "R"), (self.write_ports, "W"), (self.shared_ports, "RW"))
        return "".join(f"{count}{kind}" for count, kind in counts if count)

    @property
    def macro_ports(self) -> str | None:
        """The ports of a suitable macro, or None: macros read one word and write one."""
        if not self.synchronous:
            return None
        if (self.read_ports, self.write_ports, self.shared_ports) == (0, 0, 1):
            return "1RW"
        return "1R1W" if self.read_ports and (self.write_ports, self.shared_ports) == (1, 0) else None

    def is_macro(self, process: Process) -> bool:
        """Whether it becomes macros. Several read ports need as many copies."""
        return self.macro_ports is not None and self.bits >= process.least_bits

    @property
    def copies(self) -> int:
        """The number of macros."""
        return max(1, self.read_ports)


def recognise(module: Module) -> Memory | None:
    """The memory that a module is, or None."""
    if not isinstance(module, FirtoolModule):
        return None
    array = _ARRAY.search(module.text)
    if array is None:
        return None
    kinds = [match[1] for port in module.ports if (match := _DATA.fullmatch(port.name))]
    shared = sum(port.name.endswith("_rdata") for port in module.ports)
    return Memory(
        module,
        int(array[2]) + 1,
        int(array[1] or 0) + 1,
        kinds.count("R"),
        kinds.count("W"),
        shared,
        "_d0" in module.text,
    )


def sliced(memory: Memory) -> list[FirtoolModule]:
    """The modules that replace a large memory in flops: parallel columns of it, which are equal.

    A small memory, or one that writes parts of a word, is not changed.
    """
    columns = max(1, -(-memory.bits // SLICE_BITS))
    width = -(-memory.width // columns)
    if (
        columns == 1
        or width * columns > 4 * memory.width
        or "_mask" in memory.module.header
        or memory.width < 33
    ):
        return [memory.module]
    bounds = [(low, min(low + width, memory.width)) for low in range(0, memory.width, width)]
    slices = {high - low: _column(memory, high - low) for low, high in bounds}
    instances = [_instance(memory, slices[high - low].name, low, high) for low, high in bounds]
    text = "\n".join([memory.module.header, *instances, "endmodule"])
    return [FirtoolModule(memory.module.name, text), *slices.values()]


def _column(memory: Memory, width: int) -> FirtoolModule:
    name = f"{memory.module.name}_column{width}"
    text = memory.module.text.replace(f"module {memory.module.name}(", f"module {name}(")
    text = text.replace(f"[{memory.width - 1}:0]", f"[{width - 1}:0]")
    return FirtoolModule(name, text.replace(f"{memory.width}'bx", f"{width}'bx"))


def _instance(memory: Memory, column: str, low: int, high: int) -> str:
    pins = [
        f".{port.name}({port.name}[{high - 1}:{low}])"
        if port.width == memory.width
        else f".{port.name}({port.name})"
        for port in memory.module.ports
    ]
    return f"  {column} column{low} (\n    {', '.join(pins)}\n  );"
