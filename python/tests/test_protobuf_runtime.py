"""The runtime with the units on the simulated server: ownership, answers, reasons, bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from protobuf_programs import PROGRAMS, compile_test

from rackwright.machine.server import Server, run
from rackwright.protobuf.measure import UNITS

PROTOS = [PROGRAMS / "everything.proto", PROGRAMS / "modern.proto"]
CHECKED_HEAP = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "free")]


def passed(program: Path, operation: str, cpu: str = "functional") -> list[str]:
    """The tests that a program says it has passed; it ends at the first that fails."""
    result = run(program, cpu=cpu, accelerators=[UNITS[operation]])
    said = result.stderr.decode(errors="replace")
    assert result.exit_code == 0, said
    return result.stdout.decode().split()


def test_objects_of_the_unit_belong_to_the_library(tmp_path: Path) -> None:
    program = compile_test(["ownership", "memory"], PROTOS, tmp_path, options=CHECKED_HEAP)
    assert len(passed(program, "deserialize")) == 9


@pytest.mark.parametrize(
    ("name", "operation", "count"), [("calls", "deserialize", 8), ("output", "serialize", 8)]
)
def test_calls(name: str, operation: str, count: int, tmp_path: Path) -> None:
    program = compile_test([name], PROTOS, tmp_path)
    assert len(passed(program, operation)) == count


@pytest.fixture(scope="module")
def latency(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that asks for the cycles of a call, compiled as users' are: calls are inline.

    The other messages of everything.proto, which it does not use, take half a minute to compile like this.
    """
    folder = tmp_path_factory.mktemp("latency")
    proto = folder / "everything.proto"
    proto.write_text('syntax = "proto2"; package rackwright.tests; message Empty {}', encoding="utf-8")
    return compile_test(["latency"], [proto], folder, options=["-O3"], relaxed=True)


@pytest.mark.parametrize(("operation", "cycles"), [("deserialize", 10), ("serialize", 88)])
def test_a_call_for_an_empty_message_takes_few_cycles_of_the_core_at_the_clock_that_synthesis_supports(
    operation: str, cycles: int, latency: Path
) -> None:
    result = Server("boom", [UNITS[operation]]).run(latency, [operation])
    assert result.exit_code == 0, result.stderr.decode()
    assert float(result.stdout) <= cycles
