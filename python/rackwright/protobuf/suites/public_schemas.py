"""Schemas in the manner of public ones, drawn from a seed.

Enums have gaps, with the kinds of public ones: consecutive numbers of which some were retired, codes in
groups by the hundred or thousand, flags, and a few with a distant value. Messages have few or many fields,
oneofs, maps, fields of well-known types and of an imported file; some declare extensions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

WELL_KNOWN = {
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.Duration": "duration",
    "google.protobuf.StringValue": "wrappers",
    "google.protobuf.Int64Value": "wrappers",
    "google.protobuf.Any": "any",
    "google.protobuf.Struct": "struct",
}
"""Types of other packages that fields have, and the files that declare them."""

_VARINTS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "bool")
SCALARS = (*_VARINTS, "double", "float", "fixed64", "fixed32")
_OTHERS = [*["string"] * 8, "bytes", *["enum"] * 4, *["message"] * 4, "known"]
_KINDS = [*SCALARS, "int32", "int64", "bool", *_OTHERS]
_KEYS = ("int32", "uint64", "string", "string", "bool")

FIRST_EXTENSION = 10_000
"""Numbers from here to 19999 are extensions, of the types that declare any."""

FIRST_UNKNOWN = 5_000
"""Numbers from here on have no type in any schema."""


@dataclass(frozen=True)
class Enum:
    """A closed enum."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Field:
    """A field; `kind` is a scalar type, "string", "bytes", "enum", "message" or "known".

    `type` is the enum, or the name of a message or of a well-known type. Fields of one `oneof` exclude each
    other. A map has a type of keys.
    """

    number: int
    kind: str
    label: Literal["optional", "repeated", "packed", "oneof", "map"]
    type: Enum | str = ""
    key: str = ""


@dataclass(frozen=True)
class Message:
    """A message type; `extends` is true if it declares extensions."""

    name: str
    fields: tuple[Field, ...]
    extends: bool


@dataclass(frozen=True)
class Schema:
    """A package of two files. Messages contain only later ones; the first is the one that is sent.

    The second file, which the first imports, has the last half of the messages, and the enums.
    """

    package: str
    enums: tuple[Enum, ...]
    messages: tuple[Message, ...]


def draw_schema(package: str, draw: random.Random) -> Schema:
    """A schema of this name."""
    enums = tuple(_draw_enum(f"Kind{index}", draw) for index in range(draw.randint(2, 6)))
    count = draw.randint(3, 8)
    messages: list[Message] = []
    for index in reversed(range(count)):
        below = [message.name for message in messages]
        fields = _log_uniform(5, 400 if index == 0 else 60, draw)
        messages.insert(0, _draw_message(f"Message{index}", fields, enums, below, draw))
    return Schema(package, enums, tuple(messages))


def _log_uniform(least: int, most: int, draw: random.Random) -> int:
    wanted: float = least * (most / least) ** draw.random()
    return round(wanted)


def _draw_enum(name: str, draw: random.Random) -> Enum:
    """3 to 300 values, with at least one gap."""
    count = _log_uniform(3, 300, draw)
    style = draw.choices(("retired", "groups", "flags", "far"), (12, 4, 1, 1))[0]
    if style == "flags":
        values = {0, *(1 << bit for bit in range(min(count, 31)))}
    elif style == "groups":
        step = draw.choice((10, 100, 1000))
        values = {0, *(step * (1 + index // 7) + index % 7 for index in range(count))}
    else:
        whole = range(count + max(1, count * draw.randint(5, 40) // 100))
        values = {0, whole[-1], *draw.sample(whole, count)}
        if whole[-1] + 1 == len(values):
            values.remove(draw.randrange(1, whole[-1]))
        if style == "far":
            values.add(draw.choice((-1, 9999, 0x7FFFFFFF, draw.getrandbits(31))))
    return Enum(name, tuple(sorted(values, key=lambda value: (value != 0, value))))


def _draw_message(
    name: str, count: int, enums: tuple[Enum, ...], below: list[str], draw: random.Random
) -> Message:
    numbers = sorted(draw.sample(range(1, count + count // 4 + 2), count))
    in_oneof = set(draw.sample(numbers, draw.choice((0, 0, 2, 3))))
    fields = [_draw_field(number, number in in_oneof, enums, below, draw) for number in numbers]
    return Message(name, tuple(fields), draw.random() < 0.2)


def _draw_field(
    number: int, in_oneof: bool, enums: tuple[Enum, ...], below: list[str], draw: random.Random
) -> Field:
    kind = draw.choice(_KINDS)
    if kind == "message" and not below:
        kind = "string"
    named: Enum | str = ""
    if kind == "enum":
        named = draw.choice(enums)
    elif kind in ("message", "known"):
        named = draw.choice(below if kind == "message" else list(WELL_KNOWN))
    if in_oneof:
        return Field(number, kind, "oneof", named)
    label = draw.choices(("optional", "repeated", "map"), (15, 4, 1))[0]
    if label == "map":
        return Field(number, kind, "map", named, draw.choice(_KEYS))
    if label == "repeated" and (kind in SCALARS or kind == "enum") and draw.random() < 0.5:
        return Field(number, kind, "packed", named)
    return Field(number, kind, "repeated" if label == "repeated" else "optional", named)


def service_file(schema: Schema) -> str:
    """The file with the message that is sent."""
    return f"{schema.package.replace('.', '/')}/service.proto"


def proto_files(schemas: list[Schema]) -> dict[str, str]:
    """The texts of .proto files by name; the first imports all others."""
    folder = [(schema, schema.package.replace(".", "/")) for schema in schemas]
    imports = "".join(f'import "{path}/service.proto";\n' for _, path in folder)
    files = {"public.proto": f'syntax = "proto2";\n\npackage world;\n\n{imports}'}
    for schema, path in folder:
        half = (len(schema.messages) + 1) // 2
        types = f"{path}/types.proto"
        files[service_file(schema)] = _proto(schema, schema.messages[:half], (), [types])
        files[types] = _proto(schema, schema.messages[half:], schema.enums, [])
    return files


def _proto(schema: Schema, messages: tuple[Message, ...], enums: tuple[Enum, ...], imports: list[str]) -> str:
    fields = [field for message in messages for field in message.fields]
    known = {WELL_KNOWN[str(field.type)] for field in fields if field.kind == "known"}
    imports = imports + [f"google/protobuf/{name}.proto" for name in sorted(known)]
    lines = ['syntax = "proto2";', "", f"package {schema.package};", ""]
    lines += [f'import "{name}";' for name in imports]
    for enum in enums:
        values = [f"  {enum.name.upper()}_{index} = {value};" for index, value in enumerate(enum.values)]
        lines += ["", f"enum {enum.name} {{", *values, "}"]
    for message in messages:
        lines += ["", f"message {message.name} {{", *_body(message), "}"]
    return "\n".join(lines) + "\n"


def _body(message: Message) -> list[str]:
    lines = [f"  {_declaration(field)};" for field in message.fields if field.label != "oneof"]
    chosen = [f"    {_declaration(field)};" for field in message.fields if field.label == "oneof"]
    if chosen:
        lines += ["  oneof choice {", *chosen, "  }"]
    if message.extends:
        lines.append(f"  extensions {FIRST_EXTENSION} to {2 * FIRST_EXTENSION - 1};")
    return lines


def _declaration(field: Field) -> str:
    named = field.type.name if isinstance(field.type, Enum) else field.type
    kind = {"known": f".{named}", "message": named, "enum": named}.get(field.kind, field.kind)
    name = f"field_{field.number} = {field.number}"
    if field.label == "map":
        return f"map<{field.key}, {kind}> {name}"
    if field.label == "oneof":
        return f"{kind} {name}"
    label = "repeated" if field.label == "packed" else field.label
    return f"{label} {kind} {name}" + (" [packed = true]" if field.label == "packed" else "")
