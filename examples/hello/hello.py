"""Compiles a C program and runs it on two models of a core."""

from pathlib import Path

from rackwright import compile_program, run

HERE = Path(__file__).parent
program = compile_program([HERE / "hello.c"])

for cpu in ("rocket", "boom"):
    result = run(program, ["rack", "wright"], cpu=cpu)
    print(result.stdout.decode(), end="")
    print(f"{cpu}: {result.instructions} instructions in {result.cycles} cycles")
