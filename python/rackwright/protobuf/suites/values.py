"""Values of fields other than messages, drawn from distributions, in their recorded form."""

from __future__ import annotations

import random

from rackwright.protobuf import wire
from rackwright.protobuf.suites.distributions import Distributions, draw_size
from rackwright.protobuf.suites.schemas import KINDS, Field

_LETTERS = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ/-_.0123456789"
_FOREIGN_LETTERS = "äñжمक文€😀"
_FOREIGN = 1 / 8
"""Share of proto3's strings that have such letters: not published."""


def draw_values(field: Field, syntax: str, left: int, shapes: Distributions, draw: random.Random) -> bytes:
    """A field with its value, or with its values when it is repeated, in about `left` bytes."""
    count = draw.randint(1, 6) if field.repeated else 1
    if field.kind in ("string", "bytes"):
        sizes = [min(draw_size(shapes.bytes_sizes, draw), max(left // count - 3, 1)) for _ in range(count)]
        texts = [_text(field.kind, syntax, size, draw) for size in sizes]
        return b"".join(wire.length_field(field.number, text) for text in texts)
    values = [_number(field, syntax, shapes, draw) for _ in range(count)]
    if field.packed:
        return wire.length_field(field.number, b"".join(values))
    key = wire.tag(field.number, _wire_type(field.kind))
    return b"".join(key + value for value in values)


def _wire_type(kind: str) -> int:
    return {"double": wire.FIXED64, "fixed64": wire.FIXED64, "float": wire.FIXED32}.get(kind, wire.VARINT)


def _number(field: Field, syntax: str, shapes: Distributions, draw: random.Random) -> bytes:
    """An encoded value, without its tag."""
    kind = field.kind
    if _wire_type(kind) == wire.FIXED64:
        return draw.randbytes(6) + b"\x24\x40"
    if _wire_type(kind) == wire.FIXED32:
        return draw.randbytes(2) + b"\x24\x41"
    least = 1 if field.implicit else 0
    if kind == "bool":
        return wire.varint(draw.randint(least, 1))
    if kind == "enum":
        # Enums of proto3 are open: they have values of newer schemas, too.
        return wire.varint(draw.randint(least, KINDS if syntax == "proto3" else KINDS - 1))
    size = draw_size(shapes.varint_sizes, draw)
    if kind == "int32" and size > 5:
        return wire.varint(-draw.randint(1, 1 << 31))
    most = (1 << 31) - 1 if kind == "int32" else (1 << 64) - 1
    low = 1 << 7 * (size - 1) if size > 1 else least
    return wire.varint(draw.randint(low, min((1 << 7 * size) - 1, most)))


def _text(kind: str, syntax: str, size: int, draw: random.Random) -> bytes:
    """The given number of bytes; those of a string are UTF-8."""
    if kind == "bytes":
        return draw.randbytes(size)
    foreign = syntax == "proto3" and draw.random() < _FOREIGN
    letters = draw.choices(_LETTERS + _FOREIGN_LETTERS if foreign else _LETTERS, k=size)
    whole = "".join(letters).encode()[:size].decode(errors="ignore").encode()
    return whole.ljust(size, b".")
