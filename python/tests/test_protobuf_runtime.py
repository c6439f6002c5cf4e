"""The runtime with the units on the simulated server: ownership, answers, reasons, bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from protobuf_programs import PROGRAMS, compile_test

from rackwright.protobuf.measure import UNITS
from rackwright.server import Server, run

PROTOS = [PROGRAMS / "everything.proto", PROGRAMS / "modern.proto"]
CHECKED_HEAP = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "free")]


def passed(program: Path, operation: str, cpu: str = "functional") -> list[str]:
    """The tests that a program says it has passed; it ends at the first that fails."""
    result = run(program, cpu=cpu, accelerators=[UNITS[operation]])
    said = result.stderr.decode(errors="replace")
    assert result.exit_code == 0, said
    return result.stdout.decode().split()


def test_objects_of_the_unit_belong_to_the_library(tmp_path: Path) -> None:
    # With relaxing, the linker of Debian 12 takes half a minute.
    options = [*CHECKED_HEAP, "-Wl,--no-relax"]
    program = compile_test(["ownership", "memory"], PROTOS, tmp_path, options=options)
    assert len(passed(program, "deserialize")) == 9


@pytest.mark.parametrize(
    ("name", "operation", "count"), [("calls", "deserialize", 8), ("output", "serialize", 8)]
)
def test_calls(name: str, operation: str, count: int, tmp_path: Path) -> None:
    program = compile_test([name], PROTOS, tmp_path)
    assert len(passed(program, operation)) == count


@pytest.mark.parametrize(("operation", "cycles"), [("deserialize", 35), ("serialize", 88)])
def test_a_call_for_an_empty_message_takes_few_cycles_of_the_core_at_the_clock_that_synthesis_supports(
    operation: str, cycles: int, tmp_path: Path
) -> None:
    # As programs are compiled, unlike the other tests: calls are inline.
    program = compile_test(["latency"], PROTOS, tmp_path, options=["-O3"])
    result = Server("boom", [UNITS[operation]]).run(program, [operation])
    assert result.exit_code == 0, result.stderr.decode()
    assert float(result.stdout) <= cycles
