"""Attaches a DMA with AXI4 and AXI4-Lite to a server and runs a program that uses it."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright import Server, compile_program
from rackwright.hardware.headers import server_header

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.json"

with TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "units.h").write_text(server_header([MANIFEST]))
    program = compile_program([HERE / "copy.c"], folder / "copy.elf", [f"-I{folder}"])
    result = Server("rocket", [MANIFEST]).run(program)

print(result.stdout.decode(), end="")
print(f"{result.cycles} cycles, of which the unit was stepped {result.unit_cycles}")
sys.exit(result.exit_code)
