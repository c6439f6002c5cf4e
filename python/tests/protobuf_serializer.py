"""A serializer with memory around it: tables, objects, one message after the other."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.hardware.designs import ParameterValue
from rackwright.unit.alone import Unit
from rackwright.unit.commands import STATUS_NAMES
from rackwright.unit.config import UnitConfig
from rackwright.verification import protobuf_wire
from rackwright.verification.protobuf_build import Builder
from rackwright.verification.protobuf_schema import Message, Tables

FENCE, HASBITS_INFO, DO_SERIALIZE, MEM_SETUP, CHECK_COMPLETION, LIMIT = range(6)
COMPLETION, STATUS, HEAD, VERSION, WAIT = 7, 16, 17, 20, 21

ARENA_ADDRESS = 0xA3E4A000
HUNG = 100_000
"""Cycles that no message here needs."""

SMALLEST = {
    "lanes": 1,
    "field-serializers": 2,
    "depth": 2,
    "outstanding": 8,
    "buffer-beats": 4,
    "table-rows": 8,
    "object-lines": 16,
    "command-queue": 1,
}
FEW_ENTRIES = {"port-bytes": 16, "map-entries": 8, "lanes": 1}
"""One that is compiled soon, with the narrower of both ports."""

LARGEST = {
    "port-bytes": 16,
    "lanes": 4,
    "field-serializers": 16,
    "depth": 100,
    "outstanding": 128,
    "command-queue": 16,
}


@dataclass(frozen=True)
class Output:
    """How a request ended, how long it took, and its bytes."""

    status: str
    cycles: int
    data: bytes


class Pool:
    """Parts of one buffer, with a gap behind each that the unit may not touch."""

    def __init__(self, unit: Unit, gap: int = 64) -> None:
        self.unit = unit
        self.gap = gap
        self.ranges: list[tuple[int, int]] = []
        self._next = unit.reserve(0).address + (1 << 24)

    def reserve(self, length: int, alignment: int) -> int:
        """The address of so many bytes of zeros, a multiple of `alignment`."""
        address = -(-self._next // alignment) * alignment
        self._next = address + length + self.gap
        if length:
            self.unit.bench.allow(address, length, "r")
            self.ranges.append((address, length))
        return address

    def write(self, data: bytes, address: int) -> int:
        """Changes memory; gives the address."""
        self.unit.bench.write_memory(address, data)
        return address

    def give_back(self, ranges: int) -> None:
        """Takes all memory back but the first so many ranges; what is in it stays."""
        self._next = self.ranges[ranges][0] if ranges < len(self.ranges) else self._next
        del self.ranges[ranges:]


class Serializer:
    """The unit, and memory that is laid out anew for each message type."""

    def __init__(self, parameters: Mapping[str, ParameterValue] | None = None) -> None:
        self.unit = Unit(UnitConfig("protobuf-serialize", parameters or {}), assertions=True)

    def use(self, message: Message) -> None:
        """Forgets all memory, and writes the tables of a type and of those within it."""
        self.unit.release_all()
        self.unit.command(FENCE)
        self.message = message
        self.pool = Pool(self.unit)
        self.builder = Builder(self.pool, ARENA_ADDRESS)
        tables = Tables(self.pool.write, self.pool.reserve, self.builder.default_string)
        self.table = tables.address(message)

    def start(self, address: int, output: int, length: int, record: int = 0) -> None:
        """Starts the serialization of an object into `length` bytes at `output`."""
        self.unit.command(MEM_SETUP, output + length, 0)
        self.unit.command(LIMIT, output)
        self.unit.command(COMPLETION, record)
        self.unit.command(DO_SERIALIZE, self.table, address)

    def serialize(self, address: int, room: int, misalignment: int = 0, level: str = "l2") -> Output:
        """One object from start to end, into memory of its own."""
        output = self.unit.reserve(room, "w", misalignment)
        record = self.unit.reserve(32)
        for start, length in [*self.pool.ranges, (output.address, max(room, 1)), (record.address, 32)]:
            self.unit.bench.warm(start, length, level)
        began = self.unit.cycle
        self.start(address, output.address, room, record.address)
        answer = self.unit.query(WAIT, max_cycles=HUNG)
        cycles = self.unit.cycle - began
        mark, head, length, zero = struct.unpack("<4Q", self.unit.read(record))
        assert zero == 0
        assert answer == (head if mark == 1 else mark)
        assert self.unit.violations == 0
        status = STATUS_NAMES[mark - 1]
        if status != "ok":
            return Output(status, cycles, b"")
        assert head + length == output.address + room
        return Output(status, cycles, self.unit.bench.read_memory(head, length))

    def check(self, value: dict[int, Any], misalignment: int = 0) -> Output:
        """One object, whose bytes have to be the library's; once more with the tables on chip."""
        expected = protobuf_wire.encode(self.message, value)
        address = self.builder.message(self.message, value)
        for _ in range(2):
            result = self.serialize(address, len(expected), misalignment)
            assert result.status == "ok"
            assert result.data == expected
        return result
