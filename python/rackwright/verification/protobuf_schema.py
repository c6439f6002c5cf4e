"""Message types as the official C++ library (3.21) lays them out, and the tables that tell the units.

`hardware/src/main/scala/rackwright/protobuf/README.md` has both layouts.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rackwright.verification.protobuf_enums import mapped, value_set

Writer = Callable[[bytes, int], int]
"""Puts bytes at an address, and gives it."""


class Kind(enum.IntEnum):
    """Types of fields, with the numbers of descriptor.proto."""

    DOUBLE = 1
    FLOAT = 2
    INT64 = 3
    UINT64 = 4
    INT32 = 5
    FIXED64 = 6
    FIXED32 = 7
    BOOL = 8
    STRING = 9
    MESSAGE = 11
    BYTES = 12
    UINT32 = 13
    ENUM = 14
    SFIXED32 = 15
    SFIXED64 = 16
    SINT32 = 17
    SINT64 = 18


FORMATS = {
    Kind.DOUBLE: "<d",
    Kind.FLOAT: "<f",
    Kind.INT64: "<q",
    Kind.UINT64: "<Q",
    Kind.INT32: "<i",
    Kind.FIXED64: "<Q",
    Kind.FIXED32: "<I",
    Kind.BOOL: "<?",
    Kind.UINT32: "<I",
    Kind.ENUM: "<i",
    Kind.SFIXED32: "<i",
    Kind.SFIXED64: "<q",
    Kind.SINT32: "<i",
    Kind.SINT64: "<q",
}
"""How a scalar lies in memory."""

KEY_KINDS = (*(kind for kind in FORMATS if kind not in (Kind.DOUBLE, Kind.FLOAT, Kind.ENUM)), Kind.STRING)
"""Types that keys of maps may have."""

POINTERS = (Kind.STRING, Kind.BYTES, Kind.MESSAGE)

NO_HASBIT = 0xFFFF

_WIRE_TYPES = {
    Kind.DOUBLE: 1,
    Kind.FLOAT: 5,
    Kind.FIXED64: 1,
    Kind.FIXED32: 5,
    Kind.SFIXED32: 5,
    Kind.SFIXED64: 1,
    Kind.STRING: 2,
    Kind.BYTES: 2,
    Kind.MESSAGE: 2,
}
"""Wire types other than varint."""


@dataclass(frozen=True)
class Field:
    """A field; `message` gives the type of a message, so that types may hold each other.

    `implicit`: no presence, as in proto3. `oneof` numbers the oneof it belongs to. `enum_values` are those
    of a closed enum. `unsupported` tells the unit to leave the field to the library. `map`: a map, which is
    repeated messages of an entry type on the wire (`map_field`).
    """

    number: int
    kind: Kind
    repeated: bool = False
    packed: bool = False
    implicit: bool = False
    utf8: bool = False
    oneof: int | None = None
    enum_values: frozenset[int] | None = None
    message: Callable[[], Message] = lambda: Message("Empty", ())
    unsupported: bool = False
    map: bool = False


def written_tag(item: Field) -> int:
    """Field number and wire type of a field as it is written."""
    return item.number << 3 | (2 if item.packed else _WIRE_TYPES.get(item.kind, 0))


@dataclass(frozen=True)
class Slot:
    """Where a field lies in an object: offset and hasbit."""

    offset: int
    hasbit: int = NO_HASBIT


@dataclass(eq=False)
class Message:
    """A message type. `hasbit_gap` leaves bits unused between those of two fields.

    `foreign`: the table tells the serializer to leave the type to the library. `entry`: the entries of a
    map, whose presence bits follow the fields.
    """

    name: str
    fields: tuple[Field, ...]
    hasbit_gap: int = 0
    foreign: bool = False
    entry: bool = False
    slots: dict[int, Slot] = field(default_factory=dict, init=False)
    cases: dict[int, int] = field(default_factory=dict, init=False)
    size: int = field(default=0, init=False)
    hasbits_offset: int = field(default=16, init=False)
    hasbits_bytes: int = field(default=0, init=False)
    arena_words: list[int] = field(default_factory=lambda: [1], init=False)

    METADATA_END = 16
    """Where an object goes on behind virtual table and metadata."""

    def __post_init__(self) -> None:
        """Lays the fields out."""
        bits = {
            f.number: i * (1 + self.hasbit_gap) for i, f in enumerate(f for f in self.fields if _has_bit(f))
        }
        self.hasbits_bytes = (max(bits.values(), default=-1) + 32) // 32 * 4
        at = self.METADATA_END + (0 if self.entry else self.hasbits_bytes + 4)
        unions: dict[int, int] = {}
        for item in self.fields:
            if item.oneof in unions:
                self.slots[item.number] = Slot(unions[item.oneof])
                continue
            bytes_wide, align = _extent(item)
            at = -(-at // align) * align
            self.slots[item.number] = Slot(at, bits.get(item.number, NO_HASBIT))
            if item.map:
                self.arena_words += [(at + MapField.ARENA) // 8, (at + MapField.ALLOCATOR) // 8]
            elif item.repeated:
                self.arena_words.append(at // 8 + (0 if item.kind in POINTERS else 1))
            if item.oneof is not None:
                unions[item.oneof] = at
            at += bytes_wide
        at = -(-at // 4) * 4
        for oneof in unions:
            self.cases[oneof] = at
            at += 4
        if self.entry:
            self.hasbits_offset = at
            at += self.hasbits_bytes
        self.size = -(-at // 8) * 8

    @cached_property
    def by_number(self) -> dict[int, Field]:
        """The fields by their numbers."""
        return {item.number: item for item in self.fields}

    def image(self, arena: int, default_string: int) -> bytes:
        """A default object: what the constructor leaves on an arena."""
        words = bytearray(self.size)
        struct.pack_into("<Q", words, 0, 0x5EED_0000 + len(self.fields))
        for word in self.arena_words:
            struct.pack_into("<Q", words, 8 * word, arena)
        for item in self.fields:
            offset = self.slots[item.number].offset
            if item.map:
                struct.pack_into("<Q", words, offset, 0x3A90_0000)
                MapField.put_table(words, offset, 0, 1, 1, default_string)
            elif item.kind in (Kind.STRING, Kind.BYTES) and not item.repeated and item.oneof is None:
                struct.pack_into("<Q", words, offset, default_string)
        return bytes(words)


class MapField:
    """Where things lie in the library's object of a map field (map_field.h, map.h of 3.21)."""

    ARENA = 8
    REPEATED = 16
    STATE = 64
    TABLE = 72
    ALLOCATOR = 112
    BYTES = 120

    @classmethod
    def put_table(
        cls, words: bytearray, offset: int, elements: int, buckets: int, first: int, table: int
    ) -> None:
        """Writes the head of the hash table; `first` is the first bucket in use."""
        struct.pack_into("<5Q", words, offset + cls.TABLE, elements, buckets, 0, first, table)


class MapState(enum.IntEnum):
    """Which of its two forms of a map the library takes for right."""

    TABLE = 0
    REPEATED = 1
    BOTH = 2


def map_field(number: int, key: Kind, value: Field) -> Field:
    """A map; `value` is the field 2 of its entries. Keys have to be UTF-8 where values have to."""
    entry = Message(f"Entry{key.name}", (Field(1, key, utf8=value.utf8), value), entry=True)
    return Field(number, Kind.MESSAGE, repeated=True, map=True, message=lambda: entry)


class Node:
    """Where things lie in a node of a map's hash table: a pair whose parts lie in it, and a pointer."""

    def __init__(self, entry: Message) -> None:
        """Lays a node out for the map with these entries."""
        key, value = (entry.by_number[number] for number in (1, 2))
        sizes = [_extent_in_node(item) for item in (key, value)]
        align = max(alignment for _, alignment in sizes)
        self.value = -(-sizes[0][0] // sizes[1][1]) * sizes[1][1]
        pair = -(-(self.value + sizes[1][0]) // align) * align
        self.next = -(-pair // 8) * 8
        self.bytes = self.next + 8


def _extent_in_node(item: Field) -> tuple[int, int]:
    if item.kind is Kind.MESSAGE:
        return item.message().size, 8
    return (32, 8) if item.kind in POINTERS else _extent(item)


def _has_bit(item: Field) -> bool:
    return not item.repeated and not item.implicit and item.oneof is None


def _extent(item: Field) -> tuple[int, int]:
    """Bytes and alignment of a field in an object; a union of a oneof is as wide as any."""
    if item.map:
        return MapField.BYTES, 8
    if item.repeated:
        return (24 if item.kind in POINTERS else 16), 8
    if item.kind in POINTERS or item.oneof is not None:
        return 8, 8
    size = struct.calcsize(FORMATS[item.kind])
    return size, size


def _texts(message: Message) -> int:
    """Bits of the numbers, modulo 64, that only strings and bytes have which are the unit's."""
    bits = {True: 0, False: 0}
    for item in message.fields:
        bits[item.kind in (Kind.STRING, Kind.BYTES) and not item.unsupported] |= 1 << item.number % 64
    return bits[True] & ~bits[False]


class Tables:
    """The descriptor tables of message types, written into memory as they are asked for."""

    def __init__(self, write: Writer, reserve: Callable[[int, int], int], default_string: int) -> None:
        """`write` fills what `reserve(bytes, alignment)` gave."""
        self._write = write
        self._reserve = reserve
        self._default_string = default_string
        self._addresses: dict[int, int] = {}
        self._messages: list[Message] = []
        self._sets: dict[frozenset[int], int] = {}

    def address(self, message: Message) -> int:
        """Where the table of a type is; tables of the types within it are written too."""
        if id(message) not in self._addresses:
            least, most = _range(message)
            place = self._reserve(64 + 16 * (most - least + 1), 64)
            self._addresses[id(message)] = place
            self._messages.append(message)  # keeps it, and with it its id
            self._write(self._contents(message), place)
        return self._addresses[id(message)]

    def _contents(self, message: Message) -> bytes:
        image = message.image(0, self._default_string)
        padded = image + bytes(-len(image) % 16)
        bits = sum(1 << word for word in message.arena_words)
        words = -(-message.size // 8)
        image_map = bits.to_bytes(-(-words // 128) * 16, "little")
        image_at = self._reserve(len(padded) + len(image_map), 16)
        self._write(padded + image_map, image_at)
        least, most = _range(message)
        table = struct.pack(
            "<8Q",
            0,
            message.size,
            message.hasbits_offset | message.hasbits_bytes << 32,
            least << 32 | most,
            image_at,
            self._serialize_list(message),
            len(message.fields) | message.foreign << 32,
            _texts(message),
        )
        numbers = (message.by_number.get(number) for number in range(least, most + 1))
        entries = (
            bytes(16) if item is None else self._entry(item, message.slots[item.number], message)
            for item in numbers
        )
        return table + b"".join(entries)

    def _serialize_list(self, message: Message) -> int:
        """The address of the list that the serializer walks: rows of two fields, by number."""
        fields = sorted(message.fields, key=lambda item: item.number)
        entries = []
        for item in fields:
            nodes = self._nodes(item.message()) if item.map else 0
            entry = self._entry(item, self._listed_slot(message, item), message)
            entries.append(entry + struct.pack("<QQ", written_tag(item), nodes))
        return self._write_list(entries)

    def _listed_slot(self, message: Message, item: Field) -> Slot:
        """Entries of maps are written whole, whatever their presence bits say."""
        slot = message.slots[item.number]
        return Slot(slot.offset) if message.entry else slot

    def _write_list(self, entries: list[bytes]) -> int:
        rows = b"".join(entries) + bytes(32 * (len(entries) % 2))
        address = self._reserve(len(rows), 64)
        return self._write(rows, address)

    def _nodes(self, entry: Message) -> int:
        """What the serializer has to know of nodes: their table, the type of keys, where the next one is."""
        node = Node(entry)
        offsets = {1: 0, 2: node.value}
        fields = [
            self._entry(item, Slot(offsets[item.number]), entry, in_node=True)
            + struct.pack("<QQ", written_tag(item), 0)
            for item in entry.fields
        ]
        header = struct.pack("<8Q", 0, node.bytes, 0, 0, 0, self._write_list(fields), 2 | 1 << 34, 0)
        table = self._write(header, self._reserve(64, 64))
        return table | entry.by_number[1].kind << 48 | node.next // 8 << 53

    def _entry(self, item: Field, slot: Slot, message: Message, in_node: bool = False) -> bytes:
        flags: dict[int, Any] = {
            63: item.repeated,
            57: item.unsupported,
            56: item.utf8,
            55: item.implicit,
            54: item.packed,
            53: item.enum_values is not None,
            52: item.enum_values is not None and mapped(item.enum_values) is None,
            51: item.map,
            50: in_node and item.kind in POINTERS,
            49: message.entry,
        }
        word = sum(1 << bit for bit, is_set in flags.items() if is_set)
        word |= item.kind << 58 | slot.hasbit << 32 | slot.offset
        second = 0 if item.oneof is None else message.cases[item.oneof] // 4 << 48
        if item.kind is Kind.MESSAGE:
            second |= self.address(item.message())
        elif item.enum_values is not None:
            second |= mapped(item.enum_values) or self._value_set(item.enum_values)
        return struct.pack("<QQ", word, second)

    def _value_set(self, values: frozenset[int]) -> int:
        if values not in self._sets:
            log2_places, lines = value_set(values)
            self._sets[values] = self._write(lines, self._reserve(len(lines), 16)) | log2_places
        return self._sets[values]


def _range(message: Message) -> tuple[int, int]:
    numbers = [item.number for item in message.fields]
    return min(numbers, default=1), max(numbers, default=1)
