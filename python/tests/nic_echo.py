"""A network interface that is used both ways."""

from __future__ import annotations

import random

from rackwright.unit.nic import FrameCompletion, NicUnit

LIMIT = 100_000


def echo(nic: NicUnit) -> None:
    """Every frame that arrives is sent back as it is."""
    source = random.Random(0)
    for length in (1, 8, 60, 64, 65, 1500, 9600):
        data = source.randbytes(length)
        buffer = nic.unit.reserve(length, "rw", length % 32)
        nic.receive_into(buffer)
        nic.bench.deliver(data)
        assert nic.unit.work(LIMIT)
        assert nic.take_received() == FrameCompletion("ok", length, 0)
        nic.send(buffer)
        assert nic.unit.work(LIMIT)
        assert [frame for _, _, frame in nic.bench.sent_frames()] == [data]
        assert nic.take_sent() == FrameCompletion("ok", length, 0)
    assert nic.unit.violations == 0
