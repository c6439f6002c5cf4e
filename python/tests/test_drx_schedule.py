"""Schedules of DRX: what is computed once for several tiles, banks of operands, calculators set once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drx_random import of

from rackwright.drx import Configuration, choice, compile_kernel, operations, xp
from rackwright.drx.bounds import error_bound, is_within
from rackwright.drx.calculators import OperandCalculators
from rackwright.drx.interleaving import VectorInstruction, interleaved
from rackwright.drx.machine import Ended, run_model
from rackwright.drx.order import order_of
from rackwright.drx.program import Builder
from rackwright.drx.tile import Tile
from rackwright.drx.vector import Constant, Place, VectorLoops

SMALL = Configuration.of({"lanes": 8, "scratchpad-kib": 4, "banks": 2})


def test_what_tiles_have_in_common_is_computed_once() -> None:
    """Roots of a vector beside a matrix: all operations but the product with it."""
    source = np.random.default_rng(3)
    inputs = [source.standard_normal(shape, np.float32) for shape in ((40, 70), (70,))]
    case = of(lambda x, rest: x * xp.sqrt(xp.abs(rest)), inputs)
    compiled = compile_kernel(case.kernel, SMALL)
    (tiling,) = compiled.tilings
    order = order_of(tiling.nest, tiling.tile.stored)
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


@pytest.mark.parametrize(
    ("function", "shapes", "strip"),
    [
        (lambda x, bank: xp.log10(xp.abs(x @ bank) + 1), [(64, 48), (48, 16)], 8),
        (lambda x, bank, by: xp.log10(xp.abs(x @ bank) + 1) * by, [(64, 48), (48, 16), (16,)], 4),
    ],
    ids=["in buffers of inputs", "in strips"],
)
def test_what_follows_a_sum_takes_more_room(
    function: Callable[..., Any], shapes: list[tuple[int, ...]], strip: int
) -> None:
    """It takes that of inputs, if none is read any more, or is computed for a part of the rows at a time."""
    source = np.random.default_rng(3)
    inputs = [source.standard_normal(shape, np.float32) for shape in shapes]
    case = of(function, inputs)
    compiled = compile_kernel(case.kernel, SMALL)
    (tiling,) = compiled.tilings
    assert (tiling.tile.extents[0], tiling.strip) == (8, strip)
    assert ("in strips of 4" in compiled.schedule) == (strip == 4)
    (output, *_) = tiling.output.places
    assert (min(tiling.temporaries.values()) < output) == (strip == 8)
    ended = run_model(compiled.program, [each.tobytes() for each in inputs], 4 * 64 * 16, SMALL)
    found = np.frombuffer(ended.output, np.float32).reshape(64, 16)
    expected = case.kernel.host(inputs)
    assert is_within(found, expected, error_bound(compiled.expression, expected))


def test_few_elements_are_taken_together_in_pairs() -> None:
    """No operation reads what it writes; parts of rows are loaded for blocks that can be turned."""
    frame = np.random.default_rng(4).integers(0, 256, (60, 40, 3), np.uint8)
    case = of(
        lambda x: xp.permute_dims(xp.max(xp.reshape(x, (30, 2, 20, 2, 3)), axis=(1, 3)), (2, 1, 0)), [frame]
    )
    compiled = compile_kernel(case.kernel, SMALL)
    (tiling,) = compiled.tilings
    assert tiling.nest.kept == len(tiling.nest.shape)
    assert [each.function for each in tiling.nest.operations] == ["maximum"] * 3
    ended = run_model(compiled.program, [frame.tobytes()], frame.size // 4, SMALL)
    expected = case.kernel.host([frame])
    assert np.array_equal(np.frombuffer(ended.output, np.uint8).reshape(expected.shape), expected)


TURNED: dict[str, tuple[Callable[[Any], Any], int, tuple[int, ...], Tile]] = {
    "elements": (
        lambda x: xp.permute_dims(xp.astype(x // 2 + 1, xp.uint8), (1, 0)),
        16,
        (192, 90),
        Tile((30, 48), (30, 96), (32, 48)),
    ),
    "pairs of rows": (
        lambda x: xp.max(xp.reshape(x, (120, 2, 54, 2)), axis=(1, 3)).T,
        8,
        (240, 108),
        Tile((27, 8), (27, 24), (32, 8)),
    ),
}


@pytest.mark.parametrize("name", TURNED)
def test_turned_blocks_are_stored_together(name: str) -> None:
    """Blocks have room for rows of 32 bytes, and several of them are stored in rows that are longer."""
    function, kib, shape, tile = TURNED[name]
    array = np.random.default_rng(4).integers(0, 256, shape, np.uint8)
    case = of(function, [array])
    configuration = Configuration(lanes=64, scratchpad_kib=kib, banks=2)
    compiled = compile_kernel(case.kernel, configuration)
    (tiling,) = compiled.tilings
    assert tiling.tile == tile
    # One loop loads even and odd rows, which are parts of one stream.
    assert len(tiling.inputs) == 1
    ended = run_model(compiled.program, [array.tobytes()], case.kernel.result.bytes, configuration)
    expected = case.kernel.host([array])
    assert np.array_equal(np.frombuffer(ended.output, np.uint8).reshape(expected.shape), expected)


def _instruction(destination: int, *sources: int) -> VectorInstruction:
    """A sum of vectors of 256 bytes, at these multiples of 256, which takes 8 cycles."""
    operands = tuple(Place(256 * place, "f32", 4, (4,)) for place in (destination, *sources))
    return VectorInstruction("add", VectorLoops((), 64, operands, 8))


def test_others_go_ahead_of_an_instruction_that_waits_for_results() -> None:
    first, waits, other = _instruction(2, 0, 1), _instruction(3, 2, 2), _instruction(4, 0, 1)
    assert interleaved([first, waits, other]) == [first, other, waits]
    # One that writes what others read or write does not.
    for destination in (2, 3):
        overwrites = _instruction(destination, 0, 1)
        assert interleaved([first, waits, overwrites]) == [first, waits, overwrites]


def test_operations_wait_for_few_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two functions, the steps of each of which fill the time in which those of the other one wait."""
    source = np.random.default_rng(5)
    inputs = [source.uniform(1, 2, 4096).astype(np.float32) for _ in range(2)]
    case = of(lambda x, y: xp.sqrt(x) + xp.log(y), inputs)
    configuration = Configuration(lanes=128)

    def run() -> Ended:
        compiled = compile_kernel(case.kernel, configuration)
        return run_model(compiled.program, [each.tobytes() for each in inputs], 4 * 4096, configuration)

    ended = run()
    monkeypatch.setattr(choice, "spread", lambda nest: nest)
    monkeypatch.setattr(operations, "interleaved", list)
    before = run()
    assert ended.output == before.output
    assert ended.stalls["dependency"] < before.stalls["dependency"] / 2
