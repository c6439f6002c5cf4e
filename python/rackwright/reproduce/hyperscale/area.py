"""The six units of the chip, and the known parts of a die with two systems of them."""

from __future__ import annotations

from collections.abc import Mapping

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import Elaboration, elaborate_all
from rackwright.reports.plots import Bar, bar_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare
from rackwright.soc.value import CacheConfig, Soc
from rackwright.synthesis.process import Process, load_process
from rackwright.synthesis.table import row_of_manifest

_UNITS = (
    "protobuf-deserialize",
    "protobuf-serialize",
    "snappy-decompress",
    "snappy-compress",
    "zstd-decompress",
    "zstd-compress",
)
_NIC = Elaboration("nic", {"network-bytes": 16})
_SYSTEMS = 2
"""On the die; they are joined by their NICs."""

_LINE_BITS = 512
_TAG_BITS = 22
"""Of a line of L1: 20 of the address and two of its state (Rocket Chip 1.2.6, `HellaCache.scala`)."""

_SYSTEM = REPOSITORY / "examples" / "soc" / "hyperscale.yaml"
"""One of the two systems, as far as we can compose it."""


def _areas(elaborations: list[Elaboration]) -> list[float]:
    """The areas of each from synthesis, in mm²."""
    found = []
    for elaboration, manifest in zip(elaborations, elaborate_all(elaborations), strict=True):
        row = row_of_manifest(manifest)
        if row is None:
            name = elaboration.unit
            raise RackwrightError(f"{name} has no row of synthesis: `./rw synth {name} --update` makes it")
        found.append(row.area_mm2)
    return found


def _chart(title: str, areas: Mapping[str, float]) -> str:
    return bar_chart(title, [Bar(name, area, f"{area:.3f} mm²", "unit") for name, area in areas.items()])


def _measure_units(settings: Settings) -> Outcome:
    settings.detail("hyperscale-area: elaborating")
    areas = dict(zip(_UNITS, _areas([Elaboration(unit) for unit in _UNITS]), strict=True))
    measured = {**areas, "six units": sum(areas.values())}
    return Outcome(compare("hyperscale/area.csv", measured), [_chart("Area, mm²", areas)])


def _cache_mm2(cache: CacheConfig, process: Process) -> float:
    """The data and the tags of an L1 as macros with one port, without its logic."""
    data = process.macro(cache.sets, _LINE_BITS, "1RW").area_um2
    tags = process.macro(cache.sets, _TAG_BITS, "1RW").area_um2
    return cache.ways * (data + tags) / 1e6


def _measure_chip(settings: Settings) -> Outcome:
    settings.detail("hyperscale-chip: elaborating")
    soc, process = Soc.load(_SYSTEM), load_process()
    *units, nic = _areas([*map(Elaboration, _UNITS), _NIC])
    caches = sum(_cache_mm2(cache, process) for cache in (soc.instruction_cache, soc.data_cache))
    parts = {
        "units": _SYSTEMS * sum(units),
        "NICs": _SYSTEMS * nic,
        "memories of L1": _SYSTEMS * len(soc.harts) * caches,
    }
    measured = {**parts, "die": sum(parts.values())}
    return Outcome(compare("hyperscale/chip.csv", measured), [_chart("Area of both systems, mm²", parts)])


AREA = Experiment(
    "hyperscale-area",
    "Area of the units of the hyperscale SoC",
    "Karandikar 2024, sections 6.5 and 7.6",
    "synthesis of the six units, 16/22 nm class (validation/synthesis)",
    _measure_units,
)
CHIP = Experiment(
    "hyperscale-chip",
    "What is known of the die with two hyperscale SoCs",
    "Karandikar 2024, section 1.2",
    "units and NICs by synthesis, memories of L1 by the rules of macros; the rest of the die is not here",
    _measure_chip,
)
