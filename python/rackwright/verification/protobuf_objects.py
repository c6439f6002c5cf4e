"""Reads objects of the official C++ library (3.21, libstdc++, 64 bits) out of memory."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from rackwright.verification.protobuf_schema import (
    FORMATS,
    NO_HASBIT,
    POINTERS,
    Field,
    Kind,
    MapField,
    MapState,
    Message,
)

Reader = Callable[[int, int], bytes]
"""Bytes of memory: address and length."""

MUTABLE_ARENA = 3
"""Tag of the pointer of a singular string that the library may change and its arena owns."""


def _word(read: Reader, address: int) -> int:
    return int.from_bytes(read(address, 8), "little")


def read_string(read: Reader, address: int) -> bytes:
    """The contents of a `std::string`, whose form is checked."""
    data, size = struct.unpack("<QQ", read(address, 16))
    if size <= 15:
        assert data == address + 16, "a short string lies in its object"
    else:
        assert _word(read, address + 16) >= size, "the capacity is no less than the length"
    contents = read(data, size + 1)
    assert contents[-1] == 0, "a zero byte follows"
    return contents[:-1]


def read_object(
    read: Reader, message: Message, address: int, arena: int, default_string: int
) -> dict[int, Any]:
    """The fields that are present, as `protobuf_wire.decode` gives them; checks what has to be so anyway."""
    assert address % 8 == 0
    assert _word(read, address) == int.from_bytes(message.image(0, 0)[:8], "little"), "the virtual table"
    for word in message.arena_words:
        offset = 8 * word
        repeated = [f for f in message.fields if f.repeated and f.kind not in POINTERS]
        if any(message.slots[f.number].offset + 8 == offset for f in repeated):
            continue  # holds the elements once there are any
        assert _word(read, address + offset) == arena, "the arena"
    hasbits = int.from_bytes(read(address + message.hasbits_offset, message.hasbits_bytes), "little")
    value: dict[int, Any] = {}
    for item in message.fields:
        slot = message.slots[item.number]
        place = address + slot.offset
        if item.repeated:
            contents = _entries if item.map else _elements
            elements = contents(read, item, place, arena, default_string)
            if elements:
                value[item.number] = elements
        elif _is_present(read, message, item, hasbits, address, default_string):
            value[item.number] = _single(read, item, place, arena, default_string)
    return value


def _is_present(
    read: Reader, message: Message, item: Field, hasbits: int, address: int, default_string: int
) -> bool:
    slot = message.slots[item.number]
    if item.oneof is not None:
        case = int.from_bytes(read(address + message.cases[item.oneof], 4), "little")
        return case == item.number
    if slot.hasbit != NO_HASBIT:
        return bool(hasbits >> slot.hasbit & 1)
    pointer = _word(read, address + slot.offset) if item.kind in POINTERS else 0
    return item.kind not in POINTERS or pointer not in (0, default_string)


def _single(read: Reader, item: Field, place: int, arena: int, default_string: int) -> Any:
    if item.kind is Kind.MESSAGE:
        return read_object(read, item.message(), _word(read, place), arena, default_string)
    if item.kind in POINTERS:
        pointer = _word(read, place)
        assert pointer & 3 == MUTABLE_ARENA, "the tag of a string"
        return read_string(read, pointer & ~3)
    form = FORMATS[item.kind]
    return struct.unpack(form, read(place, struct.calcsize(form)))[0]


def _entries(read: Reader, item: Field, place: int, arena: int, default_string: int) -> list[Any]:
    """The entries of a map that nobody has used since it was read from wire format."""
    state = int.from_bytes(read(place + MapField.STATE, 4), "little")
    repeated = _word(read, place + MapField.REPEATED)
    if state == MapState.TABLE:
        assert repeated == 0, "no entries"
        return []
    assert state == MapState.REPEATED
    assert _word(read, repeated) == arena, "the arena of the entries"
    return _elements(read, item, repeated, arena, default_string)


def _elements(read: Reader, item: Field, place: int, arena: int, default_string: int) -> list[Any]:
    if item.kind in POINTERS:
        place += 8
    size, capacity, array = struct.unpack("<iiQ", read(place, 16))
    assert 0 <= size <= capacity or capacity == 0
    if capacity == 0:
        assert size == 0
        return []
    if item.kind in POINTERS:
        assert int.from_bytes(read(array, 4), "little") == size, "allocated elements"
        pointers = struct.unpack(f"<{size}Q", read(array + 8, 8 * size))
        if item.kind is Kind.MESSAGE:
            return [read_object(read, item.message(), p, arena, default_string) for p in pointers]
        return [read_string(read, pointer) for pointer in pointers]
    assert _word(read, array - 8) == arena, "the arena before the elements"
    form = FORMATS[item.kind]
    data = read(array, size * struct.calcsize(form))
    return [element for (element,) in struct.iter_unpack(form, data)]
