"""`./rw bench drx`, on the model and in RTL."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rw

KERNEL = """
from rackwright import drx
from rackwright.drx import u8, xp


@drx.kernel
def doubled(x: u8[64, 64]) -> u8[64, 64]:
    return xp.astype(x * 2, xp.uint8)
"""


def test_rows_of_a_kernel(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    ended = rw("drx", "run", path, "--set", "lanes=32", "--json").json()
    rows = rw("bench", "drx", path, "--lanes", "8", "--lanes", "32", "--json").json()["rows"]
    assert [row["lanes"] for row in rows] == [8, 32]
    # 4096 products on 8 lanes; 8192 bytes at 25.6 a cycle.
    assert [(row["roofline"], row["bound"]) for row in rows] == [(512, "lanes"), (320, "memory")]
    assert all(row["verified"] and row["of_roofline"] == row["roofline"] / row["cycles"] <= 1 for row in rows)
    assert {key: rows[1][key] for key in ("cycles", "digest", "stalls")} == {
        key: ended[key] for key in ("cycles", "digest", "stalls")
    }


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
