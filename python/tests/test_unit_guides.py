"""The examples of the guides to memory, to elements by index, and to keys and values."""

from __future__ import annotations

from bootstrap.paths import REPOSITORY
from rackwright import Server, UnitConfig, compile_program


def test_memory_that_a_unit_gives_out() -> None:
    program = compile_program([REPOSITORY / "examples/allocate/list.c"])
    result = Server("rocket", ["allocate"]).run(program)
    assert result.exit_code == 0
    assert result.stdout == b"the sum is 499500\nno block begins at memory + 8\n"


def test_elements_that_a_unit_fetches() -> None:
    program = compile_program([REPOSITORY / "examples/gather/sum.c"])
    result = Server("rocket", ["gather"]).run(program)
    assert result.exit_code == 0
    assert result.stdout == b"32621076, and by loads 32621076; no problem\n"


def test_ranges_that_a_unit_sums() -> None:
    program = compile_program([REPOSITORY / "examples/ordered/range.c"])
    small = UnitConfig("ordered-index", {"sets": 8, "walks": 8})  # the design of other tests
    result = Server("rocket", [small]).run(program)
    assert result.exit_code == 0
    assert result.stdout.decode().splitlines() == [
        "1 keys, the first has 5, all 5",
        "0 keys, the first has 0, all 0",
        "10 keys, the first has 10, all 145",
        "1000 keys, the first has 0, all 499500",
    ]


def test_keys_that_a_unit_looks_up() -> None:
    program = compile_program([REPOSITORY / "examples/store/lookup.c"])
    result = Server("rocket", ["store"]).run(program)
    assert result.exit_code == 0
    assert result.stdout.decode().splitlines() == [
        "request 1: 0, ''",
        "request 2: 0, ''",
        "request 3: 0, 'two'",
        "request 4: 1, ''",
        "2 items",
    ]
