"""Operations of a Snappy decompressor one behind the other: none has to do with those around it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from snappy_queue import Operation, drawn, run_together
from test_snappy_mutation import SAMPLES

from rackwright import SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive
from rackwright.verification.mutation import mutate

GOOD = libsnappy.compress(default_archive(1000))
KINDS = {
    "good": Operation(GOOD, 1000),
    "long": Operation(libsnappy.compress(default_archive(9000)), 9000),
    "empty": Operation(libsnappy.compress(b""), 0),
    "nothing": Operation(b"", 100),
    "cut": Operation(GOOD[:-3], 1000),
    "no preamble": Operation(b"\xff" * 8, 1000),
    "full": Operation(GOOD, 999),
    "input refused": Operation(GOOD, 1000, bad_input=len(GOOD) - 1),
    "preamble refused": Operation(GOOD, 1000, bad_input=0),
    "output refused": Operation(GOOD, 1000, bad_output=999),
}


@pytest.fixture(scope="module")
def queued() -> Iterator[SnappyUnit]:
    """A unit of its own: memory that refuses stays as it is."""
    unit = SnappyUnit("decompress", assertions=True)
    yield unit
    assert unit.unit.violations == 0


@pytest.mark.parametrize("first", KINDS)
def test_every_kind_behind_every_kind(queued: SnappyUnit, first: str) -> None:
    for second in KINDS.values():
        run_together(queued, [KINDS[first], second, KINDS["good"]])


def run_some(unit: SnappyUnit, seed: int, count: int) -> None:
    """Damaged and undamaged inputs, two to six operations at once."""
    source = random.Random(seed)
    for _ in range(count):
        inputs = [source.choice((*SAMPLES, GOOD)) for _ in range(source.randint(2, 6))]
        packed = [mutate(source, each) if source.random() < 0.5 else each for each in inputs]
        run_together(unit, [drawn(source, each) for each in packed])


def test_some_operations_behind_others(queued: SnappyUnit) -> None:
    run_some(queued, seed=1, count=500)


@pytest.mark.long("as above, with more of them")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(4))
def test_a_million_operations_behind_others(seed: int) -> None:
    unit = SnappyUnit("decompress")
    run_some(unit, seed=100 + seed, count=62_500)
    assert unit.unit.violations == 0
