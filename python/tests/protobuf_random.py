"""Random message types and values: by Hypothesis, or by a seed where there are many."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from rackwright.verification.protobuf_schema import FORMATS, KEY_KINDS, Field, Kind, Message, map_field

_names = itertools.count()

RANGES = {
    Kind.INT32: (-(1 << 31), (1 << 31) - 1),
    Kind.SINT32: (-(1 << 31), (1 << 31) - 1),
    Kind.SFIXED32: (-(1 << 31), (1 << 31) - 1),
    Kind.UINT32: (0, (1 << 32) - 1),
    Kind.FIXED32: (0, (1 << 32) - 1),
    Kind.INT64: (-(1 << 63), (1 << 63) - 1),
    Kind.SINT64: (-(1 << 63), (1 << 63) - 1),
    Kind.SFIXED64: (-(1 << 63), (1 << 63) - 1),
    Kind.UINT64: (0, (1 << 64) - 1),
    Kind.FIXED64: (0, (1 << 64) - 1),
}
SCALARS = [kind for kind in FORMATS if kind is not Kind.ENUM]


def scalars(kind: Kind) -> st.SearchStrategy[Any]:
    """Values of a type; numbers of every length."""
    if kind is Kind.BOOL:
        return st.booleans()
    if kind in (Kind.DOUBLE, Kind.FLOAT):
        return st.floats(width=32 if kind is Kind.FLOAT else 64, allow_nan=False)
    if kind is Kind.STRING:
        return st.text(alphabet="ab\u00e9", max_size=40).map(str.encode)
    if kind is Kind.BYTES:
        return st.binary(max_size=100)
    least, most = RANGES[kind]
    lengths = st.sampled_from([0, 7, 14, 21, 31, 32, 49, 63])
    near = lengths.map(lambda bits: min(1 << bits, most))
    return st.one_of(near, st.integers(least, most), st.integers(max(least, -2), 3))


def _always(message: Message) -> Callable[[], Message]:
    return lambda: message


@st.composite
def types(draw: st.DrawFn, depth: int = 3, least: int = 0) -> Message:
    """A type with `least` to twelve fields; types within it up to `depth`."""
    below = st.one_of(st.integers(1, 30), st.integers(1, 4000))
    numbers = draw(st.lists(below, unique=True, min_size=least, max_size=12))
    start = draw(st.sampled_from([0, 0, 0, 100_000]))
    inner = draw(types(depth - 1, least)) if depth else Message("Empty", ())
    kinds = [*SCALARS, Kind.STRING, Kind.BYTES, *([Kind.MESSAGE] * 4 if depth else [])]
    fields = []
    for number in sorted(numbers):
        kind = draw(st.sampled_from(kinds))
        form = draw(st.sampled_from(["single", "single", "implicit", "repeated", "packed", "oneof", "map"]))
        if form == "map":
            key = draw(st.sampled_from(KEY_KINDS))
            fields.append(map_field(start + number, key, Field(2, kind, message=_always(inner))))
            continue
        is_scalar = kind in SCALARS
        fields.append(
            Field(
                start + number,
                kind,
                repeated=form in ("repeated", "packed"),
                packed=form == "packed" and is_scalar,
                implicit=form == "implicit",
                oneof=0 if form == "oneof" else None,
                message=_always(inner),
            )
        )
    return Message(f"Type{next(_names)}", tuple(fields), hasbit_gap=draw(st.sampled_from([0, 0, 9])))


@st.composite
def values(draw: st.DrawFn, message: Message) -> dict[int, Any]:
    """Some fields of a type; those without presence are not zero."""
    value: dict[int, Any] = {}
    held = draw(st.sampled_from([f.number for f in message.fields if f.oneof is not None] or [0]))
    for item in message.fields:
        if (item.oneof is not None and item.number != held) or not draw(st.booleans()):
            continue
        each = values(item.message()) if item.kind is Kind.MESSAGE else scalars(item.kind)
        chosen = draw(st.lists(each, max_size=6) if item.repeated else each)
        is_nothing = item.implicit and item.kind is not Kind.MESSAGE and not chosen
        if not is_nothing and chosen != []:
            value[item.number] = chosen
    return value


def random_value(source: random.Random, message: Message) -> dict[int, Any]:
    """The same by a seed: from nothing to nearly all fields, now and then a long one."""
    value: dict[int, Any] = {}
    presence = source.choice((0.1, 0.5, 0.9))
    held = source.choice([f.number for f in message.fields if f.oneof is not None] or [0])
    for item in message.fields:
        if (item.oneof is not None and item.number != held) or source.random() > presence:
            continue
        count = source.choice((1, 2, 3) if item.kind is Kind.MESSAGE else (1, 2, 5, 5, 60))
        elements = [_random_element(source, item) for _ in range(count if item.repeated else 1)]
        is_nothing = item.implicit and item.kind is not Kind.MESSAGE and not elements[0]
        if item.repeated or not is_nothing:
            value[item.number] = elements if item.repeated else elements[0]
    return value


def _random_element(source: random.Random, item: Field) -> Any:
    if item.kind is Kind.MESSAGE:
        return random_value(source, item.message())
    if item.kind in (Kind.STRING, Kind.BYTES):
        return source.randbytes(source.choice((0, 1, 8, 15, 16, 41, 41, 500)))
    return random_scalar(source, item.kind)


def random_scalar(source: random.Random, kind: Kind) -> Any:
    """A value of a type of numbers other than enums; small ones as often as large ones."""
    if kind is Kind.BOOL:
        return source.random() < 0.5
    if kind in (Kind.DOUBLE, Kind.FLOAT):
        return source.choice((0.0, 1.0, -2.5))
    least, most = RANGES[kind]
    number = source.getrandbits(source.randrange(1, most.bit_length() + 1))
    return -number if least < 0 and source.random() < 0.3 else number
