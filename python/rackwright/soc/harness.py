"""The harness of a chip for Verilator: memory, registers of programs, a loader, links of streams."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from bootstrap.paths import ENGINE, SOC
from rackwright.soc.check import PlacedUnit, stream_pairs
from rackwright.soc.value import Soc

_HARNESS = SOC / "harness"
_CRATES = ENGINE / "crates"
_INTERFACES = (
    _CRATES / "rtl" / "rtl" / "rocket" / "axi.h",
    _CRATES / "rtl" / "rtl" / "rocket" / "interface.h",
    _CRATES / "memory" / "dram" / "dram.h",
)
"""Headers that the engine has, too."""


def write_harness(soc: Soc, units: Sequence[PlacedUnit], harness: Path) -> None:
    """Writes the folder `harness`: its sources, and `map.h` with what is particular to the chip."""
    shutil.copytree(_HARNESS, harness)
    for header in _INTERFACES:
        shutil.copyfile(header, harness / header.name)
    (harness / "map.h").write_text("\n".join(_map(soc, units)) + "\n", encoding="utf-8")


def _map(soc: Soc, units: Sequence[PlacedUnit]) -> Iterator[str]:
    numbers = (soc.memory.base, soc.memory.size, soc.memory_cycles, soc.to_host, soc.console, soc.uart)
    pairs = stream_pairs(units)
    yield "// The chip: memory and its latency, the registers by which programs end and print, pins."
    yield "#pragma once"
    yield "#include <tuple>"
    yield ""
    yield f'#include "V{soc.top}.h"'
    yield '#include "board.h"'
    yield '#include "network.h"'
    yield '#include "pins.h"'
    yield ""
    yield "namespace soc {"
    yield ""
    yield f"using Chip = V{soc.top};"
    yield ""
    yield f"constexpr Board::Map map = {{{', '.join(f'{number:#x}' for number in numbers)}}};"
    yield f"constexpr uint64_t clock_hz = {soc.clock_hz};"
    yield f"constexpr uint64_t link_cycles = {soc.link_cycles};"
    yield "// Whether memory takes as long as DRAM does."
    yield f"constexpr bool dram = {str(soc.dram).lower()};"
    yield "// Whether programs have an Internet address."
    yield f"constexpr bool networked = {str(bool(pairs)).lower()};"
    yield ""
    for number, prefix in enumerate(soc.prefixes):
        yield f"struct System{number} {{"
        yield f"    SOC_AXI4(Memory, {prefix}mem_axi4_0);"
        yield f"    SOC_AXI4(Devices, {prefix}mmio_axi4_0);"
        if pairs and not soc.joined_by:
            yield f"    SOC_STREAMS(Streams, {', '.join(next(iter(pairs.values())))});"
        else:
            yield "    using Streams = NoNetwork;"
        yield "};"
    systems = ", ".join(f"System{number}" for number in range(len(soc.prefixes)))
    yield f"using Systems = std::tuple<{systems}>;"
    yield ""
    yield "}  // namespace soc"
