"""Tries a unit of one's own alone, before any program uses it.

Takes the path of a manifest; without one, that of the SystemVerilog version.
"""

import random
import sys
from pathlib import Path

from rackwright import Unit

COUNT, RESULT, STATUS = 0, 1, 2
OK, ACCESS_FAULT = 0, 4

HERE = Path(__file__).parent
unit = Unit(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "systemverilog" / "manifest.json")

for length in (0, 1, 15, 16, 17, 1000, 65536):
    for misalignment in (0, 1, 15):
        data = random.Random(length).randbytes(length)
        buffer = unit.load(data, misalignment=misalignment)
        start = unit.cycle
        unit.command(COUNT, buffer.address, buffer.length)
        answer = unit.query(RESULT)
        assert answer == sum(byte.bit_count() for byte in data)
        assert unit.query(STATUS) == OK
        print(f"{length:6} bytes, {misalignment:2} into a page: {answer:6} ones, {unit.cycle - start} cycles")

unit.command(COUNT, 2**64 - 1, 2)
assert unit.query(STATUS) == ACCESS_FAULT, "a buffer that wraps around must be refused"
assert unit.violations == 0, "the unit touched memory outside its buffers"
