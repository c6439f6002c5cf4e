"""The interrupt line of the network interface, and when moderation raises it."""

from __future__ import annotations

import pytest

from rackwright.unit.nic import NicUnit

GAP = 2000
LIMIT = 100_000


@pytest.fixture
def nic() -> NicUnit:
    """A network interface just out of reset."""
    return NicUnit()


def arrivals(nic: NicUnit, count: int) -> list[int]:
    """Delivers frames of one flit, `GAP` apart, into waiting buffers; gives the cycles in which they arrive.

    Ends long after the last of them.
    """
    for _ in range(count):
        buffer = nic.unit.reserve(8)
        nic.bench.warm(buffer.address, buffer.length, "l2")
        nic.receive_into(buffer)
    first = nic.bench.cycle + GAP
    cycles = [first + GAP * i for i in range(count)]
    for cycle in cycles:
        nic.bench.deliver(bytes(8), cycle)
    nic.bench.run(GAP * (count + 4))
    return cycles


def test_off_after_reset(nic: NicUnit) -> None:
    arrivals(nic, 2)
    nic.send(nic.unit.load(bytes(8)))
    assert nic.unit.work(LIMIT)
    assert nic.bench.interrupts() == []


def test_high_while_a_completion_waits(nic: NicUnit) -> None:
    nic.interrupt_on(sent=True, received=True)
    [arrival] = arrivals(nic, 1)
    [(raised, level)] = nic.bench.interrupts()
    assert level
    assert arrival < raised < arrival + GAP
    assert nic.take_received() is not None
    assert nic.unit.work(LIMIT)
    assert [level for _, level in nic.bench.interrupts()] == [False]
    nic.send(nic.unit.load(bytes(8)))
    assert nic.unit.work(LIMIT)
    assert [level for _, level in nic.bench.interrupts()] == [True]


@pytest.mark.parametrize(("sent", "received"), [(True, False), (False, True)])
def test_each_queue_has_its_enable(nic: NicUnit, sent: bool, received: bool) -> None:
    nic.interrupt_on(sent=sent, received=received)
    arrivals(nic, 1)
    assert [level for _, level in nic.bench.interrupts()] == [True] * received
    nic.send(nic.unit.load(bytes(8)))
    assert nic.unit.work(LIMIT)
    assert [level for _, level in nic.bench.interrupts()] == [True] * sent


def test_moderation_by_number(nic: NicUnit) -> None:
    nic.interrupt_on(sent=False, received=True, packets=3, cycles=1 << 31)
    cycles = arrivals(nic, 3)
    [(raised, _)] = nic.bench.interrupts()
    assert cycles[2] < raised < cycles[2] + GAP


@pytest.mark.parametrize("time", [1, 10, 5000])
def test_moderation_by_time(nic: NicUnit, time: int) -> None:
    nic.interrupt_on(sent=False, received=True)
    [plain] = arrivals(nic, 1)
    [(immediate, _)] = nic.bench.interrupts()
    assert nic.take_received() is not None
    nic.interrupt_on(sent=False, received=True, packets=100, cycles=time)
    assert nic.unit.work(LIMIT)
    nic.bench.interrupts()
    [moderated] = arrivals(nic, 1)
    [(raised, _)] = nic.bench.interrupts()
    assert (raised - moderated) - (immediate - plain) == time


def test_the_clock_stops_while_the_line_is_high(nic: NicUnit) -> None:
    nic.interrupt_on(sent=False, received=True, packets=2, cycles=1000)
    arrivals(nic, 1)
    before = nic.bench.evaluated_cycles
    nic.bench.run(1_000_000)
    assert nic.bench.evaluated_cycles - before < 10
