"""The breakdown of a round trip, to the nanosecond, from the engine's stamps of both servers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from rackwright.cluster import Cluster, Ethernet, Switch
from rackwright.machine.server import Server
from rackwright.machine.workloads import BareMetal
from rackwright.unit.nic import REGISTERS

HART_CYCLES_PER_NS = 2.0
INTERVAL = "216000"
"""Cycles of the hart from ping to ping: longer than a round trip of the longest links here."""
LINK_CYCLES_PER_NS = 3.2
SWITCHING_CYCLES = 10
SEND_REQUEST = REGISTERS["send_request"].offset
"""The register that a frame is handed over by."""


@dataclass(frozen=True)
class _Stamp:
    event: str
    ns: float
    instructions: int
    register: int | None


@dataclass(frozen=True)
class Trip:
    """One round trip, in nanoseconds, and the instructions executed in each section of a program.

    `parts` add up to the time above four links and two switchings.
    """

    ns: float
    ideal_ns: float
    parts: dict[str, float]
    instructions: dict[str, int]


class _Server:
    """The events in a server, in order."""

    def __init__(self, rows: Sequence[tuple[str, int, bool, int, int | None]]) -> None:
        stamps = [
            _Stamp(event, cycle / (HART_CYCLES_PER_NS if of_hart else LINK_CYCLES_PER_NS), executed, register)
            for event, cycle, of_hart, executed, register in rows
        ]
        self._stamps = sorted(stamps, key=lambda stamp: stamp.ns)

    def next(self, event: str, after: float, register: int | None = None) -> _Stamp:
        """The first event of that name from a time on, for that register if one is given."""
        return next(
            stamp
            for stamp in self._stamps
            if stamp.event == event and stamp.ns >= after and register in (None, stamp.register)
        )

    def registers(self, begin: float, end: float) -> float:
        """The time for which the hart stalls on register accesses that begin and end between two times."""
        begins = [stamp for stamp in self._stamps if stamp.event in ("reads", "writes")]
        waits = [(stamp.ns, self.next("goes on", stamp.ns).ns) for stamp in begins if begin <= stamp.ns < end]
        return sum(after - before for before, after in waits if after <= end)

    def executed(self, until: float) -> int:
        """Instructions executed up to the hart's last event at its pins before a time."""
        hart = ("reads", "writes", "goes on", "waits", "wakes")
        return max((s.instructions for s in self._stamps if s.event in hart and s.ns <= until), default=0)


def usual_trip(latency_us: float, count: int) -> Trip:
    """The usual one of `count` round trips of 56 bytes between two servers below one switch."""
    answers = Server(name="answers", workload=BareMetal("ping.elf"))
    asks = Server(
        name="asks",
        workload=BareMetal("ping.elf", [answers, str(count), "56", INTERVAL, "1"], static_arp=True),
    )
    switch = Switch(switching_cycles=SWITCHING_CYCLES)
    switch.add_downlinks([asks, answers])
    cluster = Cluster(switch, link=Ethernet(latency_us=latency_us))
    machine = cluster.machine()
    machine.keep_stamps("asks")
    machine.keep_stamps("answers")
    machine.end_with(["asks"])
    machine.run(cluster.clock_hz)
    (printed,) = [row["stdout"] for row in json.loads(machine.report())["servers"] if row["name"] == "asks"]
    trips = [tuple(map(int, line.split())) for line in printed.splitlines()][1:]
    usual = median_low(cycles for cycles, _ in trips)
    began = next(began for cycles, began in trips if cycles == usual)
    servers = _Server(machine.stamps("asks")), _Server(machine.stamps("answers"))
    ideal = 4e3 * latency_us + 2 * SWITCHING_CYCLES / LINK_CYCLES_PER_NS
    return _explain(*servers, began / HART_CYCLES_PER_NS, usual / HART_CYCLES_PER_NS, ideal)


def _explain(asks: _Server, answers: _Server, began: float, trip: float, ideal: float) -> Trip:
    """Raises `AssertionError` if the parts do not add up to the whole."""
    parts: dict[str, float] = {}
    instructions: dict[str, int] = {}

    def program(who: str, server: _Server, begin: float, end: float) -> None:
        registers = server.registers(begin, end)
        parts[f"{who} program"] = end - begin - registers
        parts[f"{who} program, its waits for registers"] = registers
        instructions[f"{who} program"] = server.executed(end) - server.executed(begin)

    def sends(who: str, server: _Server, begin: float) -> float:
        """From the write of the request; returns when the last flit leaves."""
        first = server.next("first out", server.next("reached", begin, SEND_REQUEST).ns).ns
        last = server.next("last out", first).ns
        parts[f"{who} NIC, from the request to the first flit"] = first - begin
        parts[f"{who} frame, flits behind the first, out"] = last - first
        return last

    def receives(who: str, server: _Server, after: float) -> float:
        """Returns the time at which the hart continues."""
        first = server.next("first in", after).ns
        last, line = server.next("last in", first).ns, server.next("line up", first).ns
        wakes = server.next("wakes", line).ns
        parts[f"{who} frame, flits behind the first, in"] = last - first
        parts[f"{who} NIC, from the last flit to the interrupt"] = line - last
        parts[f"{who} hart, from the interrupt to its next instruction"] = wakes - line
        return wakes

    request = asks.next("writes", began, SEND_REQUEST).ns
    program("asking:", asks, began, request)
    woken = receives("answering:", answers, sends("asking:", asks, request))
    answer = answers.next("writes", woken, SEND_REQUEST).ns
    program("answering:", answers, woken, answer)
    woken = receives("asking:", asks, sends("answering:", answers, answer))
    program("asking, at the end:", asks, woken, began + trip)
    # It reads the counter, which is not an event at its pins: the number of these instructions is unknown.
    del instructions["asking, at the end: program"]
    if abs(sum(parts.values()) + ideal - trip) > 1e-6:
        raise AssertionError(f"{parts} do not add up to {trip - ideal} ns")
    return Trip(trip, ideal, parts, instructions)
