"""A unit that gets stuck, is not idle when it says so, or fails: what a user is told, and what is seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import rw

from rackwright import EngineError, Server, Unit, compile_program

MANIFEST = Path(__file__).parent / "fixtures" / "moody.json"
STUCK, LATE, FAILS = 0, 1, 2


@pytest.fixture(scope="module", params=[STUCK, LATE, FAILS], ids=["stuck", "late", "fails"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """A program that gives the unit one command and ends with what it answers."""
    folder = tmp_path_factory.mktemp("moody")
    source = folder / "ask.c"
    source.write_text(
        '#include "rackwright/rocc.h"\n'
        f"int main(void) {{ return (int)RACKWRIGHT_CALL(3, {request.param}, 0, 0); }}\n"
    )
    return request.param, compile_program([source], folder / "ask.elf")


def test_who_waits_for_a_stuck_unit_says_so(
    program: tuple[int, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """A note after a while, and the reason in the error at the limit."""
    command, elf = program
    if command != STUCK:
        pytest.skip("the other command")
    with pytest.raises(EngineError) as error:
        Server("functional", [MANIFEST]).run(elf, max_cycles=20_000_000)
    told = "waits for unit `moody`, which has not ended custom-3 funct 0 since cycle"
    assert told in str(error.value)
    assert "it has asked nothing of memory" in str(error.value)
    notes = [line for line in capfd.readouterr().err.splitlines() if told in line]
    assert 1 <= len(notes) <= 4


def test_who_waits_for_a_unit_that_says_it_is_idle_ends_at_once(program: tuple[int, Path]) -> None:
    command, elf = program
    if command != LATE:
        pytest.skip("the other command")
    with pytest.raises(EngineError, match="`moody` does not answer custom-3 funct 1"):
        Server("functional", [MANIFEST]).run(elf)


def test_a_unit_that_lies_while_somebody_waits_is_found(program: tuple[int, Path]) -> None:
    """It says that it is idle, and answers 5000 cycles later."""
    command, elf = program
    if command != LATE:
        pytest.skip("the other command")
    with pytest.raises(EngineError, match=r"`moody` .*idle"):
        Server("functional", [MANIFEST], check_idle=True).run(elf)


def test_an_assertion_that_fails_ends_the_run_with_a_line(program: tuple[int, Path]) -> None:
    """With a program and alone, whether somebody waits or not."""
    command, elf = program
    if command != FAILS:
        pytest.skip("the other commands")
    told = (
        r"unit `moody` stopped at cycle \d+: Moody.sv:\d+: Assertion failed in Moody: command 2 is not for me"
    )
    ended = rw("run", elf, "--accelerator", MANIFEST, "--cpu", "functional")
    assert ended.status == 1
    assert re.search(told, ended.stderr)
    assert ended.stderr.count("\n") == 1
    alone = Unit(MANIFEST)
    with pytest.raises(EngineError, match=told):
        alone.query(FAILS)
    alone = Unit(MANIFEST)
    alone.command(FAILS)
    with pytest.raises(EngineError, match=told):
        alone.bench.run_until_idle()


def test_waves_and_display_with_a_program(program: tuple[int, Path], tmp_path: Path) -> None:
    command, elf = program
    if command == FAILS:
        pytest.skip("the other commands")
    waves = tmp_path / "waves.fst"
    options = ["--accelerator", MANIFEST, "--cpu", "functional", "--max-cycles", 20_000, "--waves", waves]
    ended = rw("run", elf, *options)
    assert ended.status == 1
    assert f"command {command}\n" in ended.stdout
    assert waves.stat().st_size > 100
    assert ended.stderr.count("\n") == 1
