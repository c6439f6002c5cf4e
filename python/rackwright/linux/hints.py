"""Commands in images that do nothing but execute a hint, for triggers of `rw profile`."""

from __future__ import annotations

import struct

COMMANDS = {"profile-begin": 1, "profile-end": 2}
"""Their names, and the number of the hint that each executes: `slti x0, x0, N`."""

_ADDRESS = 0x10000
_MACHINE_RISCV = 243
_EXIT = 93


def command(number: int) -> bytes:
    """A static program, of which all is written out here: the hint, and `exit(0)`."""
    code = [
        number << 20 | 0x2013,  # slti x0, x0, number
        0x00000513,  # li a0, 0
        _EXIT << 20 | 0x893,  # li a7, 93
        0x00000073,  # ecall
    ]
    head, segment = 64, 56
    size = head + segment + 4 * len(code)
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    elf = struct.pack(
        "<16sHHIQQQIHHHHHH",
        *(identity, 2, _MACHINE_RISCV, 1, _ADDRESS + head + segment, head, 0, 0),
        *(head, segment, 1, 0, 0, 0),
    )
    readable_executable, page = 5, 0x1000
    load = struct.pack("<IIQQQQQQ", 1, readable_executable, 0, _ADDRESS, _ADDRESS, size, size, page)
    return elf + load + struct.pack("<4I", *code)
