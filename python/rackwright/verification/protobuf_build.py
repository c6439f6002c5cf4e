"""Builds objects of the official C++ library (3.21, libstdc++, 64 bits) in memory."""

from __future__ import annotations

import struct
from typing import Any, Protocol

from rackwright.verification.protobuf_schema import FORMATS, NO_HASBIT, POINTERS, Field, Kind, Message

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
        self.default_string = self.string(b"")

    def message(self, message: Message, value: dict[int, Any], unknown_fields: bool = False) -> int:
        """An object with the fields of `value`, as `protobuf_wire.decode` gives them; its address."""
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
        content[Message.HASBITS : Message.HASBITS + message.hasbits_bytes] = hasbits.to_bytes(
            message.hasbits_bytes, "little"
        )
        if unknown_fields:
            content[8] |= 1
        return self.memory.write(bytes(content), self.memory.reserve(len(content), 8))

    def string(self, value: bytes) -> int:
        """A `std::string`."""
        address = self.memory.reserve(32, 8)
        if len(value) <= 15:
            return self.memory.write(
                struct.pack("<QQ", address + 16, len(value)) + value.ljust(16, b"\0"), address
            )
        data = self.memory.write(value + b"\0", self.memory.reserve(len(value) + 1, 16))
        return self.memory.write(struct.pack("<QQQQ", data, len(value), len(value), 0), address)

    def _put(self, content: bytearray, item: Field, offset: int, value: Any) -> None:
        if item.repeated:
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
