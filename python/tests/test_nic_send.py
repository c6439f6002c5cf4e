"""Frames that the network interface sends: bytes, statuses, rate, checksums."""

from __future__ import annotations

import random

import pytest
from network_interface import LENGTHS, LIMIT, wait_for

from rackwright.unit.alone import Buffer
from rackwright.unit.nic import MAX_FRAME_BYTES, FrameCompletion, NicUnit, SendChecksum, internet_sum


def completion(nic: NicUnit) -> FrameCompletion:
    """The next completion of a frame that was sent; waits for it."""
    return wait_for(nic, nic.take_sent)


def sent(nic: NicUnit, data: bytes, misalignment: int = 0, checksum: SendChecksum | None = None) -> bytes:
    """What is on the wire for a frame of `data`."""
    nic.send(nic.unit.load(data, "r", misalignment), checksum)
    assert completion(nic) == FrameCompletion("ok", len(data), 0)
    [(_, _, frame)] = nic.bench.sent_frames()
    nic.unit.release_all()
    return frame


@pytest.mark.parametrize("length", LENGTHS)
def test_every_alignment(nic: NicUnit, length: int) -> None:
    data = random.Random(length).randbytes(length)
    for misalignment in range(32):
        assert sent(nic, data, misalignment) == data


@pytest.mark.parametrize("length", [0, MAX_FRAME_BYTES + 1, 0xFFFF])
def test_lengths_that_no_frame_has(nic: NicUnit, length: int) -> None:
    nic.send(Buffer(0x5000, length))
    assert completion(nic) == FrameCompletion("unsupported", length, 0)
    assert nic.bench.sent_frames() == []
    assert sent(nic, b"next") == b"next"


def test_bytes_that_cannot_be_read_are_sent_as_zeros(nic: NicUnit) -> None:
    data = bytes(range(1, 201))
    buffer = nic.unit.load(data)
    nic.bench.fault(buffer.address + 64, 64)
    nic.send(buffer)
    assert completion(nic) == FrameCompletion("access_fault", 200, 0)
    [(_, _, frame)] = nic.bench.sent_frames()
    assert frame == data[:64] + bytes(64) + data[128:]
    nic.unit.release_all()
    nic.send(Buffer(buffer.address, 0xFFFF))
    assert completion(nic).status == "unsupported"


def queued(nic: NicUnit, data: bytes, count: int, rate: tuple[int, int, int]) -> list[tuple[int, int, bytes]]:
    """The frames on the wire when `count` requests wait before the rate is set to `rate`."""
    buffer = nic.unit.load(data)
    nic.bench.warm(buffer.address, buffer.length, "l2")
    nic.limit(1, 0xFFFF)
    for _ in range(count):
        nic.send(buffer)
    nic.limit(*rate)
    assert nic.unit.work(10_000_000)
    for _ in range(count):
        assert nic.take_sent() == FrameCompletion("ok", len(data), 0)
    assert nic.take_sent() is None
    frames = nic.bench.sent_frames()
    assert [frame for _, _, frame in frames] == count * [data]
    nic.unit.release_all()
    return frames


@pytest.mark.parametrize("length", [64, 65, 576, 1500, 9000])
def test_frames_leave_back_to_back(nic: NicUnit, length: int) -> None:
    frames = queued(nic, random.Random(length).randbytes(length), 12, (0, 0, 0))[1:]
    flits = sum(-(-len(frame) // nic.network_bytes) for _, _, frame in frames)
    assert flits / (frames[-1][1] - frames[0][0] + 1) >= 0.99


@pytest.mark.parametrize("rate", [(1, 1, 0), (1, 2, 0), (1, 100, 0), (3, 7, 0), (5, 9, 40), (20, 10, 0)])
def test_the_rate_is_exact(nic: NicUnit, rate: tuple[int, int, int]) -> None:
    flits, period, burst = rate
    frames = queued(nic, bytes(8), 12, rate)[1:]
    cycles = [first for first, _, _ in frames]
    # A bucket of tokens, cycle by cycle: one per flit, `flits` more at the end of each period.
    tokens, elapsed, expected = max(flits, burst), 0, []
    for cycle in range(cycles[0], cycles[-1] + 1):
        if tokens:
            tokens -= 1
            expected.append(cycle)
        elapsed += 1
        if elapsed == period:
            tokens, elapsed = min(tokens + flits, max(flits, burst)), 0
    assert cycles == expected


@pytest.mark.parametrize("rate", [(1, 1, 0), (1, 2, 0), (3, 7, 0), (5, 9, 40), (125, 64, 0)])
def test_a_wide_flit_takes_two_tokens_of_which_it_may_owe_one(rate: tuple[int, int, int]) -> None:
    nic = NicUnit({"network-bytes": 16})
    flits, period, burst = rate
    frames = queued(nic, bytes(24), 12, rate)
    # Before the rate, the token that there was let the first flit through.
    cycles = [frames[0][1]] + [cycle for first, last, _ in frames[1:] for cycle in (first, last)]
    costs = [1] + [2, 1] * len(frames[1:])
    expected: list[int] = []
    tokens, elapsed = max(flits, burst), 0
    for cycle in range(cycles[0], cycles[-1] + 1):
        if tokens > 0:
            tokens -= costs[len(expected)]
            expected.append(cycle)
        elapsed += 1
        if elapsed == period:
            tokens, elapsed = min(tokens + flits, max(flits, burst)), 0
    assert cycles == expected


@pytest.mark.parametrize("start", [0, 13, 14, 34])
def test_checksums_are_put_in(nic: NicUnit, start: int) -> None:
    source = random.Random(start)
    for length in [start + 4, 60, 61, 1501, 9600]:
        data = bytearray(source.randbytes(max(length, start + 4)))
        offset, initial = source.randrange(len(data) - 1), source.randrange(1 << 16)
        data[offset : offset + 2] = b"\0\0"
        frame = sent(nic, bytes(data), 3, SendChecksum(start, offset, initial))
        value = ~internet_sum(bytes(data[start:]), initial) & 0xFFFF or 0xFFFF
        data[offset : offset + 2] = value.to_bytes(2, "big")
        assert frame == data


def test_frames_with_and_without_checksum_keep_their_order(nic: NicUnit) -> None:
    frames = [random.Random(i).randbytes(70 + 300 * (i % 5)) for i in range(12)]
    expected = []
    for i, data in enumerate(frames):
        wants = i % 3 == 0
        nic.send(nic.unit.load(data), SendChecksum(0, 2) if wants else None)
        if wants:
            value = ~internet_sum(data) & 0xFFFF or 0xFFFF
            data = data[:2] + value.to_bytes(2, "big") + data[4:]
        expected.append(data)
    assert nic.unit.work(LIMIT)
    assert [frame for _, _, frame in nic.bench.sent_frames()] == expected
    assert [completion(nic).status for _ in frames] == ["ok"] * len(frames)
    nic.unit.release_all()


@pytest.mark.parametrize("checksum", [SendChecksum(64, 0), SendChecksum(0, 63), SendChecksum(0, 0xFFFF)])
def test_checksums_outside_the_frame(nic: NicUnit, checksum: SendChecksum) -> None:
    nic.send(nic.unit.load(bytes(64)), checksum)
    assert completion(nic) == FrameCompletion("unsupported", 64, 0)
    # The wish was for that frame only.
    assert sent(nic, bytes(64)) == bytes(64)


def test_requests_to_a_full_queue_are_refused_and_counted(nic: NicUnit) -> None:
    before = nic.counters()["refused_requests"]
    buffer = nic.unit.load(bytes(1500))
    nic.limit(1, 0xFFFF)
    for _ in range(60):
        nic.send(buffer)
    refused = nic.counters()["refused_requests"] - before
    assert 0 < refused < 60
    assert nic.waiting().send_places == 0
    nic.limit(0, 0)
    taken = 0
    for _ in range(60 - refused):
        taken += completion(nic).status == "ok"
    assert taken == 60 - refused == len(nic.bench.sent_frames())
    assert nic.take_sent() is None
    nic.unit.release_all()
