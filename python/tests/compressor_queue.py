"""A compressor that is given operations one behind the other, and what has to come of each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.compression.codec import CodecUnit
from rackwright.unit import commands
from rackwright.unit.alone import Buffer
from rackwright.unit.commands import STATUS_NAMES

RECORD_BYTES = 16


@dataclass(frozen=True)
class Operation:
    """What one operation is given.

    It has `missing` bytes less room than its output takes. Memory refuses a byte of its input or of its
    output, whose place is a share of their length.
    """

    plain: bytes
    missing: int = 0
    bad_input: float | None = None
    bad_output: float | None = None


class CompressorQueue:
    """A compressor, and what it makes of each input alone, which the official library has read back."""

    def __init__(self, unit: CodecUnit) -> None:
        self.unit = unit
        self._alone: dict[bytes, bytes] = {}

    def alone(self, plain: bytes) -> bytes:
        """The output for `plain`, behind nothing."""
        if plain not in self._alone:
            result = self.unit.run(plain)
            assert result.verified
            assert result.status == "ok"
            self._alone[plain] = result.output
        return self._alone[plain]

    def run(self, operations: Sequence[Operation]) -> None:
        """Gives all at once; each must end as it would alone, with the same bytes where it ends well."""
        outputs = [self.alone(operation.plain) for operation in operations]
        unit = self.unit.unit
        unit.release_all()
        self.unit.equip("llc")
        places = [self._place(*each) for each in zip(operations, outputs, strict=True)]
        for source, target, record in places:
            commands.start(unit, source, target, record.address)
        commands.wait(unit, max_cycles=10_000_000)
        for operation, output, (_, target, record) in zip(operations, outputs, places, strict=True):
            written = unit.read(record)
            status = STATUS_NAMES[written[0] - 1]
            output_bytes = int.from_bytes(written[1:8], "little")
            assert status in _expected(operation, output), operation.plain.hex()
            assert output_bytes <= target.length
            if status == "ok":
                assert int.from_bytes(written[8:], "little") == len(operation.plain)
                assert unit.read(target, output_bytes) == output, operation.plain.hex()
        assert unit.violations == 0

    def _place(self, operation: Operation, output: bytes) -> tuple[Buffer, Buffer, Buffer]:
        """Input, output and record of an operation."""
        unit = self.unit.unit
        source = unit.load(operation.plain)
        target = unit.reserve(max(len(output) - operation.missing, 0), "rw")
        record = unit.reserve(RECORD_BYTES)
        unit.bench.write_memory(record.address, bytes(RECORD_BYTES))
        for share, buffer in ((operation.bad_input, source), (operation.bad_output, target)):
            if share is not None and buffer.length:
                unit.bench.fault(buffer.address + int(share * (buffer.length - 1)), 1)
        return source, target, record


def drawn(source: random.Random, plain: bytes) -> Operation:
    """An operation on `plain` as chance has it: with too little room or refused bytes."""
    kind = source.choice(("good", "good", "good", "full", "input", "output"))
    return Operation(
        plain,
        source.randint(1, 1 + len(plain)) if kind == "full" else 0,
        source.random() if kind == "input" else None,
        source.random() if kind == "output" else None,
    )


def _expected(operation: Operation, output: bytes) -> set[str]:
    """How the operation may end: which of two reasons comes first is not said."""
    reasons = set()
    if operation.missing and output:
        reasons.add("output_full")
    if operation.bad_input is not None and operation.plain:
        reasons.add("access_fault")
    if operation.bad_output is not None and len(output) > operation.missing:
        reasons.add("access_fault")
    return reasons or {"ok"}
