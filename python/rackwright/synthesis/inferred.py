"""Memories that yosys inferred from a user's RTL, as modules of their own in the form that firtool writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.synthesis.verilog import FirtoolModule

LEAST_BITS = 1024
"""Minimum number of bits of a memory with a separate module; a smaller one stays with the logic around it."""

Bits = Sequence[int | str]
"""Bits of yosys's JSON, the lowest first: numbers of nets, or the constants "0", "1" and "x"."""


def extracted(name: str, record: dict[str, Any]) -> list[FirtoolModule]:
    """Moves the memories of the module `name` out of `record`, its JSON, and returns them as modules.

    Not moved are small memories, those without a write port, and those that cannot be macros: with several
    clocks, falling edges, resets of read data, or reads that return the data written in the same cycle.
    """
    found = []
    for instance, cell in record["cells"].items():
        if cell["type"] != "$mem_v2":
            continue
        memory = _Inferred(cell["parameters"], cell["connections"])
        if memory.bits >= LEAST_BITS and memory.is_plain:
            label = "".join(
                letter if letter.isalnum() else "_" for letter in instance.split("$")[-1].split(".")[-1]
            )
            module = memory.module(f"{name}_{label}_{memory.depth}x{memory.width}")
            cell |= {"type": module.name, "parameters": {}, "port_directions": {}, "attributes": {}}
            cell["connections"] = memory.pins()
            for port in module.ports:
                cell["port_directions"][port.name] = port.direction
            found.append(module)
    return found


@dataclass(frozen=True)
class _Inferred:
    """A `$mem_v2` of yosys."""

    parameters: Mapping[str, str]
    nets: Mapping[str, Bits]

    def _number(self, parameter: str) -> int:
        return int(self.parameters[parameter].replace("x", "0") or "0", 2)

    @property
    def depth(self) -> int:
        return self._number("SIZE")

    @property
    def width(self) -> int:
        return self._number("WIDTH")

    @property
    def bits(self) -> int:
        return self.depth * self.width

    @property
    def _reads(self) -> range:
        return range(self._number("RD_PORTS"))

    @property
    def _writes(self) -> range:
        return range(self._number("WR_PORTS"))

    @property
    def _address_bits(self) -> int:
        return max(1, (self.depth - 1).bit_length())

    def _is_clocked(self, port: int) -> bool:
        return bool(self._number("RD_CLK_ENABLE") >> port & 1)

    @property
    def is_plain(self) -> bool:
        """Whether one module in firtool's form is equivalent."""
        clocked = [port for port in self._reads if self._is_clocked(port)]
        clocks = {self.nets["WR_CLK"][port] for port in self._writes}
        clocks |= {self.nets["RD_CLK"][port] for port in clocked}
        rising = all(self._number("WR_CLK_POLARITY") >> port & 1 for port in self._writes) and all(
            self._number("RD_CLK_POLARITY") >> port & 1 for port in clocked
        )
        resets = [self.nets[pin][port] for pin in ("RD_ARST", "RD_SRST") for port in clocked]
        return (
            bool(self._writes)
            and len(clocks) == 1
            and rising
            and self._number("WR_CLK_ENABLE") == (1 << len(self._writes)) - 1
            and set(resets) <= {"0", "x"}
            and self._number("OFFSET") == 0
            and not self._number("RD_TRANSPARENCY_MASK")
            and not self._number("RD_WIDE_CONTINUATION")
            and not self._number("WR_WIDE_CONTINUATION")
        )

    def _slice(self, pin: str, port: int, width: int) -> Bits:
        """The bits of one port, each of whose pins has `width` bits."""
        return self.nets[pin][port * width : (port + 1) * width]

    def _address(self, pin: str, port: int) -> Bits:
        return self._slice(pin, port, self._number("ABITS"))[: self._address_bits]

    def _lane(self, port: int) -> int:
        """Bits of a word that are always written together: the largest such share of a word."""
        enables = self._slice("WR_EN", port, self.width)
        shares = (self.width // lanes for lanes in range(1, self.width + 1) if self.width % lanes == 0)
        return next(
            share
            for share in shares
            if all(len(set(enables[low : low + share])) == 1 for low in range(0, self.width, share))
        )

    def pins(self) -> dict[str, list[int | str]]:
        """The connections of each pin of the module."""
        found: dict[str, Bits] = {}
        for port in self._reads:
            found[f"R{port}_addr"] = self._address("RD_ADDR", port)
            found[f"R{port}_en"] = self.nets["RD_EN"][port : port + 1] if self._is_clocked(port) else ["1"]
            found[f"R{port}_clk"] = self.nets["WR_CLK"][:1]
            found[f"R{port}_data"] = self._slice("RD_DATA", port, self.width)
        for port in self._writes:
            enables, lane = self._slice("WR_EN", port, self.width), self._lane(port)
            found[f"W{port}_addr"] = self._address("WR_ADDR", port)
            found[f"W{port}_en"] = enables[:1] if lane == self.width else ["1"]
            found[f"W{port}_clk"] = self.nets["WR_CLK"][:1]
            found[f"W{port}_data"] = self._slice("WR_DATA", port, self.width)
            if lane < self.width:
                found[f"W{port}_mask"] = enables[::lane]
        return {name: list(bits) for name, bits in found.items()}

    def module(self, name: str) -> FirtoolModule:
        """The memory as firtool would write it."""
        outputs = {f"R{port}_data" for port in self._reads}
        ports = [
            f"  {'output' if pin in outputs else 'input'} [{len(bits) - 1}:0] {pin}"
            if len(bits) > 1
            else f"  {'output' if pin in outputs else 'input'} {pin}"
            for pin, bits in self.pins().items()
        ]
        lines = [f"module {name}(", ",\n".join(ports), ");", ""]
        lines.append(f"  reg [{self.width - 1}:0] Memory[0:{self.depth - 1}];")
        for port in self._writes:
            lines += self._write(port)
        for port in self._reads:
            lines += self._read(port)
        return FirtoolModule(name, "\n".join([*lines, "endmodule"]))

    def _write(self, port: int) -> Iterator[str]:
        lane = self._lane(port)
        yield f"  always @(posedge W{port}_clk) begin"
        if lane == self.width:
            yield f"    if (W{port}_en)"
            yield f"      Memory[W{port}_addr] <= W{port}_data;"
        else:
            for place in range(self.width // lane):
                part = f"[{(place + 1) * lane - 1}:{place * lane}]"
                chosen = f"W{port}_mask[{place}]"
                yield f"    if (W{port}_en & {chosen})"
                yield f"      Memory[W{port}_addr]{part} <= W{port}_data{part};"
        yield "  end"

    def _read(self, port: int) -> Iterator[str]:
        if not self._is_clocked(port):
            yield f"  assign R{port}_data = Memory[R{port}_addr];"
            return
        yield f"  reg [{self.width - 1}:0] _R{port}_data_d0;"
        yield f"  always @(posedge R{port}_clk) begin"
        yield f"    if (R{port}_en)"
        yield f"      _R{port}_data_d0 <= Memory[R{port}_addr];"
        yield "  end"
        yield f"  assign R{port}_data = _R{port}_data_d0;"
