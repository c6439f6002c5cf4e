"""Random traffic through the network interface, both ways at once, against a model of what must come out."""

from __future__ import annotations

import itertools
import random
from collections import deque
from dataclasses import dataclass, field

import pytest
from tiers import long

from rackwright.unit.alone import Buffer
from rackwright.unit.nic import MAX_FRAME_BYTES, NicUnit, SendChecksum, internet_sum

ROUNDS = 400
LIMIT = 1_000_000


@dataclass
class Traffic:
    """Software and network around a unit: what they gave and what they expect back."""

    nic: NicUnit
    source: random.Random
    on_wire: list[bytes] = field(default_factory=list)
    sends: deque[tuple[str, int]] = field(default_factory=deque)
    frames: deque[bytes] = field(default_factory=deque)
    buffers: deque[Buffer] = field(default_factory=deque)
    received: int = 0
    wire_free: int = 0

    def length(self) -> int:
        """Short frames more often than long ones."""
        longest = self.source.choice([16, 100, 100, 1514, 1514, MAX_FRAME_BYTES])
        return self.source.randint(1, longest)

    def send(self) -> None:
        """A request to send, now and then one that can't be served."""
        if self.nic.waiting().send_places == 0:
            return
        if self.source.random() < 0.1:
            length = self.source.choice([0, MAX_FRAME_BYTES + 1, 0xFFFF])
            self.nic.send(Buffer(0x1000, length))
            self.sends.append(("unsupported", length))
            return
        data = self.source.randbytes(self.length())
        checksum = self.checksum(len(data)) if self.source.random() < 0.3 else None
        self.nic.send(self.nic.unit.load(data, "r", self.source.randrange(64)), checksum)
        if checksum is not None:
            value = ~internet_sum(data[checksum.start :], checksum.initial) & 0xFFFF or 0xFFFF
            data = data[: checksum.offset] + value.to_bytes(2, "big") + data[checksum.offset + 2 :]
        self.sends.append(("ok", len(data)))
        self.on_wire.append(data)

    def checksum(self, length: int) -> SendChecksum | None:
        """A wish for a checksum that the frame has room for."""
        if length < 2:
            return None
        start, offset = self.source.randrange(length), self.source.randrange(length - 1)
        return SendChecksum(start, offset, self.source.randrange(1 << 16))

    def deliver(self) -> None:
        """A frame from the network, with or without gaps, unless it might not find room."""
        if sum((len(frame) + 7) // 8 for frame in self.frames) > 2000:
            return
        data = self.source.randbytes(self.length())
        start = max(self.wire_free, self.nic.bench.cycle)
        self.wire_free = self.nic.bench.deliver(data, start, self.source.choice([1, 1, 3]))
        self.frames.append(data)

    def post(self) -> None:
        """A buffer to receive into, now and then a small one."""
        if self.nic.waiting().receive_places == 0:
            return
        length = self.source.choice([MAX_FRAME_BYTES, MAX_FRAME_BYTES, self.length()])
        buffer = self.nic.unit.reserve(length, "w", self.source.randrange(64))
        self.nic.receive_into(buffer)
        self.buffers.append(buffer)

    def complete(self) -> None:
        """Takes every completion; each must be the next one expected."""
        while (sent := self.nic.take_sent()) is not None:
            assert (sent.status, sent.length) == self.sends.popleft()
        while (received := self.nic.take_received()) is not None:
            data, buffer = self.frames.popleft(), self.buffers.popleft()
            status = "ok" if len(data) <= buffer.length else "output_full"
            assert (received.status, received.length) == (status, len(data))
            kept = min(len(data), buffer.length)
            assert self.nic.unit.read(buffer, kept) == data[:kept]
            self.received += 1

    def limit(self) -> None:
        """Another rate of sending."""
        self.nic.limit(*self.source.choice([(0, 0), (1, 1), (1, 3), (7, 9)]))

    def drain(self) -> None:
        """Gives what is missing until nothing is under way."""
        self.nic.limit(0, 0)
        while self.frames or self.sends:
            if len(self.buffers) < len(self.frames):
                self.post()
            self.nic.unit.work(LIMIT)
            self.complete()


def run(
    seed: int,
    skip_idle: bool,
    port_bytes: int = 16,
    placement: str = "near-core",
    network_bytes: int = 8,
) -> tuple[str, int]:
    """Digest and cycles of `ROUNDS` random steps."""
    parameters = {"port-bytes": port_bytes, "network-bytes": network_bytes}
    nic = NicUnit(parameters, placement=placement, skip_idle=skip_idle, assertions=True)
    traffic = Traffic(nic, random.Random(seed))
    steps = [traffic.send, traffic.send, traffic.deliver, traffic.deliver, traffic.post, traffic.post]
    for _ in range(ROUNDS):
        traffic.source.choice([*steps, traffic.complete, traffic.limit])()
        if traffic.source.random() < 0.2:
            nic.bench.run(traffic.source.randrange(3000))
    traffic.drain()
    assert [frame for _, _, frame in nic.bench.sent_frames()] == traffic.on_wire
    counters = nic.counters()
    assert counters["sent_frames"] == len(traffic.on_wire)
    assert counters["sent_bytes"] == sum(map(len, traffic.on_wire))
    assert counters["received_frames"] == traffic.received
    assert counters["dropped_full"] == counters["dropped_length"] == counters["refused_requests"] == 0
    assert nic.unit.violations == 0
    return nic.bench.digest, nic.bench.cycle


@pytest.mark.parametrize(
    ("network_bytes", "port_bytes", "placement"),
    [
        (8, 16, "near-core"),
        (16, 32, "pcie"),
        *(
            long(*each, why="the two others have each width and placement")
            for each in itertools.product((8, 16), (16, 32), ("near-core", "pcie"))
            if each not in ((8, 16, "near-core"), (16, 32, "pcie"))
        ),
    ],
)
def test_every_frame_and_every_completion_comes_once_and_in_order(
    network_bytes: int, port_bytes: int, placement: str
) -> None:
    for seed in range(5):
        run(seed, True, port_bytes, placement, network_bytes)


@pytest.mark.parametrize("network_bytes", [8, long(16, why="a design for nothing else")])
@pytest.mark.parametrize("seed", [100, 101])
def test_the_same_twice_and_without_skipping(seed: int, network_bytes: int) -> None:
    first = run(seed, True, network_bytes=network_bytes)
    assert run(seed, True, network_bytes=network_bytes) == first
    assert run(seed, False, network_bytes=network_bytes) == first
