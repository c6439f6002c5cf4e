"""`./rw bench drx`, on the model and in RTL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import rw
from drx_random import of
from tiers import long

from rackwright.benchmarks.drx import KERNELS, examples, measure
from rackwright.drx import Configuration, compile_kernel, load_kernel, xp
from rackwright.drx.arrays import random_inputs
from rackwright.drx.machine import LIMIT, DrxUnit
from rackwright.drx.roofline import lane_cycles

KERNEL = """
from rackwright import drx
from rackwright.drx import u8, xp


@drx.kernel
def doubled(x: u8[64, 64]) -> u8[64, 64]:
    return xp.astype(x * 2, xp.uint8)
"""

BY_HAND = """
format calculator=0 type=u8 value=1
format calculator=1 type=constant
base calculator=1 value=2 # the factor
region calculator=2 region=1
length value=4096
load scratchpad=0 memory=2 size=4096
wait_loads
multiply destination=0 first=0 second=1
region calculator=2 region=0
store scratchpad=0 memory=2 size=2048
loop value=500 # which makes it slower
wait_stores ends=1
base calculator=0 value=2048
base calculator=2 value=2048
store scratchpad=0 memory=2 size=2048
end
"""


def test_rows_of_a_kernel(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    ended = rw("drx", "run", path, "--set", "lanes=32", "--json").json()
    rows = rw("bench", "drx", path, "--lanes", "8", "--lanes", "32", "--json").json()["rows"]
    assert [row["lanes"] for row in rows] == [8, 32]
    # 8192 bytes at 25.6 a cycle; 4096 products of bytes on 8 lanes take 128.
    assert [(row["roofline"], row["bound"]) for row in rows] == [(320, "memory"), (320, "memory")]
    assert all(row["compile_seconds"] > 0 and row["cycles_per_second"] > 0 for row in rows)
    assert all(row["verified"] and row["of_roofline"] == row["roofline"] / row["cycles"] <= 1 for row in rows)
    assert {key: rows[1][key] for key in ("cycles", "digest", "stalls")} == {
        key: ended[key] for key in ("cycles", "digest", "stalls")
    }


@pytest.mark.parametrize(
    ("function", "dtype", "lanes"),
    [
        (lambda x: x * 2, np.uint8, 1024),
        (lambda x: x * 2, np.int16, 2048),
        (lambda x: x * 2, np.int32, 4096),
        (lambda x: x * 2, np.float32, 4096),
        (lambda x: xp.astype(x, xp.int16) * 2, np.uint8, 2048),
    ],
)
def test_lanes_compute_several_small_integers(function: Any, dtype: Any, lanes: int) -> None:
    """The roofline of 4096 results on one lane, which has 32 bits."""
    compiled = compile_kernel(of(function, [np.zeros(4096, dtype)]).kernel)
    assert lane_cycles(compiled.nests) == lanes


def test_the_unit_over_harts(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    found = rw("bench", "drx", path, "--on", "boom", "--harts", "2", "--lanes", "32", "--json").json()
    (row,) = found["rows"]
    unit = rw("drx", "run", path, "--set", "lanes=32", "--json").json()
    assert (row["verified"], row["harts"], row["lanes"]) == (True, 2, 32)
    assert row["unit_nanoseconds"] == pytest.approx(1e9 * unit["seconds"])
    assert (
        row["over_fused"]
        == found["means"]["over_fused"]
        == row["fused_nanoseconds"] / row["unit_nanoseconds"]
    )
    many = rw("drx", "run", path, "--on", "boom", "--harts", "2", "--code", "by-operation", "--json").json()
    assert row["digests"][0] == many["digest"]
    refused = rw("bench", "drx", path, "--harts", "2")
    assert (refused.status, refused.stderr.splitlines()[-1]) == (1, "rw: --harts: is for --on boom")


def test_a_program_by_hand_runs_beside_what_is_compiled(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    (tmp_path / "kernel.s").write_text(BY_HAND, encoding="utf-8")
    (row,) = rw("bench", "drx", path, "--lanes", "32", "--json").json()["rows"]
    ended = rw("drx", "run", path, "--program", tmp_path / "kernel.s", "--set", "lanes=32", "--json").json()
    assert (ended["verified"], ended["cycles"], ended["instructions"]) == (True, row["by_hand"], 16)
    assert row["cycles"] != row["by_hand"]
    (tmp_path / "kernel.s").write_text(BY_HAND.replace("value=2 #", "value=3 #"), encoding="utf-8")
    refused = rw("bench", "drx", path, "--lanes", "32")
    assert (refused.status, "kernel.s: ends with ok, and not with what NumPy gives" in refused.stderr) == (
        1,
        True,
    )
    wrong = rw("drx", "run", path, "--program", tmp_path / "none.s")
    assert (wrong.status, "none.s: No such file" in wrong.stderr) == (1, True)


@pytest.mark.parametrize(
    "name",
    [
        "video",
        *(long(name, why="a million cycles and more, twice") for name in KERNELS if name != "video"),
    ],
)
def test_what_is_compiled_takes_little_more_than_a_program_by_hand(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    (row,) = measure(examples([name]))
    assert (row.verified, row.by_hand is not None) == (True, True)
    assert row.by_hand is not None
    record_property("over by hand", row.cycles / row.by_hand)
    assert row.cycles <= 1.3 * row.by_hand


@pytest.mark.long("the unit with 32 lanes is compiled, and runs a kernel of half a megabyte")
def test_rtl_takes_the_cycles_of_the_model() -> None:
    kernel = Path(__file__).parents[2] / "examples" / "drx" / "scale.py"
    model, rtl = (
        rw("bench", "drx", kernel, "--lanes", "32", "--on", on, "--json").json()["rows"][0]
        for on in ("model", "rtl")
    )
    assert [rtl[key] for key in ("cycles", "digest", "stalls")] == [
        model[key] for key in ("cycles", "digest", "stalls")
    ]


WHOLE = ("video", "redaction")
"""Kernels that run to their end in RTL; of the others, so many cycles do."""

SOME_CYCLES = 200_000


@pytest.mark.long("the unit with 32 lanes is compiled, and runs up to half a million cycles")
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_full_size_in_rtl(name: str) -> None:
    (path,) = examples([name])
    kernel = load_kernel(path)
    inputs = random_inputs(kernel)
    parameters = {"lanes": 32}
    program = compile_kernel(kernel, Configuration.of(parameters)).program
    data = [np.ascontiguousarray(array).tobytes() for array in inputs]
    limit = LIMIT if name in WHOLE else SOME_CYCLES
    rtl, model = (
        DrxUnit(parameters, model=is_model).run(program, data, kernel.result.bytes, limit)
        for is_model in (False, True)
    )
    assert rtl == model
    if name in WHOLE:
        assert rtl.output == kernel.host(inputs).tobytes()
    else:
        assert (rtl.status, rtl.cycles > SOME_CYCLES) == ("unsupported", True)
