"""Calls of a fleet's compression, and the same unit near the core and on cards that serves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rackwright.errors import RackwrightError
from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex, System
from rackwright.fabric.fabric import Fabric
from rackwright.formats import CODECS, FORMATS
from rackwright.generation.suite import Suite
from rackwright.hardware.designs import ParameterValue, elaborate
from rackwright.unit import commands
from rackwright.unit.alone import Unit
from rackwright.unit.config import UnitConfig

HERTZ = 2_000_000_000
"""The clock that the unit declares, near the core and on cards."""


@dataclass(frozen=True)
class Call:
    """`data` is the unit's input, `expected` the result of the official library."""

    data: bytes
    plain: bytes

    @property
    def plain_bytes(self) -> int:
        """The bytes to which speeds refer."""
        return len(self.plain)


@dataclass(frozen=True)
class Served:
    """A unit of a format, by name, and its calls."""

    unit: str
    parameters: Mapping[str, ParameterValue]
    calls: Sequence[Call]

    @property
    def operation(self) -> str:
        """The operation of the unit."""
        return self.unit.partition("-")[2]

    def room(self, call: Call) -> int:
        """The buffer for the result of a call: the decompressed size, or more than any compressed size."""
        decompressing = self.operation == "decompress"
        return call.plain_bytes if decompressing else call.plain_bytes + call.plain_bytes // 6 + 1024

    def check(self, call: Call, status: str, output: bytes) -> None:
        """Raises `RackwrightError` for a result that the official library does not agree with."""
        codec = CODECS[self.unit.partition("-")[0]]
        found = output if self.operation == "decompress" else codec.unpack(output, call.plain_bytes)
        if status != "ok" or found != call.plain:
            raise RackwrightError(f"{self.unit}: a call of {call.plain_bytes} bytes is wrong: {status}")

    def near(self, placement: str) -> list[float]:
        """Nanoseconds of each call of the unit beside a core, or at another placement of `rw accelerate`."""
        manifest = elaborate(self.unit, self.parameters)
        unit = Unit(UnitConfig(str(manifest), placement=placement))
        return [self._near(unit, call) for call in self._warmed()][1:]

    def _near(self, unit: Unit, call: Call) -> float:
        unit.release_all()
        source = unit.load(call.data)
        target = unit.reserve(self.room(call), "rw")
        unit.bench.warm(source.address, source.length, "llc")
        begin = unit.cycle
        commands.start(unit, source, target)
        unit.query(commands.CHECK_COMPLETION)
        cycles = unit.cycle - begin
        ended = commands.wait(unit)
        self.check(call, ended.status, unit.read(target, ended.output_bytes))
        return cycles * 1e9 / HERTZ

    def on_card(
        self, link: PcieLink, root_ns: float, switch_ns: float | None = None
    ) -> tuple[list[float], str]:
        """Nanoseconds of each call of the unit on a card of a fabric, and the fabric's digest."""
        root = RootComplex(latency_ns=root_ns)
        card = Card(self.unit, "card", parameters=self.parameters)
        if switch_ns is None:
            root.connect(card, link)
        else:
            switch = PcieSwitch(latency_ns=switch_ns)
            root.connect(switch, link)
            switch.connect(card, link)
        fabric = Fabric(System.of(root))
        unit = fabric.unit("card")
        spans = []
        for call in self._warmed():
            done = unit.run(call.data, self.room(call))
            self.check(call, done.status, done.output)
            spans.append(done.nanoseconds)
        return spans[1:], fabric.digest

    def _warmed(self) -> list[Call]:
        """The calls after one that does not count: a freshly reset unit first clears its tables."""
        return [min(self.calls, key=lambda call: call.plain_bytes), *self.calls]

    def speed(self, nanoseconds: Sequence[float]) -> float:
        """GB/s of plain bytes over all calls."""
        return sum(call.plain_bytes for call in self.calls) / sum(nanoseconds)


def calls_of(suite: Suite, operation: str, count: int, progress: Callable[[str], None]) -> list[Call]:
    """Calls at equal distances in a suite's operation sorted by size, `count` in total."""
    files = sorted(suite.only(operation), key=lambda file: file.size)
    chosen = [files[(2 * place + 1) * len(files) // (2 * count)] for place in range(count)]
    made = []
    for file in chosen:
        progress(f"a call of {file.size} bytes")
        plain = suite.read(file)
        packs = operation == "decompress"
        data = FORMATS[file.format].compress(plain, file.level, file.window_log2) if packs else plain
        made.append(Call(data, plain))
    return made
