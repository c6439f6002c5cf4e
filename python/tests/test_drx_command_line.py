"""`./rw drx`, from a kernel to a result that NumPy agrees with, and what it says of mistakes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from command_line import rw
from drx_random import of
from test_drx_unit import CONFIGURATION, SHAPE

from bootstrap.paths import REPOSITORY
from rackwright import Server, UnitConfig, compile_program, units
from rackwright.drx import Configuration, compile_kernel, xp
from rackwright.drx.configuration import LIMITS, OTHERS
from rackwright.hardware.headers import server_header
from rackwright.unit.accelerators import unit_manifest

KERNEL = """
from rackwright import drx
from rackwright.drx import u8, xp


@drx.kernel
def scaled(x: u8[30, 50], by: u8[50]) -> u8[50, 30]:
    return xp.astype((x * by).T, xp.uint8)
"""
SETTINGS = [word for name, value in SHAPE.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    return path


@pytest.mark.parametrize("on", ["rtl", "model"])
def test_a_kernel_of_the_users_own(kernel: Path, tmp_path: Path, on: str) -> None:
    x = np.arange(1500, dtype=np.uint8).reshape(30, 50)
    by = np.arange(50, dtype=np.uint8)
    for name, array in (("x", x), ("by", by)):
        np.save(tmp_path / name, array)
    inputs = ["--input", tmp_path / "x.npy", "--input", tmp_path / "by.npy"]
    result = tmp_path / "result.npy"
    ended = rw("drx", "run", kernel, *inputs, "--on", on, "-o", result, "--json", *SETTINGS)
    assert ended.status == 0, ended.stderr
    record = ended.json()
    assert (record["kernel"], record["on"]) == ("scaled", on)
    assert (record["verified"], record["status"], record["bytes"]) == (True, "ok", 3050)
    assert set(record["stalls"]) == {"dependency", "bank", "transfer"}
    assert 0 < sum(record["stalls"].values()) < record["cycles"]
    # 3050 bytes at 25.6 bytes a cycle take longer than 1500 products, four to each of 8 lanes.
    assert record["roofline"] == 120 < record["cycles"]
    assert record["error_bound"] == 0
    assert np.array_equal(np.load(result), (x * by).T)


def test_a_program_without_an_end_is_stopped(kernel: Path, tmp_path: Path) -> None:
    program = tmp_path / "endless.s"
    program.write_text("loop value=4194303\n" * 2 + "wait_loads ends=2\nend\n", encoding="utf-8")
    arguments = ["drx", "run", kernel, "--program", program, "--cycle-limit", "20000", *SETTINGS]
    ended = rw(*arguments)
    assert ended.status == 1
    assert "unsupported at instruction 2" in ended.stdout
    assert "reached" not in ended.stdout
    record = rw(*arguments, "--json").json()
    assert (record["status"], record["of_roofline"], record["bytes_per_second"]) == (
        "unsupported",
        None,
        None,
    )
    assert 20_000 < record["cycles"] < 20_500


def test_a_program_as_text_and_back(kernel: Path, tmp_path: Path) -> None:
    program, text, again = tmp_path / "program", tmp_path / "text", tmp_path / "again"
    assert rw("drx", "compile", kernel, "-o", program, *SETTINGS).status == 0
    assert rw("drx", "disasm", program, "-o", text).status == 0
    assert rw("drx", "asm", text, "-o", again).status == 0
    assert program.read_bytes() == again.read_bytes()
    assert rw("drx", "compile", kernel, "--emit", "asm", *SETTINGS).stdout == text.read_text()


def test_beside_a_hart(tmp_path: Path) -> None:
    unit = UnitConfig("drx", SHAPE)
    (tmp_path / "units.h").write_text(server_header([unit_manifest(unit)]), encoding="utf-8")
    source = REPOSITORY / "examples" / "drx" / "beside.c"
    elf = compile_program([source], tmp_path / "beside.elf", [f"-I{tmp_path}", "-Wall", "-Werror"])
    x = np.arange(1500, dtype=np.uint8).reshape(30, 50)
    compiled = compile_kernel(of(lambda x: xp.astype(x.T * 3, xp.uint8), [x]).kernel, CONFIGURATION)
    words = compiled.program.to_bytes()
    server = Server("rocket", [unit])
    ended = server.run(elf, [str(len(words)), str(x.nbytes)], stdin=words + x.tobytes())
    assert (ended.exit_code, ended.stdout) == (0, (x.T * 3).tobytes())
    assert server.run(elf, [str(len(words)), "10"], stdin=words + x.tobytes()).exit_code == 1


def test_what_a_kernel_becomes(kernel: Path) -> None:
    assert "multiply.u8 input1[" in rw("drx", "compile", kernel, "--emit", "ir").stdout
    assert "tiles of" in rw("drx", "compile", kernel, "--emit", "schedule").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run", "KERNEL", "--input", "none.npy"], "none.npy: No such file or directory"),
        (["run", "KERNEL", "--input", "KERNEL"], "is no file of an array of NumPy"),
        (["run", "none.py"], "none.py: no such file"),
        (["run", "KERNEL", "--harts", "2"], "--harts: is for --on boom and --on host"),
        (["run", "KERNEL", "--on", "host", "--set", "lanes=8"], "--set: is for the unit, and --on host runs"),
        (
            ["run", "KERNEL", "--on", "host", "--cycle-limit", "9"],
            "--cycle-limit: is for the unit, and --on host",
        ),
        (["compile", "KERNEL"], "a program is no text: -o FILE, or --emit asm"),
        (
            ["compile", "KERNEL", "--emit", "asm", "--set", "lanes=7"],
            "lanes: 7 is not allowed; a power of two",
        ),
        (["compile", "KERNEL", "--emit", "asm", "--set", "rows=7"], "rows is not a parameter of drx"),
        (["asm", "KERNEL", "-o", "out"], "kernel.py: line 2: rackwright is not FIELD=VALUE"),
        (["disasm", "KERNEL"], "kernel.py: instruction 0: 0x6f72660a has bits that saturate does not use"),
    ],
)
def test_mistakes_are_one_line(kernel: Path, arguments: list[str], complaint: str) -> None:
    ended = rw("drx", *(str(kernel) if word == "KERNEL" else word for word in arguments))
    assert ended.status == 1
    line = ended.stderr.splitlines()[-1]
    assert complaint in line


def test_a_kernel_that_can_not_be_compiled_is_said_first(kernel: Path) -> None:
    """Without a file for the program, too."""
    kernel.write_text(kernel.read_text(encoding="utf-8") + "\n1 / 0\n", encoding="utf-8")
    ended = rw("drx", "compile", kernel)
    assert ended.status == 1
    assert "kernel.py: ZeroDivisionError" in ended.stderr


def test_an_array_of_another_shape(kernel: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((3, 5), np.int16))
    inputs = ["--input", tmp_path / "x.npy"] * 2
    ended = rw("drx", "run", kernel, *inputs)
    assert (ended.status, ended.stderr.splitlines()[-1]) == (
        1,
        "rw: x is int16[3, 5], and the kernel's is u8[30, 50]",
    )


def test_limits_are_those_of_the_unit() -> None:
    (row,) = [unit for unit in units() if unit.name == "drx"]
    parameters = {each["name"].replace("-", "_"): each for each in row.parameters}
    assert set(parameters) == {*LIMITS, *OTHERS}
    for field in fields(Configuration):
        least, most = LIMITS[field.name]
        assert int(parameters[field.name]["default"]) == field.default
        assert str(parameters[field.name]["range"]).endswith(f"from {least} to {most}")
