"""Functions of DRX beside MPFR: patterns of binary32 at equal distances, all of bfloat16, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drx_random import of
from test_drx_reductions import FUNCTIONS

from rackwright.drx import Configuration, compile_kernel
from rackwright.drx import xp as namespace
from rackwright.drx.machine import DrxUnit

gmpy2 = pytest.importorskip("gmpy2", reason="pip install 'rackwright[mpfr]'")

Array = np.ndarray[Any, Any]

BITS = 80
"""Precision of the exact numbers, which are then rounded to binary64."""

STEP = 997
"""From one pattern to the next: each bit is turned, and each exponent has some 8,000 numbers."""

RANDOM = 2_000_000

PART = 1 << 20
"""Numbers that a program computes with."""

EXACT: dict[str, Callable[..., Any]] = {
    "divide": gmpy2.div,
    "sqrt": gmpy2.sqrt,
    "exp": gmpy2.exp,
    "log": gmpy2.log,
    "log2": gmpy2.log2,
    "log10": gmpy2.log10,
}


def patterns() -> Array:
    """Numbers of binary32 by their bits."""
    steps = np.arange(0, 1 << 32, STEP, dtype=np.uint32)
    short = np.arange(0, 1 << 16, dtype=np.uint32) << 16
    drawn = np.random.default_rng(48).integers(0, 1 << 32, RANDOM, np.uint32)
    every = np.concatenate([steps, short, drawn])
    return np.resize(every, -(-len(every) // PART) * PART).view(np.float32)


def exact(name: str, inputs: list[Array]) -> Array:
    """What MPFR gives, as numbers of binary64."""
    function = EXACT[name]
    with gmpy2.context(precision=BITS, trap_divzero=False):
        columns = [[gmpy2.mpfr(each) for each in array.tolist()] for array in inputs]
        return np.array([float(function(*each)) for each in zip(*columns, strict=True)])


def errors(found: Array, expected: Array) -> Array:
    """Differences in units in the last place of the nearest number; numbers that are not finite have none."""
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = expected.astype(np.float32)
        place = np.spacing(np.abs(nearest)).astype(np.float64)
    finite = np.isfinite(nearest) & np.isfinite(found)
    assert np.array_equal(found[~finite], nearest[~finite], equal_nan=True)
    differences: Array = np.abs(found[finite] - expected[finite]) / place[finite]
    return differences


@pytest.mark.long("six million numbers of each function take MPFR some minutes")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_within_a_unit_in_the_last_place(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    first = patterns()
    second = np.random.default_rng(49).permutation(first)
    inputs = [first, second] if name == "divide" else [first]

    case = of(lambda *given: FUNCTIONS[name](namespace, given[0], given[-1]), [x[:PART] for x in inputs])
    program = compile_kernel(case.kernel, Configuration(lanes=128)).program
    unit = DrxUnit({"lanes": 128}, model=True)
    worst = 0.0
    for begin in range(0, len(first), PART):
        part = [array[begin : begin + PART] for array in inputs]
        ended = unit.run(program, [each.tobytes() for each in part], 4 * PART)
        assert ended.status == "ok"
        found = np.frombuffer(ended.output, np.float32)
        worst = max(worst, float(errors(found, exact(name, part)).max(initial=0.0)))
    record_property("numbers", len(first))
    record_property("worst", worst)
    assert worst <= 1
