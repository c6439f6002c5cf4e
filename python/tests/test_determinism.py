"""Equal runs have equal digests, whatever the simulator leaves out."""

from __future__ import annotations

import pytest

from rackwright import PLACEMENTS, SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive

PLAIN = default_archive(30_000)


def outcome(operation: str, placement: str, skip_idle: bool) -> tuple[str, int, str]:
    """Digest, cycles and status of two operations on a fresh unit."""
    unit = SnappyUnit(operation, placement=placement, skip_idle=skip_idle)
    data = PLAIN if operation == "compress" else libsnappy.compress(PLAIN)
    unit.run(data)
    unit.unit.bench.run(5000)
    result = unit.run(data[:1000])
    return result.digest, unit.unit.cycle, result.status


@pytest.mark.parametrize("operation", ["compress", "decompress"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_same_twice_and_without_skipping(operation: str, placement: str) -> None:
    first = outcome(operation, placement, skip_idle=True)
    assert outcome(operation, placement, skip_idle=True) == first
    assert outcome(operation, placement, skip_idle=False) == first


def test_other_input_other_digest(compressor: SnappyUnit) -> None:
    assert compressor.run(b"one").digest != compressor.run(b"two").digest


def test_farther_placements_take_longer() -> None:
    routes = (*PLACEMENTS, "chiplet+pcie")
    cycles = [
        SnappyUnit("decompress", placement=name).run(libsnappy.compress(PLAIN)).cycles for name in routes
    ]
    assert cycles == sorted(cycles)
    assert cycles[0] < cycles[-2] < cycles[-1]
