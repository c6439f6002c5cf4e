"""A serializer with a queue of requests, and what has to come of each of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from protobuf_serializer import (
    ARENA_ADDRESS,
    CHECK_COMPLETION,
    COMPLETION,
    DO_SERIALIZE,
    FENCE,
    HEAD,
    HUNG,
    LIMIT,
    MEM_SETUP,
    STATUS,
    VERSION,
    WAIT,
    Pool,
)

from rackwright.unit.alone import Unit
from rackwright.unit.commands import STATUS_NAMES
from rackwright.verification import protobuf_wire
from rackwright.verification.protobuf_build import HEAP, Builder
from rackwright.verification.protobuf_schema import Field, Kind, Message, Tables

MOST = 64
"""Requests between two checks, at most."""

_LEAF = Message("Leaf", (Field(1, Kind.INT32),))
_FOREIGN = Message("Foreign", (Field(1, Kind.INT32),), foreign=True)
_BROKEN = Message(
    "Broken",
    (
        Field(1, Kind.INT32),
        Field(2, Kind.STRING),
        Field(3, Kind.MESSAGE, message=lambda: _LEAF),
        Field(4, Kind.STRING),
    ),
)
_BROKEN_VALUE: dict[int, Any] = {1: 5, 2: b"never read", 3: {1: 7}, 4: b"written before it is noticed"}

FAILURES = {
    "unknown": "unsupported",
    "foreign": "unsupported",
    "inner": "unsupported",
    "null": "unsupported",
    "wild": "access_fault",
    "unreadable": "access_fault",
    "torn": "access_fault",
}
"""Ways to fail, each with its status: unknown fields, a type that is left to the library, unknown fields of a
message within, a null pointer; an address that is none, an object and a string that can't be read."""


@dataclass(frozen=True)
class Expected:
    """What has to come of a request: one of the statuses, its output, and where that is told."""

    statuses: tuple[str, ...]
    head: int
    data: bytes
    entry: int
    record: int


class RequestQueue:
    """Requests that are started one after the other, and checked together.

    Objects lie side by side and are made just before their request, so that what the unit has read for
    an earlier one is out of date.
    """

    def __init__(self, unit: Unit) -> None:
        """Forgets all memory."""
        self.unit = unit
        depth = unit.design.parameters["depth"]
        assert isinstance(depth, int)
        self.depth = depth
        unit.release_all()
        self.records = self._unwritten(32 * MOST)
        self.unreadable = unit.reserve(4096, "r").address
        unit.bench.fault(self.unreadable, 4096)
        self.pool = Pool(unit, gap=0)
        self.expected: list[Expected] = []
        self.completed = unit.query(CHECK_COMPLETION)
        self.violations = unit.violations
        self.last = unit.query(HEAD)
        unit.query(STATUS)

    def use(self, types: Sequence[Message]) -> None:
        """Has the unit forget its tables while requests are under way; writes others in their place."""
        self.unit.command(FENCE)
        self.unit.query(VERSION, max_cycles=HUNG)  # answered after the fence
        self.pool.give_back(0)
        self.builder = Builder(self.pool, ARENA_ADDRESS)
        self.tables = Tables(self.pool.write, self.pool.reserve, self.builder.default_string)
        for message in (*types, _BROKEN, _FOREIGN):
            self.tables.address(message)
        self.kept = len(self.pool.ranges)

    def region(self, room: int, misalignment: int, entries: int | None) -> None:
        """The next outputs go into `room` bytes; `entries` is the misalignment of an array of entries."""
        self.output = self.unit.reserve(room, "w", misalignment)
        self.head = self.output.address + room
        self.entry = 0 if entries is None else self._unwritten(16 * MOST, entries)
        self.unit.command(LIMIT, self.output.address)
        self.unit.command(MEM_SETUP, self.head, self.entry)

    def start(self, message: Message, value: dict[int, Any], is_warm: bool, with_record: bool) -> None:
        """Starts a request that fails only if there is no room or the message is nested too deeply."""
        before = len(self.pool.ranges)
        address = self.builder.message(message, value)
        for start, length in self.pool.ranges[before:] if is_warm else ():
            self.unit.bench.warm(start, length, "l2")
        data = protobuf_wire.encode(message, value)
        if _nesting(message, value) > self.depth:
            self._fails("unsupported", len(data), with_record)
        elif len(data) > self._room():
            self._expect(("output_full",), b"", with_record)
        else:
            self.head -= len(data)
            self._expect(("ok",), data, with_record)
        self._give(message, address, with_record)

    def start_failing(self, way: str, with_record: bool) -> None:
        """Starts a request that fails in one of `FAILURES`."""
        message, value = (_FOREIGN, {}) if way == "foreign" else (_BROKEN, _BROKEN_VALUE)
        address = self.builder.message(message, value, unknown_fields=way == "unknown")
        inner = self.builder.message(_LEAF, {}, unknown_fields=True)
        pointers = {"inner": (3, inner), "null": (3, 0), "torn": (2, self.unreadable | HEAP)}
        if way in pointers:
            number, pointer = pointers[way]
            self.pool.write(struct.pack("<Q", pointer), address + message.slots[number].offset)
            self._fails(FAILURES[way], len(protobuf_wire.encode(message, value)), with_record)
        else:
            self._expect((FAILURES[way],), b"", with_record)
        address = {"wild": 1 << 48 | address, "unreadable": self.unreadable}.get(way, address)
        self._give(message, address, with_record)

    def check(self, wait: bool) -> None:
        """Waits for all requests and checks what came of them; memory of their objects is used again."""
        failed = (each for each in self.expected if each.statuses != ("ok",))
        first = next(failed, None)
        statuses = {0} if first is None else {1 + STATUS_NAMES.index(name) for name in first.statuses}
        self.completed += len(self.expected)
        if wait:
            assert self.unit.query(WAIT, max_cycles=HUNG) in ({self.last} if first is None else statuses)
        else:
            assert self.unit.query(CHECK_COMPLETION, max_cycles=HUNG) == self.completed
            assert self.unit.query(STATUS) in statuses
        assert self.unit.query(STATUS) == 0
        assert self.unit.query(HEAD) == self.last
        for each in self.expected:
            self._check(each)
        assert self.unit.violations == self.violations
        self.expected.clear()
        self.records = self._unwritten(32 * MOST)
        self.pool.give_back(self.kept)

    def _unwritten(self, length: int, misalignment: int = 0) -> int:
        """The address of memory that shows where nothing was written."""
        buffer = self.unit.reserve(length, "w", misalignment)
        self.unit.bench.write_memory(buffer.address, b"\xee" * length)
        return buffer.address

    def _check(self, expected: Expected) -> None:
        made = expected.statuses == ("ok",)
        assert self.unit.bench.read_memory(expected.head, len(expected.data)) == expected.data
        if expected.entry:
            view = struct.unpack("<2Q", self.unit.bench.read_memory(expected.entry, 16))
            assert view == ((len(expected.data), expected.head) if made else (0, 0))
        if expected.record:
            mark, *rest = struct.unpack("<4Q", self.unit.bench.read_memory(expected.record, 32))
            assert STATUS_NAMES[mark - 1] in expected.statuses
            assert rest == [expected.head, len(expected.data), 0]

    def _room(self) -> int:
        return self.head - self.output.address

    def _fails(self, status: str, length: int, with_record: bool) -> None:
        """With too little room, either of two reasons may come first."""
        self._expect((status, "output_full") if length > self._room() else (status,), b"", with_record)

    def _expect(self, statuses: tuple[str, ...], data: bytes, with_record: bool) -> None:
        record = self.records + 32 * len(self.expected) if with_record else 0
        self.expected.append(Expected(statuses, self.head, data, self.entry, record))
        self.entry += 16 if self.entry else 0
        self.last = self.head

    def _give(self, message: Message, address: int, with_record: bool) -> None:
        if with_record:
            self.unit.command(COMPLETION, self.expected[-1].record)
        self.unit.command(DO_SERIALIZE, self.tables.address(message), address)


def _nesting(message: Message, value: dict[int, Any]) -> int:
    """Messages within each other, the outermost included."""
    inner = [0]
    for number, held in value.items():
        field = message.by_number[number]
        if field.map:
            entry = field.message()
            items = protobuf_wire.map_items(field, held)
            inner += [_nesting(entry, {1: key, 2: item}) for key, item in items]
        elif field.kind is Kind.MESSAGE:
            inner += [_nesting(field.message(), each) for each in (held if field.repeated else [held])]
    return 1 + max(inner)
