"""Small messages: an empty one, one of five small fields, and lists of these of given sizes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from rackwright.protobuf import wire
from rackwright.protobuf.suite import MESSAGES, Benchmark, Suite

PROTO = Path(__file__).with_name("small.proto")
_RECORD, _RECORDS = "rackwright.small.Record", "rackwright.small.Records"
_SEED = 20261129

EMPTY, FIVE_FIELDS = "empty", "five-fields"
"""Benchmarks that have no size for their name."""


def small_suite(sizes: Sequence[int], calls: int) -> Suite:
    """`MESSAGES` empty messages, as many with five small fields, and `calls` lists for each size in bytes.

    A list has as many records as fit into its size, at least one.
    """
    draw = random.Random(_SEED)
    records = [_record(draw) for _ in range(MESSAGES)]
    benchmarks = [
        Benchmark(EMPTY, _RECORD, [b""] * MESSAGES),
        Benchmark(FIVE_FIELDS, _RECORD, records),
        *(Benchmark(str(size), _RECORDS, [_list(size, draw) for _ in range(calls)]) for size in sizes),
    ]
    return Suite("small", PROTO, benchmarks)


def _list(size: int, draw: random.Random) -> bytes:
    made = wire.length_field(1, _record(draw))
    while len(longer := made + wire.length_field(1, _record(draw))) <= size:
        made = longer
    return made


def _record(draw: random.Random) -> bytes:
    values = (draw.randint(1, 1 << 14), draw.randint(0, 127), draw.randint(0, 1), draw.randint(1, 127))
    fields = enumerate((*values, draw.randint(1 << 20, 1 << 27)), start=1)
    return b"".join(wire.varint_field(number, value) for number, value in fields)
