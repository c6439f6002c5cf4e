"""The commands that all of our units share: one operation from a range of memory to another.

A command is identified by its name; its number is that of the unit's manifest, as in the headers for C that
`rw units --header` generates from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.unit.alone import Buffer, Unit

SRC, DEST_AND_START, LIMIT, CHECK_COMPLETION = "src", "dest_and_start", "limit", "check_completion"
STATUS, OUTPUT_BYTES, INPUT_OFFSET, VERSION = "status", "output_bytes", "input_offset", "version"
EXTEND, WRITTEN = "extend", "written"

STATUS_NAMES = ("ok", "malformed", "output_full", "unsupported", "access_fault")


@dataclass(frozen=True)
class Completion:
    """The result of the last operation: its status by name, bytes written, and the final input position."""

    status: str
    output_bytes: int
    input_offset: int


def start(unit: Unit, source: Buffer, target: Buffer, record: int = 0, flag: int = 0) -> None:
    """Starts an operation that may fill `target`; the unit takes more than one, up to its queue.

    `record` and `flag` are addresses of a completion record (16 bytes) and of a completion flag (8
    bytes), or 0.
    """
    unit.command(SRC, source.address, source.length)
    unit.command(LIMIT, target.length, record)
    unit.command(DEST_AND_START, target.address, flag)


def wait(unit: Unit, max_cycles: int = 0) -> Completion:
    """Waits until every started operation has ended; raises `EngineError` after `max_cycles` (0: never)."""
    unit.query(CHECK_COMPLETION, max_cycles=max_cycles)
    return Completion(STATUS_NAMES[unit.query(STATUS)], unit.query(OUTPUT_BYTES), unit.query(INPUT_OFFSET))


def operate(unit: Unit, source: Buffer, target: Buffer, record: int = 0, max_cycles: int = 0) -> Completion:
    """One operation from start to end."""
    start(unit, source, target, record)
    return wait(unit, max_cycles)
