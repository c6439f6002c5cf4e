"""Schemas of services, drawn from distributions: types by level, in proto2 or proto3."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.protobuf.suites.distributions import Distributions, draw_name, draw_share, draw_size

KINDS = 16
"""Values that the enum declares, from 0 on."""

_PACKAGES = {"proto2": "rackwright.services", "proto3": "rackwright.services.proto3"}
"""A package for each syntax: the enum of one may not be used in the other."""

_LEVELS = 4
"""Types of a service, one a level; the lowest holds itself, for messages that are deeper."""


@dataclass(frozen=True)
class Field:
    """A field; `kind` is a type of `distributions.TYPES`, or "message" for the type one level below.

    One of `implicit` presence (proto3) is absent when it is zero or empty.
    """

    number: int
    kind: str
    repeated: bool = False
    packed: bool = False
    implicit: bool = False


@dataclass(frozen=True)
class Type:
    """A message type: the fields of one level of a service's schema, in the syntax "proto2" or "proto3"."""

    name: str
    syntax: str
    fields: tuple[Field, ...]

    @property
    def full_name(self) -> str:
        """With its package."""
        return f"{_PACKAGES[self.syntax]}.{self.name}"


Schema = Sequence[Type]
"""The types of a service, the top-level one first."""


def draw_syntax(shapes: Distributions, draw: random.Random) -> str:
    """The syntax of a service's schema."""
    return "proto3" if draw.random() < shapes.proto3 else "proto2"


def draw_schema(name: str, syntax: str, shapes: Distributions, draw: random.Random) -> Schema:
    """The schema of a service of this name."""
    names = [name, *(f"{name}Level{level}" for level in range(1, _LEVELS))]
    return [Type(each, syntax, _fields(syntax, shapes, draw)) for each in names]


def _fields(syntax: str, shapes: Distributions, draw: random.Random) -> tuple[Field, ...]:
    """The fields of a type: the drawn ones, one of bytes and one of messages, the last two repeated."""
    count = draw_size(shapes.defined_fields, draw)
    density = max(draw_share(shapes.density, draw), 1 / 64)
    numbers = draw.sample(range(1, int(count / density) + 3), count + 2)
    drawn = _field_of_proto3 if syntax == "proto3" else _field_of_proto2
    fields = [drawn(numbers.pop(), shapes, draw) for _ in range(count)]
    fields.append(Field(numbers.pop(), "bytes", repeated=True))
    fields.append(Field(numbers.pop(), "message", repeated=True))
    return tuple(sorted(fields, key=lambda field: field.number))


def _field_of_proto2(number: int, shapes: Distributions, draw: random.Random) -> Field:
    kind = draw_name(shapes.field_types, draw)
    repeated = draw.random() < shapes.repeated
    packed = repeated and _may_be_packed(kind) and draw.random() < shapes.packed
    return Field(number, kind, repeated, packed)


def _field_of_proto3(number: int, shapes: Distributions, draw: random.Random) -> Field:
    """Repeated numbers are packed unless a schema states otherwise."""
    kind = draw_name(shapes.field_types, draw)
    repeated = draw.random() < shapes.repeated
    implicit = not repeated and draw.random() >= shapes.proto3_optional
    return Field(number, kind, repeated, repeated and _may_be_packed(kind), implicit)


def _may_be_packed(kind: str) -> bool:
    return kind not in ("string", "bytes")


def proto_files(schemas: Sequence[Schema]) -> dict[str, str]:
    """The texts of the .proto files that declare these schemas, by name.

    The first file has the messages in proto2. Messages in proto3 are in a separate file, which the first
    imports.
    """
    of = {syntax: [schema for schema in schemas if schema[0].syntax == syntax] for syntax in _PACKAGES}
    if not of["proto3"]:
        return {"services.proto": _proto("proto2", of["proto2"])}
    second = "services_proto3.proto"
    first = _proto("proto2", of["proto2"], f'import public "{second}";\n\n')
    return {"services.proto": first, second: _proto("proto3", of["proto3"])}


def _proto(syntax: str, schemas: Sequence[Schema], imports: str = "") -> str:
    values = "".join(f"  KIND_{value} = {value};\n" for value in range(KINDS))
    parts = [
        "// Generated from distributions of the shapes of messages.\n"
        f'syntax = "{syntax}";\n\npackage {_PACKAGES[syntax]};\n\n{imports}enum Kind {{\n{values}}}\n'
    ]
    for schema in schemas:
        for level, each in enumerate(schema):
            below = schema[min(level + 1, len(schema) - 1)].name
            parts.append(f"\nmessage {each.name} {{\n")
            parts += [f"  {_declaration(field, below, syntax)};\n" for field in each.fields]
            parts.append("}\n")
    return "".join(parts)


def _declaration(field: Field, below: str, syntax: str) -> str:
    kind = {"message": below, "enum": "Kind"}.get(field.kind, field.kind)
    label = "repeated " if field.repeated else "" if field.implicit else "optional "
    # Proto3 packs by default.
    option = " [packed = true]" if field.packed and syntax == "proto2" else ""
    return f"{label}{kind} field_{field.number} = {field.number}{option}"
