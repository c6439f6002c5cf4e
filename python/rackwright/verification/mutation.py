"""Damages valid inputs in the ways that real ones are damaged: a fuzzer with a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

Mutation = Callable[[random.Random, bytearray], None]


def _flip_bit(source: random.Random, data: bytearray) -> None:
    position = source.randrange(len(data))
    data[position] ^= 1 << source.randrange(8)


def _replace_byte(source: random.Random, data: bytearray) -> None:
    interesting = (0x00, 0x01, 0x7F, 0x80, 0xF0, 0xF4, 0xFC, 0xFF, source.randrange(256))
    data[source.randrange(len(data))] = source.choice(interesting)


def _truncate(source: random.Random, data: bytearray) -> None:
    del data[source.randrange(len(data)) :]


def _delete(source: random.Random, data: bytearray) -> None:
    start = source.randrange(len(data))
    del data[start : start + source.randint(1, 8)]


def _insert(source: random.Random, data: bytearray) -> None:
    start = source.randrange(len(data) + 1)
    data[start:start] = source.randbytes(source.randint(1, 8))


def _repeat(source: random.Random, data: bytearray) -> None:
    start = source.randrange(len(data))
    part = data[start : start + source.randint(1, 16)]
    data[start:start] = part


def _change_header(source: random.Random, data: bytearray) -> None:
    data[0] = source.randrange(256)


_MUTATIONS: Sequence[Mutation] = (
    _flip_bit,
    _replace_byte,
    _truncate,
    _delete,
    _insert,
    _repeat,
    _change_header,
)


def mutate(source: random.Random, data: bytes) -> bytes:
    """`data` with one to four damages, chosen by `source`."""
    damaged = bytearray(data)
    for _ in range(source.randint(1, 4)):
        if damaged:
            source.choice(_MUTATIONS)(source, damaged)
    return bytes(damaged)


def mutations(seed: int, samples: Sequence[bytes], count: int) -> Iterator[bytes]:
    """`count` damaged inputs made from `samples`; the same for the same seed."""
    source = random.Random(seed)
    for _ in range(count):
        yield mutate(source, source.choice(samples))
