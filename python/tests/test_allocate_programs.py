"""Programs whose memory the unit `allocate` gives out."""

from __future__ import annotations

from bootstrap.paths import REPOSITORY
from rackwright import Server, compile_program


def test_the_example_of_the_guide() -> None:
    program = compile_program([REPOSITORY / "examples/allocate/list.c"])
    result = Server("rocket", ["allocate"]).run(program)
    assert result.exit_code == 0
    assert result.stdout == b"the sum is 499500\nno block begins at memory + 8\n"
