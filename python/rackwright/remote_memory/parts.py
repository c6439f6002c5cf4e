"""The breakdown of a remote fault's time, from the engine's stamps of hart, unit, NIC and link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median_low

from rackwright.cluster import Cluster, Ethernet, MemoryBlade
from rackwright.errors import RackwrightError
from rackwright.remote_memory.measure import Paging, paged_server

TICKS_PER_NS = 16
"""Ticks are the largest time of which the cycles of hart (2 GHz) and link (3.2 GHz) are multiples."""
_HART_TICKS, _LINK_TICKS = 8, 5
_LONG = 100
"""Cycles of the link that only a message with a page takes."""

_UNIT = (
    ("asked", "hart: the walk has met the entry, up to the unit's command"),
    ("first out", "unit: it reads the entry, and asks"),
    ("last out", "unit: flits of the request behind the first"),
    ("arrives", "link, out"),
    ("answers", "blade"),
    ("first in", "link, in"),
    ("last in", "link: flits of the page behind the first"),
    ("served", "unit: last writes of the page, the entry, its record, the answer"),
    ("resumes", "hart: it goes on"),
)
_SOFTWARE = (
    ("writes", "runtime: trap, what the fault is, the request"),
    ("first out", "NIC: it reads the request, and sends it"),
    ("last out", "NIC: flits of the request behind the first"),
    ("arrives", "link, out"),
    ("answers", "blade"),
    ("first in", "link, in"),
    ("last in", "link: flits of the page behind the first"),
    ("line up", "NIC: it writes the page, up to its interrupt"),
    ("wakes", "hart: it wakes"),
    ("leaves", "runtime: what has come, another frame for the NIC, the entry, its record, the return"),
)
_CHAINS = {"unit": ("asks", _UNIT), "software": ("faults", _SOFTWARE)}


@dataclass(frozen=True)
class FaultParts:
    """The breakdown of the time of remote faults.

    `faults` is their number, `undisturbed` the number of those during which no other frame passed the link:
    only for these can frames be attributed. `parts` are those of the median one, in ns: they add up to `ns`
    to the cycle. `means` are over all undisturbed ones.
    """

    paging: Paging
    faults: int
    undisturbed: int
    ns: float
    parts: dict[str, float]
    means: dict[str, float]


@dataclass(frozen=True)
class _Stamp:
    ticks: int
    event: str


def fault_parts(
    program: Path,
    arguments: Sequence[str] = (),
    *,
    local_bytes: int,
    paging: Paging = "software",
    link_latency_us: float = 2.0,
    batch: int = 0,
    files: Sequence[Path] = (),
    cpu: str = "rocket",
    until_ms: float = 60_000.0,
) -> FaultParts:
    """Runs a program like `run_paged`, on one hart, with one blade right below the server.

    Raises `RackwrightError` if the program does not end, or if no fault was undisturbed.
    """
    blade = MemoryBlade(name="blade0")
    server = paged_server(
        *(program, arguments, [blade]),
        local_bytes=local_bytes,
        paging=paging,
        batch=batch,
        files=files,
        cpu=cpu,
    )
    server.connect(blade)
    cluster = Cluster(server, link=Ethernet(latency_us=link_latency_us))
    machine = cluster.machine()
    machine.keep_stamps("server")
    machine.end_with(["server"])
    machine.run(round(cluster.clock_hz * until_ms / 1e3))
    if not machine.has_ended:
        raise RackwrightError("the server did not come to its end: out of time")
    stamps = [
        _Stamp(cycle * (_HART_TICKS if of_hart else _LINK_TICKS), event)
        for event, cycle, of_hart, _, _ in machine.stamps("server")
    ]
    stamps.sort(key=lambda stamp: stamp.ticks)
    return _summary(paging, stamps, round(link_latency_us * 1e3 * TICKS_PER_NS))


def _summary(paging: Paging, stamps: Sequence[_Stamp], latency: int) -> FaultParts:
    first, chain = _CHAINS[paging]
    spans = list(_spans(stamps, first, chain[-1][0], paging))
    found = [parts for span in spans if (parts := _parts(span, chain, latency))]
    if not spans:
        raise RackwrightError("the program had no remote fault: give it less local memory")
    if not found:
        raise RackwrightError(
            f"of {len(spans)} remote faults, none was undisturbed: give it more local memory"
        )
    usual = median_low(sum(parts) for parts in found)
    chosen = next(parts for parts in found if sum(parts) == usual)
    names = [name for _, name in chain]
    means = [sum(parts[index] for parts in found) / len(found) for index in range(len(names))]
    return FaultParts(
        paging,
        len(spans),
        len(found),
        usual / TICKS_PER_NS,
        {name: part / TICKS_PER_NS for name, part in zip(names, chosen, strict=True)},
        {name: mean / TICKS_PER_NS for name, mean in zip(names, means, strict=True)},
    )


def _spans(stamps: Sequence[_Stamp], first: str, last: str, paging: Paging) -> Iterator[Sequence[_Stamp]]:
    """The interval of a fault, for faults in which a page has arrived."""
    begin: int | None = None
    for index, stamp in enumerate(stamps):
        if stamp.event == first:
            begin = index
        elif stamp.event == last and begin is not None:
            span = stamps[begin : index + 1]
            begin = None
            if paging == "unit" or any(_is_page(*pair) for pair in pairwise(_frames(span, "in"))):
                yield span


def _frames(span: Sequence[_Stamp], way: str) -> list[_Stamp]:
    return [stamp for stamp in span if stamp.event in (f"first {way}", f"last {way}")]


def _is_page(first: _Stamp, last: _Stamp) -> bool:
    return first.event == "first in" and last.ticks - first.ticks > _LONG * _LINK_TICKS


def _parts(span: Sequence[_Stamp], chain: Sequence[tuple[str, str]], latency: int) -> list[int] | None:
    """The duration of each part, in ticks; None if another fault was in progress."""
    if len(_frames(span, "out")) != 2 or len(_frames(span, "in")) != 2:
        return None
    times = [span[0].ticks]
    at = 0
    for event, _ in chain:
        if event == "arrives":
            times.append(times[-1] + latency)
        elif event == "answers":
            answered = next(stamp.ticks for stamp in span if stamp.event == "first in") - latency
            times.append(answered)
        else:
            at = next((index for index in range(at + 1, len(span)) if span[index].event == event), -1)
            if at < 0:
                return None
            times.append(span[at].ticks)
    parts = [after - before for before, after in pairwise(times)]
    return parts if min(parts) >= 0 else None
