"""Attaches a unit of one's own to a server and runs a program that uses it.

Takes the path of a manifest; without one, that of the SystemVerilog version.
"""

import sys
from pathlib import Path

from rackwright import Server, compile_program

HERE = Path(__file__).parent
manifest = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "systemverilog" / "manifest.json"

program = compile_program([HERE / "count.c"])
result = Server("rocket", [manifest]).run(program)

print(result.stdout.decode(), end="")
print(f"{program}: {result.cycles} cycles, of which the unit was stepped {result.unit_cycles}")
sys.exit(result.exit_code)
