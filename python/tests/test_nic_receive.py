"""Frames that reach the network interface: bytes in memory, drops, statuses, sums, interrupts."""

from __future__ import annotations

import random

import pytest
from network_interface import LENGTHS, LIMIT, wait_for

from rackwright.unit.alone import Buffer
from rackwright.unit.nic import FLIT_BYTES, MAX_FRAME_BYTES, FrameCompletion, NicUnit, internet_sum

BUFFER_BYTES = 32 * 1024

FLITS_ON_THEIR_WAY = 8
"""Flits that are out of the packet buffer while the packer waits: read ahead, or in the stages of the sum."""


def received(nic: NicUnit) -> FrameCompletion:
    """The next completion of a frame that was received; waits for it."""
    return wait_for(nic, nic.take_received)


@pytest.mark.parametrize("length", LENGTHS)
def test_every_alignment(nic: NicUnit, length: int) -> None:
    data = random.Random(length).randbytes(length)
    for misalignment in range(32):
        buffer = nic.unit.reserve(length, "w", misalignment)
        nic.receive_into(buffer)
        nic.bench.deliver(data)
        assert received(nic) == FrameCompletion("ok", length, 0)
        assert nic.unit.read(buffer) == data
        nic.unit.release_all()


@pytest.mark.parametrize("capacity", [1, 7, 8, 15, 16, 17, 48, 98, 99])
def test_what_does_not_fit_the_buffer_is_left_out(nic: NicUnit, capacity: int) -> None:
    data = random.Random(capacity).randbytes(100)
    for misalignment in (0, 1, 13, 31):
        buffer = nic.unit.reserve(capacity, "w", misalignment)
        nic.receive_into(buffer)
        nic.bench.deliver(data)
        assert received(nic) == FrameCompletion("output_full", 100, 0)
        assert nic.unit.read(buffer) == data[:capacity]
        nic.unit.release_all()


def test_a_capacity_of_zero_means_the_longest_frame(nic: NicUnit) -> None:
    buffer = nic.unit.reserve(MAX_FRAME_BYTES)
    nic.receive_into(Buffer(buffer.address, 0))
    data = random.Random(0).randbytes(MAX_FRAME_BYTES)
    nic.bench.deliver(data)
    assert received(nic) == FrameCompletion("ok", MAX_FRAME_BYTES, 0)
    assert nic.unit.read(buffer) == data
    nic.unit.release_all()


@pytest.mark.parametrize("length", [MAX_FRAME_BYTES + 1, MAX_FRAME_BYTES + 8, 40_000, 70_000])
def test_frames_that_are_too_long_are_dropped(nic: NicUnit, length: int) -> None:
    before = nic.counters()["dropped_length"]
    buffer = nic.unit.reserve(64)
    nic.receive_into(buffer)
    end = nic.bench.deliver(bytes(length))
    nic.bench.deliver(b"next", end)
    assert received(nic) == FrameCompletion("ok", 4, 0)
    assert nic.unit.read(buffer, 4) == b"next"
    assert nic.counters()["dropped_length"] == before + 1
    nic.unit.release_all()


def test_frames_of_odd_flits(nic: NicUnit) -> None:
    before = nic.counters()["dropped_length"]
    buffer = nic.unit.reserve(64, "w", 5)
    nic.receive_into(buffer)
    # A frame without bytes is dropped; flits that are not full, and empty ones, are taken as they are.
    nic.bench.deliver_flit(b"", True)
    for data in (b"", b"abc", b"", b"defghijk", b"l"):
        nic.bench.deliver_flit(data, False)
    nic.bench.deliver_flit(b"", True)
    assert received(nic) == FrameCompletion("ok", 12, 0)
    assert nic.unit.read(buffer, 12) == b"abcdefghijkl"
    assert nic.counters()["dropped_length"] == before + 1
    nic.unit.release_all()


def test_writes_that_fault_end_with_a_status(nic: NicUnit) -> None:
    buffer = nic.unit.reserve(300)
    good = nic.unit.reserve(300)
    nic.bench.fault(buffer.address + 128, 32)
    nic.receive_into(buffer)
    nic.receive_into(good)
    data = random.Random(5).randbytes(300)
    nic.bench.deliver(data, nic.bench.deliver(data))
    assert received(nic) == FrameCompletion("access_fault", 300, 0)
    assert received(nic) == FrameCompletion("ok", 300, 0)
    assert nic.unit.read(good) == data
    nic.unit.release_all()


@pytest.mark.parametrize("length", [64, 65, 1500, 9000])
def test_frames_are_taken_back_to_back(nic: NicUnit, length: int) -> None:
    buffer = nic.unit.reserve(length, "w", 14)
    nic.bench.warm(buffer.address, length, "l2")
    before = nic.counters()
    for _ in range(14):
        nic.receive_into(buffer)
    at = nic.bench.cycle
    for _ in range(14):
        # As fast as it takes them: one that is wide takes two flits of a cycle.
        at = nic.bench.deliver(bytes(length), at, int(nic.network_bytes == FLIT_BYTES))
    stalls = nic.bench.events()["receive_stall"]
    assert nic.unit.work(LIMIT)
    assert nic.bench.events()["receive_stall"] - stalls <= 14
    after = nic.counters()
    assert after["received_frames"] - before["received_frames"] == 14
    assert after["received_bytes"] - before["received_bytes"] == 14 * length
    assert [received(nic).status for _ in range(14)] == 14 * ["ok"]
    nic.unit.release_all()


@pytest.mark.parametrize("length", [1, 64, 1000, 9600])
def test_only_whole_frames_are_dropped_and_every_one_is_counted(nic: NicUnit, length: int) -> None:
    before = nic.counters()
    source = random.Random(length)
    flits, room = -(-length // nic.network_bytes), BUFFER_BYTES // nic.network_bytes
    count = room // flits + FLITS_ON_THEIR_WAY + 2
    frames = [source.randbytes(length) for _ in range(count)]
    at = nic.bench.cycle
    for frame in frames:
        at = nic.bench.deliver(frame, at)
    assert nic.unit.work(LIMIT)
    buffer = nic.unit.reserve(length)
    kept = []
    while True:
        nic.receive_into(buffer)
        nic.unit.work(LIMIT)
        completion = nic.take_received()
        if completion is None:
            break
        assert completion == FrameCompletion("ok", length, 0)
        kept.append(nic.unit.read(buffer))
    assert room // flits <= len(kept) <= (room + FLITS_ON_THEIR_WAY) // flits
    assert len(kept) < count
    assert kept == frames[: len(kept)]
    assert nic.counters()["dropped_full"] - before["dropped_full"] == count - len(kept)
    nic.bench.deliver(frames[0])
    assert received(nic) == FrameCompletion("ok", length, 0)
    nic.unit.release_all()


@pytest.mark.parametrize("start", [0, 1, 14, 33])
def test_sums_of_received_frames(nic: NicUnit, start: int) -> None:
    source = random.Random(start)
    nic.sum_received(start)
    for length in [1, 14, 15, 60, 61, 1500, 9599]:
        data = source.randbytes(length)
        nic.receive_into(nic.unit.reserve(length, "w", length % 32))
        nic.bench.deliver(data)
        completion = received(nic)
        assert (completion.sum - internet_sum(data[start:])) % 0xFFFF == 0
        nic.unit.release_all()
    nic.sum_received(None)


def test_sums_of_flits_that_are_not_full(nic: NicUnit) -> None:
    nic.sum_received(1)
    nic.receive_into(nic.unit.reserve(64))
    for data in (b"abc", b"defghij", b"k"):
        nic.bench.deliver_flit(data, data == b"k")
    assert received(nic).sum == internet_sum(b"bcdefghijk")
    nic.sum_received(None)
    nic.unit.release_all()
