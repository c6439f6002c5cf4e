"""Kernels as programs in C for harts: by operation and fused, on simulated harts and on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import rw
from drx_random import Case, compiled_cases, of

from rackwright.drx import Configuration, load_kernel, xp
from rackwright.drx.arrays import random_inputs
from rackwright.drx.harts.program import Way
from rackwright.drx.harts.run import run_on_host
from rackwright.drx.kernel import Kernel
from rackwright.drx.result import run_kernel

EXAMPLES = Path(__file__).parents[2] / "examples" / "drx"

KERNELS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "a product of matrices, and functions": (
        lambda x, bank: xp.astype(8 * xp.log10(xp.abs((x[..., 0] ** 2) @ bank) / 3 + 1), xp.uint8),
        [(70, 20, 2), (20, 16)],
    ),
    "a quotient by what is the same in each row": (
        lambda x, rest: x / xp.sqrt(xp.abs(rest)),
        [(12, 70), (70,)],
    ),
    "a sum of all": (lambda x: xp.sum(xp.exp(x) * 2), [(40, 30)]),
    "sums of rows": (lambda x: xp.sum(x, axis=1) - xp.log2(xp.abs(x[:, 0])), [(40, 300)]),
    "a maximum, and another order of axes": (
        lambda x: xp.permute_dims(xp.max(xp.reshape(x, (6, 2, 5, 2, 3)), axis=(1, 3)), (2, 1, 0)),
        [(12, 10, 3)],
    ),
    "arrays put together": (lambda x, y: xp.concat([xp.log(xp.abs(x)), y * 2]), [(300, 7), (9, 7)]),
}


def _case(name: str) -> Case:
    function, shapes = KERNELS[name]
    source = np.random.default_rng(3)
    return of(function, [source.standard_normal(shape, np.float32) for shape in shapes])


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("name", KERNELS)
def test_a_program_gives_what_numpy_gives(name: str, way: Way) -> None:
    case = _case(name)
    result = run_kernel(case.kernel, case.inputs, "host", harts=3, way=way)
    assert result.verified
    assert result.seconds


def test_random_expressions() -> None:
    for seed, case, _ in compiled_cases(range(1, 4), Configuration()):
        for way in Way:
            assert run_kernel(case.kernel, case.inputs, "host", harts=2, way=way).verified, seed


def test_harts_share_the_work() -> None:
    kernel = load_kernel(EXAMPLES / "scale.py")
    inputs = random_inputs(kernel)
    one, four = (run_kernel(kernel, inputs, "boom", harts=harts) for harts in (1, 4))
    again = run_kernel(kernel, inputs, "boom", harts=4)
    assert one.verified
    assert four.verified
    assert one.timed is not None
    assert four.timed is not None
    assert again.timed is not None
    assert four.timed.digest == again.timed.digest
    assert four.timed.nanoseconds < one.timed.nanoseconds / 2


def test_a_wrong_program_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(kernel: Kernel, inputs: list[bytes], way: Way, threads: int) -> Any:
        timed = run_on_host(kernel, inputs, way, threads)
        return type(timed)(bytes(len(timed.output)), way, threads, timed.nanoseconds, timed.vectors)

    monkeypatch.setattr("rackwright.drx.result.run_on_host", wrong)
    case = _case("sums of rows")
    assert not run_kernel(case.kernel, case.inputs, "host").verified


def test_on_the_command_line() -> None:
    ended = rw("drx", "run", EXAMPLES / "scale.py", "--on", "host", "--code", "by-operation", "--json")
    record = ended.json()
    assert (record["verified"], record["harts"], record["code"]) == (True, 1, "by-operation")
    assert (record["cycles"], record["digest"], record["roofline"]) == (None, None, None)
    assert record["seconds"] > 0
    shown = rw("drx", "run", EXAMPLES / "scale.py", "--on", "boom", "--harts", "2").stdout
    assert "2, fused" in shown
