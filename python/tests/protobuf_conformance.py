"""Cases by the rules of the official conformance suite for binary input and output.

What each case is about and what has to come of it follows the suite's list and the encoding's specification;
the schemas and the values are our own. One schema is written in proto2 and proto3, with a field of each type
that is singular, repeated, packed, not packed, in a oneof, and a map for each pair of types the suite has.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rackwright.protobuf import wire

TYPES = (
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "message", "bytes",
    "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64",
)  # fmt: skip
NUMBERS = [name for name in TYPES if name not in ("string", "bytes", "message")]
MAPS = [
    *((name, name) for name in ("int32", "int64", "uint32", "uint64", "sint32", "sint64")),
    *((name, name) for name in ("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string")),
    *(("int32", name) for name in ("float", "double")),
    *(("string", name) for name in ("bytes", "enum", "message")),
]
SINGULAR, REPEATED, PACKED, UNPACKED, ONEOF, MAP = 1, 101, 201, 301, 401, 501
UNKNOWN, FAR_UNKNOWN = 666, 123_456
GROUP, REPEATED_GROUP = 601, 602
PROTO2, PROTO3 = "cases.two.All", "cases.three.All"
_MIN64, _MAX64, _MIN32, _MAX32 = -(1 << 63), (1 << 63) - 1, -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True)
class Case:
    """An input of a class, by full name, and what is written again; None for an input that is wrong."""

    name: str
    message: str
    data: bytes
    expected: bytes | None


def protos() -> dict[str, str]:
    """The schemas by file name."""
    return {"two.proto": _proto("proto2"), "three.proto": _proto("proto3")}


def _proto(syntax: str) -> str:
    proto2 = syntax == "proto2"
    optional = "optional " if proto2 else ""
    lines = [f'syntax = "{syntax}";', f"package cases.{'two' if proto2 else 'three'};"]
    lines += ["enum Kind { ZERO = 0; ONE = 1; TWO = 2; LESS = -1; }", "message All {"]
    for at, name in enumerate(TYPES):
        kind = {"enum": "Kind", "message": "All"}.get(name, name)
        lines.append(f"{optional}{kind} one_{name} = {SINGULAR + at};")
        lines.append(f"repeated {kind} many_{name} = {REPEATED + at};")
        if name in NUMBERS:
            lines.append(f"repeated {kind} packed_{name} = {PACKED + at} [packed = true];")
            lines.append(f"repeated {kind} unpacked_{name} = {UNPACKED + at} [packed = false];")
    kinds = {"enum": "Kind", "message": "All"}
    lines.append("oneof chosen {")
    lines += [f"{kinds.get(name, name)} of_{name} = {ONEOF + at};" for at, name in enumerate(TYPES)]
    lines.append("}")
    for at, (key, value) in enumerate(MAPS):
        lines.append(f"map<{key}, {kinds.get(value, value)}> map_{key}_{value} = {MAP + at};")
    if proto2:
        lines.append(f"optional group One = {GROUP} {{ optional int32 left = 1; }}")
        lines.append(f"repeated group Many = {REPEATED_GROUP} {{ optional int32 left = 1; }}")
        lines.append("extensions 120 to 200;")
    lines.append("}")
    if proto2:
        lines.append("message Required { required int32 number = 1; optional Required below = 2; }")
        lines.append("message Set { option message_set_wire_format = true; extensions 4 to max; }")
        lines.append(
            "message Item { extend Set { optional Item item = 1547769; } optional int32 number = 25; }"
        )
        lines.append("extend All { optional int32 extra = 120; optional string far = 199; }")
    return "\n".join(lines)


def wire_type(name: str) -> int:
    """How values of a type are encoded."""
    if name in ("double", "fixed64", "sfixed64"):
        return wire.FIXED64
    if name in ("float", "fixed32", "sfixed32"):
        return wire.FIXED32
    return wire.LENGTH if name in ("string", "bytes", "message") else wire.VARINT


def values(name: str) -> list[tuple[bytes, bytes]]:
    """Encoded values of a type, and how each of them is written again; the first is the type's default."""
    if name in ("double", "float"):
        form, numbers = (
            ("<d", (0, 0.1, 1.79e308, 2.23e-308)) if name == "double" else ("<f", (0, 0.1, 1e-36, 3.4e38))
        )
        return _same(struct.pack(form, number) for number in numbers)
    if name in ("fixed64", "fixed32"):
        size = 8 if name == "fixed64" else 4
        return _same(number.to_bytes(size, "little") for number in (0, 12345, (1 << 8 * size) - 1))
    if name in ("sfixed64", "sfixed32"):
        size = 8 if name == "sfixed64" else 4
        most = (1 << 8 * size - 1) - 1
        return _same(number.to_bytes(size, "little", signed=True) for number in (0, 12345, most, -most - 1))
    if name in ("string", "bytes", "message"):
        return _same(wire.varint(len(text)) + text for text in _contents(name))
    return [(_long(number, size), wire.varint(again)) for number, size, again in _varints(name)]


def _same(encoded: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    return [(each, each) for each in encoded]


def _contents(name: str) -> list[bytes]:
    if name == "message":
        return [b"", wire.varint_field(SINGULAR + TYPES.index("int32"), 1234)]
    texts = [b"", b"Hello world!"]
    if name == "bytes":
        return [*texts, b"\x01\x02", b"\xfb"]
    return [*texts, b"'\"?\\\a\b\f\n\r\t\v", "\u8c37\u6b4c".encode(), b"\xf0\x9f\x98\x81"]


def _varints(name: str) -> list[tuple[int, int, int]]:
    """Numbers, the bytes they are encoded in at least, and as what they are written again."""
    plain = {
        "int64": (0, 12345, _MAX64, _MIN64),
        "uint64": (0, 12345, (1 << 64) - 1),
        "sint64": [wire.zigzag(number) for number in (0, 12345, _MAX64, _MIN64)],
    }
    if name in plain:
        return [(number, 1, number) for number in plain[name]]
    if name == "sint32":
        numbers = [wire.zigzag(number) for number in (0, 12345, _MAX32, _MIN32)]
        return [*((number, 1, number) for number in numbers), (wire.zigzag(_MAX32 + 2), 1, 2)]
    if name == "bool":
        return [(0, 1, 0), *((number, 1, 1) for number in (1, -1, 12345678, 1 << 33, _MAX64, _MIN64))]
    if name == "enum":
        return [(0, 1, 0), (1, 1, 1), (2, 1, 2), (-1, 1, -1), (_MAX64, 1, -1), (_MIN64 + 1, 1, 1)]
    minus = -1 if name == "int32" else (1 << 32) - 1
    edges = (_MAX32, _MIN32) if name == "int32" else ((1 << 32) - 1,)
    cases = [(0, 1, 0), (12345, 1, 12345), (12345, 4, 12345), (12345, 9, 12345)]
    cases += [(number, 1, number) for number in edges]
    return [*cases, (1 << 33, 1, 0), ((1 << 33) - 1, 1, minus), (_MAX64, 1, minus), (_MIN64 + 1, 1, 1)]


def _long(number: int, size: int) -> bytes:
    """A varint with more bytes than it needs."""
    short = wire.varint(number)
    if len(short) >= size:
        return short
    return short[:-1] + bytes([short[-1] | 0x80]) + b"\x80" * (size - len(short) - 1) + b"\x00"


def _field(base: int, name: str, value: bytes) -> bytes:
    return wire.tag(base + TYPES.index(name), wire_type(name)) + value


def _run(base: int, name: str, encoded: list[bytes]) -> bytes:
    return wire.length_field(base + TYPES.index(name), b"".join(encoded))


def cases() -> Iterator[Case]:
    """All of them."""
    for message in (PROTO2, PROTO3):
        for name in TYPES:
            yield from _premature_ends(name, message)
            yield from _valid_values(name, message)
            yield from _oneof_values(name, message)
        for at, (key, value) in enumerate(MAPS):
            yield from _maps(MAP + at, key, value, message)
        yield from _illegal(message)
        yield from _merges(message)
        yield from _unknown(message)
    yield from _of_proto2()


def _premature_ends(name: str, message: str) -> Iterator[Case]:
    kind = wire_type(name)
    part = {wire.VARINT: b"\x80", wire.FIXED64: b"abcdefg", wire.LENGTH: b"\x80", wire.FIXED32: b"abc"}[kind]
    at = TYPES.index(name)
    for place, number in (("one", SINGULAR + at), ("many", REPEATED + at), ("unknown", UNKNOWN)):
        yield Case(f"premature end before {place} {name}", message, wire.tag(number, kind), None)
        yield Case(f"premature end inside {place} {name}", message, wire.tag(number, kind) + part, None)
        if kind == wire.LENGTH:
            yield Case(f"premature end of {place} {name}", message, wire.tag(number, kind) + b"\x01", None)
    if name == "message":
        inner = wire.tag(SINGULAR + TYPES.index("int32"), wire.VARINT) + b"\x80"
        yield Case("premature end in a message", message, wire.length_field(SINGULAR + at, inner), None)
    if name in NUMBERS:
        yield Case(f"premature end in packed {name}", message, wire.length_field(REPEATED + at, part), None)
        ended = wire.tag(REPEATED + at, wire.LENGTH) + b"\x01"
        yield Case(f"premature end of packed {name}", message, ended, None)


def _valid_values(name: str, message: str) -> Iterator[Case]:
    pairs = values(name)
    for index, (given, again) in enumerate(pairs):
        is_default = message == PROTO3 and name != "message" and again == pairs[0][1]
        expected = b"" if is_default else _field(SINGULAR, name, again)
        yield Case(f"valid {name} {index}", message, _field(SINGULAR, name, given), expected)
    if name != "message":
        data = b"".join(_field(SINGULAR, name, given) for given, _ in pairs)
        yield Case(f"last {name}", message, data, _field(SINGULAR, name, pairs[-1][1]))
    inputs, outputs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    for base, packed in ((REPEATED, message == PROTO3), (PACKED, True), (UNPACKED, False)):
        one_by_one = b"".join(_field(base, name, each) for each in inputs)
        if name not in NUMBERS:
            yield Case(f"repeated {name}", message, one_by_one, one_by_one)
            return
        unpacked = b"".join(_field(base, name, each) for each in outputs)
        expected = _run(base, name, outputs) if packed else unpacked
        yield Case(f"repeated {name} at {base}", message, one_by_one, expected)
        yield Case(f"repeated {name} in a run at {base}", message, _run(base, name, inputs), expected)


def _oneof_values(name: str, message: str) -> Iterator[Case]:
    zero, other = (_field(ONEOF, name, values(name)[index][0]) for index in (0, 1))
    beside = "uint32" if name != "uint32" else "string"
    before = _field(ONEOF, beside, values(beside)[0][0])
    yield Case(f"oneof {name} default", message, zero, zero)
    yield Case(f"oneof {name}", message, other, other)
    yield Case(f"oneof {name} twice", message, zero + other, other)
    yield Case(f"oneof {name} after another", message, before + other, other)


def _maps(number: int, key: str, value: str, message: str) -> Iterator[Case]:
    kinds = {1: key, 2: value}

    def part(at: int, index: int) -> bytes:
        return wire.tag(at, wire_type(kinds[at])) + values(kinds[at])[index][0]

    zero = part(1, 0) + part(2, 0)
    full = part(1, 1) + part(2, 1)
    name = f"map of {key} to {value}"

    def entry(content: bytes) -> bytes:
        return wire.length_field(number, content)

    yield Case(f"{name}, defaults", message, entry(zero), entry(zero))
    yield Case(f"{name}, nothing", message, entry(b""), entry(zero))
    yield Case(f"{name}, no key", message, entry(part(2, 1)), entry(part(1, 0) + part(2, 1)))
    yield Case(f"{name}, no value", message, entry(part(1, 1)), entry(part(1, 1) + part(2, 0)))
    yield Case(f"{name}, entry", message, entry(full), entry(full))
    yield Case(f"{name}, other order", message, entry(part(2, 1) + part(1, 1)), entry(full))
    twice = entry(part(1, 1) + part(2, 0)) + entry(full)
    yield Case(f"{name}, key in two entries", message, twice, entry(full))
    yield Case(f"{name}, two keys", message, entry(part(1, 0) + full), entry(full))
    if value != "message":
        yield Case(f"{name}, two values", message, entry(part(1, 1) + part(2, 0) + part(2, 1)), entry(full))
    unknown = wire.varint_field(9, 5)
    yield Case(f"{name}, more fields", message, entry(full + unknown), entry(full))


def _illegal(message: str) -> Iterator[Case]:
    for index, data in enumerate((b"\1DEADBEEF", b"\2\1\1", b"\3\4", b"\5DEAD", b"\0\0")):
        yield Case(f"field number 0, {index}", message, data, None)
    for number in (SINGULAR, UNKNOWN):
        for kind in (6, 7):
            yield Case(f"wire type {kind} of {number}", message, wire.tag(number, kind) + b"\x01", None)
        yield Case(f"end of a group {number}", message, wire.tag(number, 4), None)
        yield Case(f"no end of a group {number}", message, wire.tag(number, 3), None)
        wrong = wire.tag(number, 3) + wire.tag(number + 1, 4)
        yield Case(f"wrong end of a group {number}", message, wrong, None)
    yield Case("varint of eleven bytes", message, _field(SINGULAR, "int64", b"\xff" * 10 + b"\x01"), None)
    yield Case("tag of six bytes", message, b"\x88\x80\x80\x80\x80\x00\x01", None)
    for index, text in enumerate(
        (b"\xff", b"a\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe8\xb0")
    ):
        for base in (SINGULAR, REPEATED, ONEOF):
            data = _field(base, "string", wire.varint(len(text)) + text)
            # A string of proto2 takes any bytes.
            yield Case(f"no UTF-8, {index}", message, data, None if message == PROTO3 else data)


def _merges(message: str) -> Iterator[Case]:
    at = TYPES.index

    def content(*pairs: tuple[str, int, int]) -> bytes:
        return b"".join(wire.varint_field(base + at(name), value) for name, base, value in pairs)

    first = content(("int64", SINGULAR, 1234), ("int32", SINGULAR, 1234), ("int32", UNPACKED, 1))
    second = content(("int32", SINGULAR, 4321), ("uint32", SINGULAR, 4321), ("int32", UNPACKED, 2))
    merged = content(
        ("int64", SINGULAR, 1234), ("int32", SINGULAR, 4321), ("uint32", SINGULAR, 4321),
        ("int32", UNPACKED, 1), ("int32", UNPACKED, 2),
    )  # fmt: skip
    for base, name in ((SINGULAR, "a message"), (ONEOF, "a message of a oneof")):
        number = base + at("message")

        def both(number: int = number) -> bytes:
            return wire.length_field(number, first) + wire.length_field(number, second)

        yield Case(f"merge of {name}", message, both(), wire.length_field(number, merged))
        below = wire.length_field(number, both())
        yield Case(f"merge of {name} below", message, below,
                   wire.length_field(number, wire.length_field(number, merged)))  # fmt: skip
    number = MAP + MAPS.index(("string", "message"))
    key = wire.length_field(1, b"")
    entries = [wire.length_field(number, key + wire.length_field(2, each)) for each in (first, second)]
    yield Case("values of a key are not merged", message, b"".join(entries), entries[1])


def _unknown(message: str) -> Iterator[Case]:
    group = (
        wire.tag(UNKNOWN, 3) + wire.varint_field(1, 7) + wire.length_field(2, b"text") + wire.tag(UNKNOWN, 4)
    )
    parts = {
        "varint": wire.varint_field(FAR_UNKNOWN, 1),
        "fixed64": wire.double_field(UNKNOWN, 2.5),
        "fixed32": wire.float_field(UNKNOWN, 2.5),
        "text": wire.length_field(UNKNOWN, b"unknown"),
        "group": group,
    }
    known = wire.varint_field(SINGULAR + TYPES.index("int64"), 5)
    for name, data in parts.items():
        yield Case(f"unknown {name}", message, data, data)
    several = parts["text"] + parts["varint"] + parts["fixed32"] + group + parts["text"]
    number = REPEATED + TYPES.index("message")
    yield Case("unknown in order", message, several + known, known + several)
    inside = wire.length_field(number, several + known) + wire.length_field(number, known) + several
    expected = wire.length_field(number, known + several) + wire.length_field(number, known) + several
    yield Case("unknown within messages", message, inside, expected)
    other = wire.length_field(SINGULAR + TYPES.index("int32"), b"text")
    yield Case("another wire type", message, other, other)
    number = MAP + MAPS.index(("string", "message"))
    value = wire.length_field(1, b"key") + wire.length_field(2, parts["varint"])
    yield Case(
        "unknown in a map", message, wire.length_field(number, value), wire.length_field(number, value)
    )
    enum = _field(SINGULAR, "enum", wire.varint(77))
    yield Case("unknown value", message, enum, enum)


def _of_proto2() -> Iterator[Case]:
    required, item = "cases.two.Required", 1547769
    number, below = wire.varint_field(1, 5), wire.length_field(2, b"")
    yield Case("required", required, number, number)
    yield Case("required missing", required, b"", None)
    yield Case("required missing below", required, number + below, None)
    for at in (GROUP, REPEATED_GROUP):
        group = wire.tag(at, 3) + wire.varint_field(1, 7) + wire.tag(at, 4)
        yield Case("group", PROTO2, group, group)
        yield Case("group without its end", PROTO2, group[:-2], None)
    low, far = wire.varint_field(120, 5), wire.length_field(199, b"extension")
    last = wire.varint_field(UNPACKED + TYPES.index("int32"), 1)
    first = wire.varint_field(SINGULAR + TYPES.index("int32"), 1)
    yield Case("extensions", PROTO2, far + last + low + first, first + low + far + last)
    content = wire.varint_field(25, 5)
    typed = wire.varint_field(2, item) + wire.length_field(3, content)
    entry = wire.tag(1, 3) + typed + wire.tag(1, 4)
    yield Case("message set", "cases.two.Set", entry, entry)
    turned = wire.tag(1, 3) + wire.length_field(3, content) + wire.varint_field(2, item) + wire.tag(1, 4)
    yield Case("message set, other order", "cases.two.Set", turned, entry)
