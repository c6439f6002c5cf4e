"""Random message types and values, for Hypothesis."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from rackwright.verification.protobuf_schema import FORMATS, Field, Kind, Message

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
def types(draw: st.DrawFn, depth: int = 3) -> Message:
    """A type with at most twelve fields; types within it up to `depth`."""
    numbers = draw(st.lists(st.one_of(st.integers(1, 30), st.integers(1, 4000)), unique=True, max_size=12))
    start = draw(st.sampled_from([0, 0, 0, 100_000]))
    inner = draw(types(depth - 1)) if depth else Message("Empty", ())
    kinds = [*SCALARS, Kind.STRING, Kind.BYTES, *([Kind.MESSAGE] * 4 if depth else [])]
    fields = []
    for number in sorted(numbers):
        kind = draw(st.sampled_from(kinds))
        form = draw(st.sampled_from(["single", "single", "implicit", "repeated", "packed", "oneof"]))
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
