"""Profiles a C program: which functions its cycles go to, and how long each call of one takes."""

from pathlib import Path

from rackwright import Server, compile_program, profile

HERE = Path(__file__).parent
program = compile_program([HERE / "words.c"])

seen = profile(Server("rocket"), program, ["20000"])
calls = seen.calls()
print(calls[["function", "count", "exclusive_cycles", "p50", "p99", "maximum"]].head(6).to_string())
shares = calls.set_index("function")["inclusive_cycles"] / seen.cycles[0]
print(f"insert is {shares['insert']:.0%} of all cycles")
print(f"every cycle is in a stack: {sum(cycles for *_, cycles, _ in seen.stacks()) == seen.cycles[0]}")
