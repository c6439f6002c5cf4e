"""A deserializer with memory around it: tables, regions, one message after the other."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.hardware.designs import ParameterValue
from rackwright.unit.alone import Buffer, Unit
from rackwright.unit.commands import STATUS_NAMES
from rackwright.unit.config import UnitConfig
from rackwright.verification import protobuf_objects, protobuf_wire
from rackwright.verification.protobuf_schema import Kind, Message, Tables
from rackwright.verification.protobuf_wire import MalformedError, UnsupportedError

FENCE, PARSE_INFO, DO_PARSE, MEM_SETUP, CHECK_COMPLETION, LIMITS, ARENA, COMPLETION = range(8)
STATUS, OBJECTS, STRINGS, ARRAYS, VERSION, WAIT, LONG_STRINGS, TEXTS = range(16, 24)

ARENA_ADDRESS = 0xA3E4A000
DEFAULT_STRING = 0xDEF0
HUNG = 1_000_000
"""Cycles that no message here needs."""


@dataclass(frozen=True)
class Outcome:
    """How a request ended, and the object, if it ended well."""

    status: str
    offset: int
    cycles: int
    value: dict[int, Any] | None


class Deserializer:
    """The unit, and memory that is laid out anew for each message type."""

    def __init__(self, parameters: Mapping[str, ParameterValue] | None = None) -> None:
        self.unit = Unit(UnitConfig("protobuf-deserialize", parameters or {}), assertions=True)
        self.message: Message | None = None

    def use(self, message: Message, region_bytes: int = 1 << 16) -> None:
        """Forgets all memory, and writes the tables of a type and of those within it."""
        self.unit.release_all()
        self.unit.command(FENCE)
        self.message = message
        self.table = self._tables().address(message)
        self.place_regions(region_bytes, region_bytes)

    def place_regions(self, object_bytes: int, array_bytes: int) -> None:
        """New regions; they are given to the unit with the next message."""
        self.objects = self.unit.reserve(object_bytes, "rw")
        self.arrays = self.unit.reserve(array_bytes, "rw")

    def give_regions(self) -> None:
        """Has the unit begin at the start of the regions."""
        self.unit.command(MEM_SETUP, self.objects.address, self.arrays.address)
        objects_end = self.objects.address + self.objects.length
        self.unit.command(LIMITS, objects_end, self.arrays.address + self.arrays.length)
        self.unit.command(ARENA, ARENA_ADDRESS)

    def target(self) -> Buffer:
        """A new object as its constructor leaves it."""
        assert self.message is not None
        return self.unit.load(self.message.image(ARENA_ADDRESS, DEFAULT_STRING), "rw")

    def start(self, source: Buffer, target: Buffer, record: int = 0) -> None:
        """Starts a message."""
        self.unit.command(PARSE_INFO, self.table, target.address)
        self.unit.command(COMPLETION, record)
        self.unit.command(DO_PARSE, source.address, source.length)

    def parse(self, data: bytes, misalignment: int = 0) -> Outcome:
        """One message from start to end, in memory of its own."""
        bench = self.unit.bench
        source = self.unit.load(data, "r", misalignment)
        target, record = self.target(), self.unit.reserve(32)
        for buffer in (source, target, record, self.objects, self.arrays):
            bench.warm(buffer.address, max(buffer.length, 1), "l2")
        self.give_regions()
        began = self.unit.cycle
        self.start(source, target, record.address)
        answer = self.unit.query(WAIT, max_cycles=HUNG)
        outcome = self._outcome(target, record, self.unit.cycle - began)
        assert answer == _answer([outcome])
        return outcome

    def parse_together(self, inputs: Sequence[bytes], misalignment: int = 0) -> list[Outcome]:
        """Messages whose requests wait behind each other, in memory of their own; cycles are those of all."""
        sources = [self.unit.load(data, "r", misalignment) for data in inputs]
        places = [(self.target(), self.unit.reserve(32)) for _ in inputs]
        self.give_regions()
        began = self.unit.cycle
        for source, (target, record) in zip(sources, places, strict=True):
            self.start(source, target, record.address)
        answer = self.unit.query(WAIT, max_cycles=HUNG)
        cycles = self.unit.cycle - began
        outcomes = [self._outcome(target, record, cycles) for target, record in places]
        assert answer == _answer(outcomes)
        return outcomes

    def _outcome(self, target: Buffer, record: Buffer, cycles: int) -> Outcome:
        mark, offset = struct.unpack("<2Q", self.unit.read(record, 16))
        assert self.unit.violations == 0
        status = STATUS_NAMES[mark - 1]
        return Outcome(status, offset, cycles, self.value(target) if status == "ok" else None)

    def value(self, target: Buffer) -> dict[int, Any]:
        """The fields of an object."""
        assert self.message is not None
        found = protobuf_objects.read_object(
            self.unit.bench.read_memory, self.message, target.address, ARENA_ADDRESS, DEFAULT_STRING
        )
        return comparable(self.message, found)

    def check(self, data: bytes, misalignment: int = 0, depth: int = 25) -> Outcome:
        """One message, whose result has to be the library's."""
        outcome = self.parse(data, misalignment)
        self._judge(data, outcome, depth)
        return outcome

    def check_together(self, inputs: Sequence[bytes], misalignment: int = 0) -> list[Outcome]:
        """The same of messages whose requests wait behind each other."""
        outcomes = self.parse_together(inputs, misalignment)
        for data, outcome in zip(inputs, outcomes, strict=True):
            self._judge(data, outcome)
        return outcomes

    def _judge(self, data: bytes, outcome: Outcome, depth: int = 25) -> None:
        assert self.message is not None
        try:
            expected = protobuf_wire.decode(self.message, data, depth)
        except MalformedError:
            # What the unit does not know it leaves to the library, however the input goes on.
            assert outcome.status in ("malformed", "unsupported")
        except UnsupportedError:
            assert outcome.status == "unsupported"
        else:
            assert outcome.status == "ok"
            assert outcome.offset == len(data)
            assert outcome.value == comparable(self.message, expected)

    def _tables(self) -> Tables:
        """Tables lie in one buffer, so that lines beside the wanted ones can be read."""
        room = self.unit.reserve(1 << 18, "r")
        used = [room.address]

        def reserve(length: int, alignment: int) -> int:
            start = -(-used[0] // alignment) * alignment
            used[0] = start + length
            assert used[0] <= room.address + room.length
            return start

        def write(data: bytes, address: int) -> int:
            self.unit.bench.write_memory(address, data)
            return address

        return Tables(write, reserve, DEFAULT_STRING)


def _answer(outcomes: Sequence[Outcome]) -> int:
    """What WAIT says of requests that ended so: 1 + the status of the first that failed."""
    return next((1 + STATUS_NAMES.index(each.status) for each in outcomes if each.status != "ok"), 0)


def comparable(message: Message, value: dict[int, Any]) -> dict[int, Any]:
    """Without what can't be told from being absent, and with floating point numbers as their bits."""
    result: dict[int, Any] = {}
    for number, item in value.items():
        field = message.by_number[number]
        items = item if field.repeated else [item]
        if field.kind is Kind.MESSAGE:
            items = [comparable(field.message(), part) for part in items]
        elif field.kind in (Kind.DOUBLE, Kind.FLOAT):
            items = [protobuf_wire.scalar(field.kind, part) for part in items]
        if field.repeated and items:
            result[number] = items
        elif not field.repeated and not (field.implicit and not any(_bits(items[0]))):
            result[number] = items[0]
    return result


def _bits(value: Any) -> bytes:
    return value if isinstance(value, bytes) else bytes([value != 0])
