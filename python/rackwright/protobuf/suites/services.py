"""Suites that are representative of services: schemas and messages drawn from distributions.

Each service has a schema of its own: a top-level type, and types below it to the depth that its messages
need. A message first gets a size; then fields are added until it has that size. The same file produces the
same suite on every machine.
"""

from __future__ import annotations

import random

from rackwright.protobuf import wire
from rackwright.protobuf.suite import Benchmark, Suite
from rackwright.protobuf.suites.distributions import Distributions, draw_share, draw_size
from rackwright.protobuf.suites.keep import keep_files
from rackwright.protobuf.suites.schemas import Field, Schema, draw_schema, draw_syntax, proto_files
from rackwright.protobuf.suites.values import draw_values

_MESSAGE_OVERHEAD = 12
"""Bytes for which it is not worth opening a sub-message."""


def services_suite(shapes: Distributions, name: str) -> Suite:
    """The suite of these distributions; its .proto files are in .build."""
    schemas = []
    benchmarks = []
    for index in range(shapes.services):
        # They are drawn separately, so that those in proto2 do not depend on the share of proto3.
        syntax = draw_syntax(shapes, random.Random(f"{shapes.seed}/{index}/syntax"))
        draw = random.Random(f"{shapes.seed}/{index}")
        service = f"Service{chr(ord('A') + index % 26)}{index // 26 or ''}"
        schema = draw_schema(service, syntax, shapes, draw)
        messages = [_top_message(schema, shapes, draw) for _ in range(shapes.messages)]
        schemas.append(schema)
        benchmarks.append(Benchmark(f"service-{index}", schema[0].full_name, messages, "services"))
    return Suite(name, keep_files(proto_files(schemas)), benchmarks)


def _top_message(types: Schema, shapes: Distributions, draw: random.Random) -> bytes:
    """A message about as large as was drawn for it."""
    depth = draw_size(shapes.depth, draw)
    levels = [types[min(level, len(types) - 1)] for level in range(depth)]
    return _message(levels, draw_size(shapes.message_bytes, draw), shapes, draw)


def _message(levels: Schema, size: int, shapes: Distributions, draw: random.Random) -> bytes:
    """A message of the first type of about `size` bytes.

    First the present fields are added; then repeated ones grow until the message has its size.
    """
    fields = levels[0].fields
    most = max(1, round(draw_share(shapes.presence, draw) * len(fields)))
    filled: dict[int, bytes] = {}
    left = size
    for field in draw.sample(fields, len(fields)):
        value = _value(field, levels, left, shapes, draw) if len(filled) < most else b""
        if value and len(value) <= left:
            filled[field.number] = value
            left -= len(value)
    growing = [field for field in fields if field.repeated and field.kind in ("bytes", "message")]
    while left > _MESSAGE_OVERHEAD or not filled:
        field = draw.choice(growing)
        value = _value(field, levels, left, shapes, draw)
        if not value:
            continue
        filled[field.number] = filled.get(field.number, b"") + value
        left -= len(value)
    return b"".join(filled[number] for number in sorted(filled))


def _value(field: Field, levels: Schema, left: int, shapes: Distributions, draw: random.Random) -> bytes:
    """A field with its value, or with its values; nothing if it is impossible."""
    if field.kind != "message":
        return draw_values(field, levels[0].syntax, left, shapes, draw)
    if len(levels) < 2 or left < _MESSAGE_OVERHEAD:
        return b""
    inner = _message(levels[1:], min(draw_size(shapes.message_bytes, draw), left - 4), shapes, draw)
    return wire.length_field(field.number, inner)
