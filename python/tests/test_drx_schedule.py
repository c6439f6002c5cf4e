"""Schedules of DRX: what is computed once for several tiles, banks of operands, calculators set once."""

from __future__ import annotations

import numpy as np
from drx_random import of

from rackwright.drx import Configuration, compile_kernel, xp
from rackwright.drx.calculators import OperandCalculators
from rackwright.drx.machine import run_model
from rackwright.drx.order import order_of
from rackwright.drx.program import Builder
from rackwright.drx.vector import Constant, Place

SMALL = Configuration.of({"lanes": 8, "scratchpad-kib": 4, "banks": 2})


def test_what_tiles_have_in_common_is_computed_once() -> None:
    """Roots of a vector beside a matrix: all operations but the product with it."""
    source = np.random.default_rng(3)
    inputs = [source.standard_normal(shape, np.float32) for shape in ((40, 70), (70,))]
    case = of(lambda x, rest: x * xp.sqrt(xp.abs(rest)), inputs)
    compiled = compile_kernel(case.kernel, SMALL)
    (tiling,) = compiled.tilings
    order = order_of(tiling.nest, tiling.tile)
    operations = range(len(tiling.nest.operations))
    assert order.inner == 0
    assert order.once == set(operations[:-1])
    ended = run_model(compiled.program, [each.tobytes() for each in inputs], 4 * 40 * 70, SMALL)
    expected = inputs[0] * np.sqrt(np.abs(inputs[1]))
    assert np.array_equal(np.frombuffer(ended.output, np.float32).reshape(40, 70), expected)


def test_operands_that_are_read_together_are_in_different_banks() -> None:
    case = of(lambda x: xp.exp(x), [np.ones(64, np.float32)])
    compiled = compile_kernel(case.kernel, Configuration.of({"lanes": 8, "scratchpad-kib": 16, "banks": 4}))
    (tiling,) = compiled.tilings
    bank = 16 * 1024 // 4
    assert len({place // bank for place in tiling.temporaries.values()}) > 1


def test_an_operand_that_is_held_takes_no_instruction() -> None:
    builder, calculators = Builder(), OperandCalculators([0, 1, 2])
    first, second = Place(64, "f32", 4, (4,)), Place(128, "f32", 4, (4,))
    assert calculators.choose(builder, [first, first, Constant(1)]) == [0, 0, 1]
    assert len(builder.program.instructions) == 4
    # The same bits are the same operand, and other bits another: 1 is not 1.0, and 0.0 is not -0.0.
    assert calculators.choose(builder, [first, Constant(1)]) == [0, 1]
    assert len(builder.program.instructions) == 4
    assert calculators.choose(builder, [second, Constant(1.0)]) == [2, 0]
    assert calculators.choose(builder, [second, Constant(0.0)]) == [2, 1]
    assert calculators.choose(builder, [second, Constant(-0.0)]) == [2, 0]
    assert calculators.choose(builder, [first]) == [1]
