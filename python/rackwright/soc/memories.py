"""Memories of a chip: those that others bring with models of them, and arrays that tools infer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.export.memories import ExportedMemory, memories_of
from rackwright.synthesis.verilog import modules

_CONF = re.compile(r"name (\w+) depth (\d+) width (\d+) ports ([\w,]+)(?: mask_gran (\d+))?")


_MODULE = re.compile(r"^module (\w+)\(.*?^endmodule", re.MULTILINE | re.DOTALL)
_ARRAY = re.compile(r"^  reg +(?:\[(\d+):0\] )?(\w+) \[0:(\d+)\];", re.MULTILINE)
_ADDRESS = re.compile(r"^  wire +(?:\[\d+:0\] )?(\w+)_addr;", re.MULTILINE)


def arrays_of(verilog: str) -> Iterator[ExportedMemory]:
    """The arrays in what FIRRTL wrote, called MODULE.ARRAY; of one word, they are registers and left out."""
    for module in _MODULE.finditer(verilog):
        body = module[0]
        shapes = {name: (int(last) + 1, int(high or 0) + 1) for high, name, last in _ARRAY.findall(body)}
        ports: dict[str, list[str]] = {name: [] for name in shapes}
        for port in _ADDRESS.findall(body):
            owner = max((name for name in shapes if port.startswith(f"{name}_")), key=len, default=None)
            if owner is not None:
                ports[owner].append(port)
        for name, (depth, width) in shapes.items():
            writes = [port for port in ports[name] if re.search(rf"\b{port}_mask\b", body)]
            reads = [port for port in ports[name] if port not in writes]
            synchronous = all(f"{port}_addr_pipe_0" in body for port in reads)
            kinds = (*["write"] * len(writes), *["read"] * len(reads))
            if depth > 1:
                yield ExportedMemory(f"{module[1]}.{name}", depth, width, width, kinds, synchronous)


def cut_memories(file: Path) -> list[tuple[ExportedMemory, str]]:
    """Removes the memories that can become macros from a file of a unit; returns each with its Verilog."""
    text = file.read_text(encoding="utf-8")
    found = modules(text)
    memories = [memory for memory in memories_of(text) if memory.synchronous]
    for memory in memories:
        text = text.replace(found[memory.module].text, "")
    file.write_text(text, encoding="utf-8")
    return [(memory, found[memory.module].text) for memory in memories]


def read_conf(text: str) -> list[ExportedMemory]:
    """The memories of a list that FIRRTL wrote. Raises `RackwrightError` for a line of another form."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _CONF.fullmatch(line)
        if match is None:
            raise RackwrightError(f"the list of memories has the line {line!r}, which is none")
        width = int(match[3])
        ports = tuple(match[4].split(","))
        found.append(ExportedMemory(match[1], int(match[2]), width, int(match[5] or width), ports, True))
    return found


def model_of(memory: ExportedMemory) -> str:
    """A memory that FIRRTL leaves to others, in Verilog that simulates, and that tools for FPGAs infer.

    A read port returns, in the next cycle, the word without a write of the same cycle.
    """
    pins: list[str] = []
    body = [f"  reg [{memory.width - 1}:0] ram [0:{memory.depth - 1}];"]
    counts = {"RW": 0, "W": 0, "R": 0}
    for port in memory.ports:
        kind = port.removeprefix("m").replace("write", "W").replace("read", "R").upper()
        model = _Port(memory, kind, f"{kind}{counts[kind]}", masked=port.startswith("m"))
        counts[kind] += 1
        pins += model.pins()
        body += model.body()
    return "\n".join([f"module {memory.module}(", "  " + ",\n  ".join(pins), ");", *body, "endmodule", ""])


class _Port:
    """A port of a memory: `kind` is R, W or RW, `name` the prefix of its pins."""

    def __init__(self, memory: ExportedMemory, kind: str, name: str, masked: bool) -> None:
        self._kind, self._name = kind, name
        self._lane, self._lanes = memory.lane, memory.width // memory.lane if masked else 0
        self._word = f"[{memory.width - 1}:0]"
        self._address = f"[{max(1, (memory.depth - 1).bit_length()) - 1}:0]"
        both = kind == "RW"
        self._written, self._read = (
            f"{name}_{'wdata' if both else 'data'}",
            f"{name}_{'rdata' if both else 'data'}",
        )
        self._mask = f"{name}_{'wmask' if both else 'mask'}"

    def pins(self) -> Iterator[str]:
        """Its pins as a list of ports declares them."""
        yield f"input {self._address} {self._name}_addr"
        yield f"input {self._name}_en"
        yield f"input {self._name}_clk"
        if self._kind == "RW":
            yield f"input {self._name}_wmode"
        if self._kind != "R":
            yield f"input {self._word} {self._written}"
        if self._lanes:
            yield f"input [{self._lanes - 1}:0] {self._mask}"
        if self._kind != "W":
            yield f"output reg {self._word} {self._read}"

    def body(self) -> Iterator[str]:
        """Its function."""
        writes, reads = f"{self._name}_en", f"{self._name}_en"
        if self._kind == "RW":
            writes, reads = f"{writes} & {self._name}_wmode", f"{reads} & ~{self._name}_wmode"
        word = f"ram[{self._name}_addr]"
        yield f"  always @(posedge {self._name}_clk) begin"
        if self._kind != "R" and not self._lanes:
            yield f"    if ({writes}) {word} <= {self._written};"
        for lane in range(self._lanes if self._kind != "R" else 0):
            bits = f"[{(lane + 1) * self._lane - 1}:{lane * self._lane}]"
            yield f"    if ({writes} & {self._mask}[{lane}]) {word}{bits} <= {self._written}{bits};"
        if self._kind != "W":
            yield f"    if ({reads}) {self._read} <= {word};"
        yield "  end"
