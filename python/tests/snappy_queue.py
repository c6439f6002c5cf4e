"""A Snappy decompressor that is given operations one behind the other, and what has to come of each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright import SnappyUnit
from rackwright.compression import libsnappy
from rackwright.unit import commands
from rackwright.unit.alone import Buffer
from rackwright.unit.commands import STATUS_NAMES

RECORD_BYTES = 16


@dataclass(frozen=True)
class Operation:
    """What one operation is given, and what memory refuses of it: a byte of the input or of the output."""

    packed: bytes
    room: int
    bad_input: int | None = None
    bad_output: int | None = None
    record: bool = True

    def expected(self) -> set[str]:
        """How it may end: a refused byte need not be reached."""
        declared = libsnappy.declared_bytes(self.packed) or 0
        verdict = "ok" if libsnappy.is_valid(self.packed) else "malformed"
        if declared > self.room:
            verdict = "output_full"
        refused = self.bad_input is not None or (self.bad_output is not None and verdict != "output_full")
        if verdict == "ok" and refused:
            return {"access_fault"}
        return {verdict, "access_fault"} if refused else {verdict}


def drawn(source: random.Random, packed: bytes) -> Operation:
    """An operation on `packed` as chance has it: with too little room, refused bytes or no record."""
    declared = min(libsnappy.declared_bytes(packed) or 0, 1 << 12)
    room = source.randrange(declared + 1) if source.random() < 0.1 else declared
    bad_input = source.randrange(len(packed)) if packed and source.random() < 0.1 else None
    bad_output = source.randrange(room) if room and source.random() < 0.1 else None
    return Operation(packed, room, bad_input, bad_output, record=source.random() < 0.7)


def run_together(unit: SnappyUnit, operations: Sequence[Operation]) -> None:
    """Gives all at once; each must end as it would alone, with the library's bytes where it ends well."""
    alone = unit.unit
    alone.release_all()
    places: list[tuple[Buffer, Buffer, Buffer]] = []
    for operation in operations:
        source = alone.load(operation.packed)
        target = alone.reserve(operation.room, "rw")
        record = alone.reserve(RECORD_BYTES)
        alone.bench.write_memory(record.address, bytes(RECORD_BYTES))
        if operation.bad_input is not None:
            alone.bench.fault(source.address + operation.bad_input, 1)
        if operation.bad_output is not None:
            alone.bench.fault(target.address + operation.bad_output, 1)
        places.append((source, target, record))
    for operation, (source, target, record) in zip(operations, places, strict=True):
        commands.start(alone, source, target, record.address if operation.record else 0)
    last = commands.wait(alone, max_cycles=10_000_000)
    for operation, (_, target, record) in zip(operations, places, strict=True):
        if operation.record:
            written = alone.read(record)
            status = STATUS_NAMES[written[0] - 1]
            output_bytes = int.from_bytes(written[1:8], "little")
            offset = int.from_bytes(written[8:], "little")
        elif operation is operations[-1]:
            status, output_bytes, offset = last.status, last.output_bytes, last.input_offset
        else:
            continue
        packed = operation.packed.hex()
        assert status in operation.expected(), packed
        assert output_bytes <= operation.room, packed
        assert offset <= len(operation.packed), packed
        if status == "ok":
            assert offset == len(operation.packed), packed
            assert alone.read(target, output_bytes) == libsnappy.decompress(operation.packed), packed
        if status == "output_full":
            assert (output_bytes, offset) == (0, 0), packed
