"""Damaged inputs through the RTL: the library's verdict, no hang, nothing touched outside."""

from __future__ import annotations

import pytest

from rackwright import SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive
from rackwright.verification import snappy_format as fmt
from rackwright.verification.mutation import mutations

_TEXT = default_archive(400)
SAMPLES = (
    libsnappy.compress(_TEXT),
    libsnappy.compress(_TEXT[:60]),
    libsnappy.compress(b"ab" * 100),
    fmt.stream(209, [fmt.literal(_TEXT[:70]), fmt.copy_4(70, 64), fmt.copy_1(9, 11), fmt.copy_2(3, 64)]),
    fmt.stream(8, [fmt.literal(_TEXT[:4], 4), fmt.copy_1(4, 4)]),
)


def run_mutations(unit: SnappyUnit, seed: int, count: int) -> None:
    """Every damaged input must end as the library says."""
    for packed in mutations(seed, SAMPLES, count):
        room = min(libsnappy.declared_bytes(packed) or 0, 1 << 20)
        result = unit.run(packed, capacity=room)
        valid = libsnappy.is_valid(packed)
        too_long = (libsnappy.declared_bytes(packed) or 0) > room
        expected = {"ok"} if valid else {"malformed", "output_full"} if too_long else {"malformed"}
        assert result.status in expected, packed.hex()
        assert result.output_bytes <= room
        assert not valid or result.verified, packed.hex()


def test_some_mutated_inputs(decompressor: SnappyUnit) -> None:
    run_mutations(decompressor, seed=1, count=10_000)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(10))
def test_a_million_mutated_inputs(decompressor: SnappyUnit, seed: int) -> None:
    run_mutations(decompressor, seed=100 + seed, count=100_000)
