"""Programs whose `malloc` is the unit's: what the functions return, and what the library asks for."""

from __future__ import annotations

import pytest

from bootstrap.paths import SOFTWARE
from rackwright import Server, compile_program

PRINTED = b"""\
malloc 0 1
calloc 1 1
realloc kept 1
realloc kept 1
realloc kept 1
aligned 0 0 2 1
huge 1 1
child kept
parent 0 kept 1
"""
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def test_every_function_of_the_family_and_a_child() -> None:
    program = compile_program([SOFTWARE / "tests" / "allocations.c"], options=WARNINGS, by_units=["malloc"])
    result = Server("rocket", ["allocate"]).run(program)
    assert (result.exit_code, result.stdout, result.stderr) == (0, PRINTED, b"")
    assert result.counters["allocate.kept"] > 0


@pytest.mark.long("the C++ library's test is compiled twice")
def test_an_unchanged_program_in_cpp_prints_the_same() -> None:
    sources = [SOFTWARE / "tests" / "library.cpp"]
    results = [
        Server("functional", ["allocate"]).run(compile_program(sources, by_units=names))
        for names in ([], ["malloc"])
    ]
    library, unit = results
    assert library.stdout == unit.stdout
    assert library.counters["allocate.busy"] == 0
    assert unit.counters["allocate.busy"] > 0


def test_several_harts_are_refused_in_a_line() -> None:
    program = compile_program([SOFTWARE / "tests" / "allocations.c"], by_units=["malloc"])
    result = Server("functional", ["allocate"], harts=2).run(program)
    assert result.exit_code == 134
    assert result.stderr == b"malloc by the unit allocate: a server with one hart is needed\n"
