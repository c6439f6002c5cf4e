"""Equal runs have equal digests, whatever the simulator leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from drx_random import of

from rackwright import PLACEMENTS, SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive
from rackwright.drx import Configuration, compile_kernel
from rackwright.drx.machine import DrxUnit
from rackwright.unit.commands import start, wait

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


def test_steps_of_time_do_not_change_when_a_memory_of_a_units_own_answers() -> None:
    """Rows begin anywhere in a line, so that some of its beats are requested shortly before it arrives."""
    array = np.random.default_rng(1).integers(0, 256, (61, 97), np.uint8)
    case = of(lambda x: x[:, ::-1][1:58:3, 3:90] + 1, [array])
    shape = {"lanes": 8, "scratchpad-kib": 4, "banks": 2}
    program = compile_kernel(case.kernel, Configuration.of(shape)).program.to_bytes()

    def outcome_in(step: int) -> tuple[str, str, bytes]:
        unit = DrxUnit(shape, model=True).unit
        code, data, target = (
            unit.load(program),
            unit.load(array.tobytes()),
            unit.reserve(case.kernel.result.bytes),
        )
        unit.command("input1_address", data.address)
        unit.command("input1_bytes", data.length)
        start(unit, code, target)
        for _ in range(8_000 // step):
            unit.bench.run(step)
        return wait(unit, 200).status, unit.digest, unit.read(target)

    assert len({outcome_in(step) for step in (1, 16, 8_000)}) == 1


def test_other_input_other_digest(compressor: SnappyUnit) -> None:
    assert compressor.run(b"one").digest != compressor.run(b"two").digest


def test_farther_placements_take_longer() -> None:
    routes = (*PLACEMENTS, "chiplet+pcie")
    cycles = [
        SnappyUnit("decompress", placement=name).run(libsnappy.compress(PLAIN)).cycles for name in routes
    ]
    assert cycles == sorted(cycles)
    assert cycles[0] < cycles[-2] < cycles[-1]
