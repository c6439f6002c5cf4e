"""Compression units on cards, compared with the same near the core: the slow-down, part by part."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.fabric import PcieLink
from rackwright.generation import load_suite
from rackwright.reports.plots import stacked_chart
from rackwright.reproduce.cdpu.suites import suite
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.fabric.calls import Served, calls_of
from rackwright.reproduce.reference import compare

UNITS = ("snappy-decompress", "zstd-decompress", "snappy-compress", "zstd-compress")
FEW_OUTSTANDING = 16
"""Beats with which the Snappy decompressor is as fast near the core as the source's (`cdpu-7.11`)."""

FILES, CALLS, QUICK_CALLS = 400, 40, 8

USUAL_LINK, USUAL_ROOT_NS, SWITCH_NS = PcieLink(gen=4, lanes=16), 60.0, 110.0
SHORT_DELAY_NS = 1.0


@dataclass(frozen=True)
class Rung:
    """A fabric: the component that it adds to the previous one is a part of the additional time on a card."""

    part: str
    link: PcieLink
    root_ns: float = USUAL_ROOT_NS
    switch_ns: float | None = None


RUNGS = (
    # The fastest link that there is, and no time but that of its bytes.
    Rung("function and packets", PcieLink(gen=5, lanes=16, delay_ns=SHORT_DELAY_NS), root_ns=0.0),
    Rung("root complex", PcieLink(gen=5, lanes=16, delay_ns=SHORT_DELAY_NS)),
    Rung("delay of the link", PcieLink(gen=5, lanes=16)),
    Rung("rate of the link", USUAL_LINK),
)
BELOW_SWITCH = Rung("switch", USUAL_LINK, switch_ns=SWITCH_NS)


@dataclass(frozen=True)
class Measured:
    """GB/s of a unit near the core, with 200 ns injected into each of its requests, and on a card.

    `parts` are shares of the time near the core that a card takes more, and add up to the card's.
    """

    near: float
    injected: float
    card: float
    below_switch: float
    parts: dict[str, float]
    digests: list[str]


def measure_unit(served: Served, settings: Settings) -> Measured:
    """All placements of a unit, over the same calls."""
    near, injected = (served.near(placement) for placement in ("near-core", "pcie"))
    before, parts, digests = sum(near), {}, []
    spans = near
    for rung in RUNGS:
        settings.detail(f"fabric-placement: {served.unit}, {rung.part}")
        spans, digest = served.on_card(rung.link, rung.root_ns)
        parts[rung.part] = (sum(spans) - before) / sum(near)
        before = sum(spans)
        digests.append(digest)
    below, digest = served.on_card(BELOW_SWITCH.link, BELOW_SWITCH.root_ns, BELOW_SWITCH.switch_ns)
    return Measured(
        near=served.speed(near),
        injected=served.speed(injected),
        card=served.speed(spans),
        below_switch=served.speed(below),
        parts=parts,
        digests=[*digests, digest],
    )


def measure(settings: Settings) -> Outcome:
    """Some minutes; the units are compiled before, once."""
    found = {}
    for unit in UNITS:
        family, _, operation = unit.partition("-")
        folder = suite(f"{family}-fleet", operation, settings.detail, quick=settings.quick, files=FILES)
        count = QUICK_CALLS if settings.quick else CALLS
        calls = calls_of(load_suite(folder), operation, count, settings.detail)
        found[unit] = measure_unit(Served(unit, {}, calls), settings)
        if unit == UNITS[0]:
            few = Served(unit, {"outstanding": FEW_OUTSTANDING}, calls)
            found[f"{unit}, outstanding {FEW_OUTSTANDING}"] = measure_unit(few, settings)
    rows = compare("fabric/placement.csv", quantities(found), partial=settings.quick)
    labels = list(found)
    shares = {name: [found[unit].parts[name] for unit in labels] for name in found[labels[0]].parts}
    chart = stacked_chart("What a card takes more than near the core, over that", "", labels, shares)
    return Outcome(rows, [chart], [digest for each in found.values() for digest in each.digests])


def quantities(found: dict[str, Measured]) -> dict[str, float]:
    """The compared quantities."""
    values: dict[str, float] = {}
    for name, each in found.items():
        values |= {
            f"{name}: near-core": each.near,
            f"{name}: card": each.card,
            f"{name}: near-core over card": each.near / each.card,
            f"{name}: near-core over card below a switch": each.near / each.below_switch,
            f"{name}: near-core over 200 ns injected": each.near / each.injected,
        }
        values |= {f"{name}: {part}": share for part, share in each.parts.items()}
    slower = {unit: found[unit].near / found[unit].card for unit in UNITS}
    injected = {unit: found[unit].near / found[unit].injected for unit in UNITS}
    for title, by in (("card", slower), ("200 ns injected", injected)):
        values |= {
            f"{title}: Snappy over ZStd decompression": by[UNITS[0]] / by[UNITS[1]],
            f"{title}: Snappy over ZStd compression": by[UNITS[2]] / by[UNITS[3]],
            f"{title}: Snappy decompression over compression": by[UNITS[0]] / by[UNITS[2]],
            f"{title}: ZStd decompression over compression": by[UNITS[1]] / by[UNITS[3]],
        }
    return values


EXPERIMENT = Experiment(
    "fabric-placement",
    "Units of compression on cards of a PCIe fabric",
    "Karandikar 2024, section 7.6, figures 7.11 to 7.15",
    "Each unit in RTL at 2 GHz: near the core, with 200 ns injected, and on cards of five fabrics.",
    measure,
)
