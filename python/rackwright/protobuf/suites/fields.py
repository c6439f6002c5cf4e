"""The micro-benchmarks of the paper: one kind of field each, varints and strings in several sizes.

Messages of varints, doubles and floats have five fields, or five repeated fields of five elements each; the
others have one field (MICRO 2021, section 5.1). The groups are those over which the paper averages: fields in
the object itself, and fields that have to be allocated.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from rackwright.protobuf import wire
from rackwright.protobuf.suite import MESSAGES, Benchmark, Suite

PROTO = Path(__file__).with_name("fields.proto")
GROUPS = ("inline", "allocated")
"""Fields in the object itself, and fields with memory of their own."""

_FIELDS = 5
_ELEMENTS = 5
_SEED = 20211018

Encode = Callable[[int, random.Random], bytes]
"""A field with this number and a random value."""


def fields_suite(messages: int = MESSAGES) -> Suite:
    """Every micro-benchmark, each with the given number of messages."""
    draw = random.Random(_SEED)
    benchmarks = []
    for name, encode in _numbers().items():
        kind = name.split("-")[0].capitalize()
        one = [_message(encode, 1, draw) for _ in range(messages)]
        many = [_message(encode, _ELEMENTS, draw) for _ in range(messages)]
        benchmarks.append(Benchmark(name, f"rackwright.fields.{kind}", one, "inline"))
        benchmarks.append(Benchmark(f"{name}-R", f"rackwright.fields.{kind}s", many, "allocated"))
    for size in (8, 15, 41, 489):
        texts = [wire.length_field(1, _text(size, draw)) for _ in range(messages)]
        benchmarks.append(Benchmark(f"string-{size}", "rackwright.fields.Text", texts, "allocated"))
    for name, inner in _inner().items():
        kind = f"rackwright.fields.{name.capitalize()}Holder"
        held = [wire.length_field(1, inner(1, draw)) for _ in range(messages)]
        benchmarks.append(Benchmark(f"{name}-SUB", kind, held, "allocated"))
    benchmarks.sort(key=lambda benchmark: GROUPS.index(benchmark.group))
    return Suite("fields", PROTO, benchmarks)


def _message(encode: Encode, elements: int, draw: random.Random) -> bytes:
    numbers = range(1, _FIELDS + 1)
    return b"".join(encode(number, draw) for number in numbers for _ in range(elements))


def _numbers() -> dict[str, Encode]:
    """Kinds of fields that hold a number. A varint of 0 bytes is that of the value 0, which takes one."""
    kinds: dict[str, Encode] = {"varint-0": lambda number, _: wire.varint_field(number, 0)}
    for size in range(1, 11):
        kinds[f"varint-{size}"] = _varint_of(size)
    kinds["double"] = lambda number, draw: wire.double_field(number, draw.uniform(-1e9, 1e9))
    kinds["float"] = lambda number, draw: wire.float_field(number, draw.uniform(-1e9, 1e9))
    return kinds


def _varint_of(size: int) -> Encode:
    """Values whose varint has `size` bytes: from 7 (size - 1) bits to less than 7 size."""
    least = 1 << 7 * (size - 1) if size > 1 else 1
    most = min(1 << 7 * size, 1 << 64) - 1
    return lambda number, draw: wire.varint_field(number, draw.randint(least, most))


def _inner() -> dict[str, Encode]:
    return {
        "bool": lambda number, draw: wire.varint_field(number, draw.randint(0, 1)),
        "double": lambda number, draw: wire.double_field(number, draw.uniform(-1e9, 1e9)),
        "string": lambda number, draw: wire.length_field(number, _text(15, draw)),
    }


def _text(size: int, draw: random.Random) -> bytes:
    return bytes(draw.randint(32, 126) for _ in range(size))
