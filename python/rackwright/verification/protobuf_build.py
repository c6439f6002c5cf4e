"""Builds objects of the official C++ library (3.21, libstdc++, 64 bits) in memory."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Protocol

from rackwright.verification.protobuf_schema import (
    FORMATS,
    NO_HASBIT,
    POINTERS,
    Field,
    Kind,
    MapField,
    MapState,
    Message,
    Node,
)
from rackwright.verification.protobuf_wire import map_items

HEAP = 2
"""Tag of the pointer of a singular string that the object owns."""


class Memory(Protocol):
    """Where objects are built."""

    def reserve(self, length: int, alignment: int) -> int:
        """The address of so many bytes of zeros, a multiple of `alignment`."""

    def write(self, data: bytes, address: int) -> int:
        """Changes memory; gives the address."""


class Builder:
    """Builds objects and everything they point to."""

    def __init__(self, memory: Memory, arena: int) -> None:
        """`arena` is the address of an arena; the empty string that all objects share is built here."""
        self.memory = memory
        self.arena = arena
        self.map_state = MapState.TABLE
        self.default_string = self.string(b"")

    def message(self, message: Message, value: dict[int, Any], unknown_fields: bool = False) -> int:
        """An object with the fields of `value`, as `protobuf_wire.decode` gives them; its address."""
        content = self._content(message, value)
        if unknown_fields:
            content[8] |= 1
        return self.memory.write(bytes(content), self.memory.reserve(len(content), 8))

    def _content(self, message: Message, value: dict[int, Any]) -> bytearray:
        content = bytearray(message.image(self.arena, self.default_string))
        hasbits = 0
        for item in message.fields:
            if item.number not in value:
                continue
            slot = message.slots[item.number]
            self._put(content, item, slot.offset, value[item.number])
            if slot.hasbit != NO_HASBIT:
                hasbits |= 1 << slot.hasbit
            if item.oneof is not None:
                struct.pack_into("<I", content, message.cases[item.oneof], item.number)
        at = message.hasbits_offset
        content[at : at + message.hasbits_bytes] = hasbits.to_bytes(message.hasbits_bytes, "little")
        return content

    def string(self, value: bytes) -> int:
        """A `std::string`."""
        address = self.memory.reserve(32, 8)
        return self.memory.write(self._string_at(address, value), address)

    def _string_at(self, address: int, value: bytes) -> bytes:
        if len(value) <= 15:
            return struct.pack("<QQ", address + 16, len(value)) + value.ljust(16, b"\0")
        data = self.memory.write(value + b"\0", self.memory.reserve(len(value) + 1, 16))
        return struct.pack("<QQQQ", data, len(value), len(value), 0)

    def _put(self, content: bytearray, item: Field, offset: int, value: Any) -> None:
        if item.map:
            self._put_map(content, item, offset, value)
        elif item.repeated:
            self._put_repeated(content, item, offset, value)
        elif item.kind is Kind.MESSAGE:
            struct.pack_into("<Q", content, offset, self.message(item.message(), value))
        elif item.kind in POINTERS:
            struct.pack_into("<Q", content, offset, self.string(value) | HEAP)
        else:
            struct.pack_into(FORMATS[item.kind], content, offset, value)

    def _put_repeated(self, content: bytearray, item: Field, offset: int, values: list[Any]) -> None:
        if not values:
            return
        if item.kind in POINTERS:
            is_message = item.kind is Kind.MESSAGE
            elements = [self.message(item.message(), v) if is_message else self.string(v) for v in values]
            array = struct.pack(f"<Q{len(values)}Q", len(values), *elements)
            address = self.memory.write(array, self.memory.reserve(len(array), 8))
            struct.pack_into("<iiQ", content, offset + 8, len(values), len(values), address)
            return
        elements_packed = b"".join(struct.pack(FORMATS[item.kind], v) for v in values)
        address = self.memory.reserve(8 + len(elements_packed), 8)
        self.memory.write(struct.pack("<Q", self.arena) + elements_packed, address)
        struct.pack_into("<iiQ", content, offset, len(values), len(values), address + 8)

    def _put_map(self, content: bytearray, item: Field, offset: int, entries: list[Any]) -> None:
        struct.pack_into("<I", content, offset + MapField.STATE, self.map_state)
        if self.map_state is not MapState.TABLE:
            repeated = bytearray(struct.pack("<3Q", self.arena, 0, 0))
            self._put_repeated(repeated, item, 0, entries)
            address = self.memory.write(bytes(repeated), self.memory.reserve(24, 8))
            struct.pack_into("<Q", content, offset + MapField.REPEATED, address)
        if self.map_state is not MapState.REPEATED:
            self._put_nodes(content, item, offset, map_items(item, entries))

    def _put_nodes(self, content: bytearray, item: Field, offset: int, items: list[Any]) -> None:
        """A hash table as the library's: lists of nodes, at most three of four buckets in use."""
        if not items:
            return
        buckets = 8
        while 4 * len(items) > 3 * buckets:
            buckets *= 2
        table = [0] * buckets
        for key, value in items:
            bucket = zlib.crc32(repr(key).encode()) % buckets
            table[bucket] = self._node(item.message(), key, value, table[bucket])
        address = self.memory.write(struct.pack(f"<{buckets}Q", *table), self.memory.reserve(8 * buckets, 8))
        first = next(index for index, node in enumerate(table) if node)
        MapField.put_table(content, offset, len(items), buckets, first, address)

    def _node(self, entry: Message, key: Any, value: Any, following: int) -> int:
        layout = Node(entry)
        node = bytearray(layout.bytes)
        address = self.memory.reserve(layout.bytes, 8)
        self._put_inline(node, entry.by_number[1], 0, address, key)
        self._put_inline(node, entry.by_number[2], layout.value, address, value)
        struct.pack_into("<Q", node, layout.next, following)
        return self.memory.write(bytes(node), address)

    def _put_inline(self, node: bytearray, item: Field, offset: int, address: int, value: Any) -> None:
        if item.kind is Kind.MESSAGE:
            inner = self._content(item.message(), value)
            node[offset : offset + len(inner)] = inner
        elif item.kind in POINTERS:
            node[offset : offset + 32] = self._string_at(address + offset, value)
        else:
            struct.pack_into(FORMATS[item.kind], node, offset, value)
