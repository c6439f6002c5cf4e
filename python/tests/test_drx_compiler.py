"""Kernels of DRX, compiled and run in the model, against NumPy; and kernels that can't be compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drx_lifetimes import undisturbed
from drx_random import Case, compiled_cases, of, same_numbers
from tiers import long

from rackwright.drx import (
    Compiled,
    Configuration,
    compile_kernel,
    i16,
    i32,
    kernel,
    load_kernel,
    u8,
    xp,
)
from rackwright.drx.arrays import random_inputs
from rackwright.drx.element import Element
from rackwright.drx.machine import run_model
from rackwright.drx.result import run_kernel
from rackwright.errors import RackwrightError

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "drx").glob("*.py"))
SMALL = Configuration(lanes=8, scratchpad_kib=4, banks=2, instruction_kib=64)
"""So little scratchpad that arrays of a few KiB are cut into tiles."""

CYCLES = 1 << 28
"""Four times the default: reductions within others are computed again for each tile (seed 99384)."""


def agrees(case: Case, configuration: Configuration = SMALL) -> None:
    """The model gives what NumPy gives."""
    gives(compile_kernel(case.kernel, configuration), case)


def gives(compiled: Compiled, case: Case) -> None:
    """A compiled case gives in the model what NumPy gives."""
    data = [np.ascontiguousarray(array).tobytes() for array in case.inputs]
    ended = run_model(compiled.program, data, case.kernel.result.bytes, compiled.configuration, CYCLES)
    assert (ended.status, ended.output_bytes > 0) == ("ok", True), compiled.program
    same_numbers(ended.output, case)


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(300), id="300"),
        *(
            long(range(first, first + 10_000), why="six minutes of a processor", name=f"from {first}")
            for first in range(0, 100_000, 10_000)
        ),
    ],
)
def test_random_expressions(seeds: range, record_property: Callable[[str, object], None]) -> None:
    """Equal to the bit, but for sums of binary32 and functions, which are within bounds of the exact ones."""
    compared = 0
    for seed, case, compiled in compiled_cases(seeds, SMALL):
        try:
            undisturbed(compiled)
            gives(compiled, case)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
        compared += 1
    assert compared > len(seeds) * 0.9
    record_property("expressions", compared)


@pytest.mark.parametrize("element", [u8, i16, i32], ids=str)
@pytest.mark.parametrize("constant", [2.75, -3.5, 100.0])
def test_a_cast_of_a_choice_with_a_constant(element: Element, constant: float) -> None:
    """The constant is cast as a number of binary32, on either side, though no other operand has that type."""
    numbers = np.linspace(4, 120, 37, dtype=np.float32)
    constant = abs(constant) if element is u8 else constant

    def chosen(x: Any) -> Any:
        return xp.astype(xp.where(x < 50.0, constant, x), element.dtype)

    def other(x: Any) -> Any:
        return xp.astype(xp.where(x < 50.0, x, constant), element.dtype)

    def divided(x: Any) -> Any:
        return xp.astype(xp.where(x < 50.0, x / 3.0, constant), element.dtype)

    for function in (chosen, other, divided):
        agrees(of(function, [numbers]))


@pytest.mark.parametrize("size", [1, 31, 32, 33, 1000, 1024, 4096, 5000, 65_535, 65_536, 100_003])
def test_every_size(size: int) -> None:
    data = np.arange(size, dtype=np.uint8)
    agrees(of(lambda x: xp.astype(x * 3 + 1, xp.uint8), [data]))
    agrees(of(lambda x: xp.astype(x, xp.int32) * 1000 - x, [data]))


def test_axes_of_which_several_are_cut() -> None:
    data = np.arange(40 * 30 * 20, dtype=np.int16).reshape(40, 30, 20)
    agrees(of(lambda x: xp.permute_dims(x, (2, 0, 1)) + 1, [data]))
    agrees(of(lambda x: xp.flip(x, axis=(0, 2))[::2, 1:, ::-3], [data]))
    agrees(of(lambda x, y: x + y, [data, data[:1, :, :1].copy()]))


def test_arrays_put_together() -> None:
    first = np.arange(600, dtype=np.int16).reshape(20, 30)
    second = np.arange(90, dtype=np.int16).reshape(3, 30)
    agrees(of(lambda x, y: xp.concat([x, y, x]), [first, second]))
    agrees(of(lambda x, y: xp.reshape(xp.concat([x, y]) * 3, (-1,)), [first, second]))
    agrees(of(lambda x: xp.concat([x[:, 3:], x.T[:20], x[:, :1]], axis=1) + x[:, :1], [first[:, :20]]))
    agrees(of(lambda x: xp.astype(xp.concat([x, x]), xp.int16) + 1, [first.astype(np.int64) << 13]))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example(example: Path) -> None:
    found = load_kernel(example)
    result = run_kernel(found, random_inputs(found), parameters={"lanes": 128})
    assert (result.status, result.verified) == ("ok", True)
    first, again = (compile_kernel(found) for _ in range(2))
    assert first.program.to_bytes() == again.program.to_bytes()
    undisturbed(first)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("xp.sin(x)", r"kernel\.py:6: xp\.sin is not something that the unit does; there are abs, add"),
        ("x // 3", r"kernel\.py:6: // 3: the unit divides by powers of two alone"),
        ("x * 1.5", r"kernel\.py:6: 1\.5 is not an integer"),
        ("x * 300", r"kernel\.py:6: 300 is not in the range of uint8"),
        ("x + x[:, :3]", r"kernel\.py:6: shapes \(4, 8\) and \(4, 3\) do not fit each other"),
        ("x[5]", r"kernel\.py:6: index 5 is outside axis 0, which has 4 elements"),
        ("xp.reshape(x.T, (32,))", r"kernel\.py:6: reshape from \(8, 4\) to \(32,\) crosses axes"),
        ("xp.reshape(x, (5, 5))", r"kernel\.py:6: \(4, 8\) has 32 elements, and \(5, 5\) has not"),
        ("xp.astype(x, xp.float64)", r"kernel\.py:6: the unit has no float64; there are u8, i8"),
        ("x if x else x", r"kernel\.py:6: a kernel can't decide by the value of an array"),
        ("(x < 3) + (x < 4)", r"kernel\.py:6: add of truth values"),
        ("xp.astype(x, xp.int8)", r"kernel: returns i8\[4, 8\], but is declared to return u8\[4, 8\]"),
        ("xp.concat([x, x]).T", r"kernel\.py:6: what xp\.concat gives can be cast, computed with, and"),
        ("xp.concat([x, x[:, 1:]])", r"kernel\.py:6: concat: arrays differ in their types, or in their"),
        ("3", "kernel: returns int, not an array"),
    ],
)
def test_what_can_not_be_expressed(tmp_path: Path, body: str, complaint: str) -> None:
    path = tmp_path / "kernel.py"
    lines = ["from rackwright import drx", "from rackwright.drx import u8, xp", "", "@drx.kernel"]
    lines += ["def kernel(x: u8[4, 8]) -> u8[4, 8]:", f"    return {body}", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(RackwrightError, match=complaint) as refused:
        compile_kernel(load_kernel(path))
    assert "\n" not in str(refused.value)


def test_what_does_not_fit_the_unit() -> None:
    def long(x: Any) -> Any:
        for number in range(60):
            x = (x + number) ^ (x & number)
        return x

    case = of(long, [np.arange(9000, dtype=np.int16)])
    agrees(case, Configuration(lanes=8, scratchpad_kib=4, banks=2, instruction_kib=64))
    with pytest.raises(RackwrightError, match=r"the program has .* instructions, and the unit room for 256"):
        compile_kernel(case.kernel, Configuration(instruction_kib=1))


def test_files_without_one_kernel(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    for text, complaint in (("", "has 0 kernels"), ("1 / 0", "ZeroDivisionError"), ("x =", "SyntaxError")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(RackwrightError, match=f"kernel.py: {complaint}"):
            load_kernel(path)


def test_a_kernel_has_types() -> None:
    @kernel
    def bare(x, y: u8[3]):  # type: ignore
        return x + y

    with pytest.raises(RackwrightError, match=r"bare: x has no type of an array, like u8\[4, 8\]"):
        compile_kernel(bare)
