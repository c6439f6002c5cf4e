"""Attaches a unit with AXI4-Stream ports to a server and runs a program that uses it."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright import Server, UnitConfig, compile_program
from rackwright.hardware.headers import server_header
from rackwright.unit.accelerators import server_manifest

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.json"

with TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "units.h").write_text(server_header([server_manifest(UnitConfig(str(MANIFEST)))]))
    program = compile_program([HERE / "filter.c"], folder / "filter.elf", [f"-I{folder}"])
    result = Server("rocket", [MANIFEST]).run(program)

print(result.stdout.decode(), end="")
print(f"{result.cycles} cycles, of which the unit was stepped {result.unit_cycles}")
sys.exit(result.exit_code)
