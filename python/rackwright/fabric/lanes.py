"""What the ports and cards of a fabric did, as lanes of the time line of a profile."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright import _engine
from rackwright.fabric.fabric import Packet
from rackwright.fabric.system import System
from rackwright.profiling.lanes import Lane

_FRAMING = 8
"""Bytes around a packet on a link."""


@dataclass(frozen=True)
class _Crossing:
    """A packet on a link, and the picoseconds from its first byte to its last."""

    begin: float
    end: float
    fields: dict[str, Any]

    @property
    def request(self) -> tuple[str, int]:
        """By what a completion names the request that it is for."""
        return self.fields["requester"], self.fields["tag"]

    @property
    def asks(self) -> bool:
        """Whether it is a request that gets a completion."""
        kind: str = self.fields["kind"]
        return kind.startswith("configuration") or kind in (
            "memory_read",
            "fetch_add",
            "swap",
            "compare_swap",
        )

    @property
    def ends(self) -> bool:
        """Whether it is the last completion of its request."""
        if not self.fields["kind"].startswith("completion"):
            return False
        left: int = self.fields["byte_count"] - 4 * self.fields["length_words"]
        return left <= 0 or bool(self.fields["status"] != "successful")


def fabric_lanes(system: System, packets: Iterable[Packet], clock_hz: int) -> Iterator[Lane]:
    """The non-empty lanes of packets on all links, in cycles of a clock that began with the fabric's.

    Of each port the packets that it has sent, and of each card the times in which it waits for completions,
    and in which others wait for its own.
    """
    crossings = _crossings(system, packets)
    found = [
        Lane(
            port, _cycles([(each.fields["kind"], each.begin, each.end) for each in crossings[port]], clock_hz)
        )
        for port in system.ports
    ]
    for link in system.links:
        if link.below not in {card.name for card in system.cards}:
            continue
        up, down = (crossings[port] for port in system.ports_of(link))
        waits = _waits(up, down, link.link.delay_ns * 1000)
        serves = _waits(down, up, link.link.delay_ns * 1000)
        found.append(Lane(f"card {link.below}", _cycles([("waits", *span) for span in waits], clock_hz)))
        served = _cycles([("serves", *span) for span in serves], clock_hz)
        found.append(Lane(f"card {link.below}, for others", served))
    return (lane for lane in found if lane.events)


def _crossings(system: System, packets: Iterable[Packet]) -> dict[str, list[_Crossing]]:
    """The packets of each port."""
    rates = {port: link.link.bytes_per_ns / 1000 for link in system.links for port in system.ports_of(link)}
    crossings: dict[str, list[_Crossing]] = defaultdict(list)
    for packet in packets:
        end = packet.picosecond + (len(packet.data) + _FRAMING) / rates[packet.port]
        fields = json.loads(_engine.packet_fields(packet.data))
        crossings[packet.port].append(_Crossing(packet.picosecond, end, fields))
    return crossings


def _waits(
    requests: Sequence[_Crossing], completions: Sequence[_Crossing], delay: float
) -> list[tuple[float, float]]:
    """The times in which any of the requests is outstanding, until its last completion has arrived."""
    ended: dict[tuple[str, int], list[float]] = defaultdict(list)
    for each in reversed(completions):
        if each.ends:
            ended[each.request].append(each.end + delay)
    spans: list[tuple[float, float]] = []
    for each in requests:
        times = ended[each.request] if each.asks else []
        while times and times[-1] <= each.begin:
            times.pop()
        if not times:
            continue
        end = times.pop()
        if spans and each.begin <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((each.begin, end))
    return spans


def _cycles(events: Iterable[tuple[str, float, float]], clock_hz: int) -> list[tuple[str, int, int]]:
    """Events in cycles, each of which has at least one."""
    spans = ((name, int(begin * clock_hz / 1e12), int(end * clock_hz / 1e12)) for name, begin, end in events)
    return [(name, begin, max(begin + 1, end)) for name, begin, end in spans]
