"""Vectors under Linux: the kernel finds them, copies by them, and keeps those of programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rackwright.errors import RackwrightError
from rackwright.linux.boot import boot, restore
from rackwright.linux.image import default_image, load_image
from rackwright.machine.server import Server
from rackwright.machine.workloads import Linux
from rackwright.reproduce.experiment import Settings
from rackwright.reproduce.fireperf.copies import measure

KEEPS = """
    .globl _start
_start:
    vsetvli t0, x0, e32, m8, ta, ma
    vid.v v0
    vmul.vx v0, v0, sp
    vadd.vi v8, v0, 1
    vadd.vi v16, v0, 2
    li t2, 300
1:  li t3, 50000
2:  addi t3, t3, -1
    bnez t3, 2b
    vsub.vv v24, v16, v8
    vmsne.vi v24, v24, 1
    vcpop.m t4, v24
    vsub.vv v24, v8, v0
    vmsne.vi v24, v24, 1
    vcpop.m a0, v24
    add a0, a0, t4
    bnez a0, 3f
    addi t2, t2, -1
    bnez t2, 1b
3:  li a7, 93
    ecall
"""
"""Fills vectors, and looks again and again whether they have changed; ends with how many elements have."""

COPY = "dd if=/dev/zero bs=3000 count=100 2>/dev/null | tr '\\0' x | md5sum"
COPIED = "d408ed46ebcc326f9e7c6bb9c77af1cd"
"""Of 300,000 letters x."""


@pytest.fixture
def keeps(tmp_path: Path) -> Path:
    source, program = tmp_path / "keeps.S", tmp_path / "keeps"
    source.write_text(KEEPS)
    compiler = ["riscv64-linux-gnu-gcc", "-march=rv64gcv", "-nostdlib", "-static"]
    subprocess.run([*compiler, str(source), "-o", str(program)], check=True)
    return program


def test_the_kernel_keeps_the_vectors_of_programs(keeps: Path, tmp_path: Path) -> None:
    booted = tmp_path / "booted"
    image = load_image(default_image())
    three = "./keeps & one=$!; ./keeps & two=$!; ./keeps && wait $one && wait $two"
    shown = f"grep -c '^isa.*imafdcv' /proc/cpuinfo; {COPY}; {three}"
    before = boot(
        image,
        shown,
        harts=2,
        memory_bytes=512 << 20,
        vector=True,
        files=[keeps],
        checkpoint=booted,
        prepare="{ ./keeps; echo $? > kept; } &",
    )
    after = "while [ ! -s kept ]; do sleep 0.01; done; cat kept"
    assert before.exit_code == 0
    assert before.stdout.split()[:2] == [b"2", COPIED.encode()]
    # The one that was under way when the checkpoint was written.
    assert restore(booted, after).stdout == b"0\n"


@pytest.mark.long
def test_timed_harts_go_on_with_vectors(keeps: Path, tmp_path: Path) -> None:
    booted = tmp_path / "booted"
    image = load_image(default_image())
    boot(
        image,
        memory_bytes=512 << 20,
        vector=True,
        files=[keeps],
        checkpoint=booted,
        prepare="{ ./keeps; echo $? > kept; } &",
    )
    command = f"while [ ! -s kept ]; do sleep 0.01; done; cat kept; {COPY}"
    for cpu in ("rocket", "boom"):
        first, second = (restore(booted, command, cpu=cpu) for _ in range(2))
        assert first.stdout.split()[:2] == [b"0", COPIED.encode()]
        assert first.digest == second.digest


@pytest.mark.long
def test_iperf_runs_with_either_way_to_copy() -> None:
    rows = {row.quantity: row.ours for row in measure(Settings(quick=True)).rows}
    assert set(rows) == {"scalar copies", "vector copies", "vector over scalar"}
    assert min(rows.values()) > 0


def test_vectors_are_for_servers_that_boot() -> None:
    with pytest.raises(RackwrightError, match="programs always have vectors"):
        Server(vector=True)
    with pytest.raises(RackwrightError, match="harts, memory and vectors"):
        Server(workload=Linux(checkpoint="booted.checkpoint"), vector=False)
