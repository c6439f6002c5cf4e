"""Short strings that leave the input with their tags, where a header promises that they are strings."""

from __future__ import annotations

import struct

import pytest
from protobuf_deserializer import Deserializer

from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import Field, Kind, Message

TEXTS_WORD = 56
"""Offset in a table's header."""

INNER = Message("Inner", (Field(1, Kind.STRING, utf8=True), Field(2, Kind.INT32)))
TOP = Message(
    "Top",
    (
        Field(1, Kind.STRING, utf8=True),
        Field(2, Kind.BYTES, repeated=True),
        Field(3, Kind.MESSAGE, message=lambda: INNER, repeated=True),
        Field(6, Kind.INT32),
        Field(9, Kind.STRING, oneof=0),
        Field(65, Kind.STRING, repeated=True, utf8=True),
        Field(70, Kind.STRING),
    ),
)
GOOD = wire.encode(
    TOP,
    {
        1: "bär".encode(),
        2: [bytes([length]) * length for length in range(18)],
        3: [{1: b"x" * length, 2: length} for length in (0, 14, 15, 16)],
        6: 7,
        9: b"chosen",
        65: [b"", b"far", b"f" * 15],
        70: b"beside a number",
    },
)


@pytest.fixture(scope="module")
def shared() -> Deserializer:
    """A deserializer as it is built by default."""
    return Deserializer()


@pytest.fixture
def unit(shared: Deserializer) -> Deserializer:
    """The same, with tables and regions."""
    shared.use(TOP)
    return shared


def promise(unit: Deserializer, numbers: int) -> None:
    """Has the header promise strings at these numbers, as bits."""
    unit.unit.bench.write_memory(unit.table + TEXTS_WORD, struct.pack("<Q", numbers))


@pytest.mark.parametrize("misalignment", [0, 1, 17, 31])
def test_strings_of_all_short_lengths(unit: Deserializer, misalignment: int) -> None:
    """Singular, repeated, in a oneof, in a message, last in one, at numbers beyond 64, at the input's end."""
    assert unit.check(GOOD, misalignment).status == "ok"


def test_without_a_promise_it_takes_longer(unit: Deserializer) -> None:
    """The same object, more cycles."""
    with_it = unit.check(GOOD)
    unit.use(TOP)
    promise(unit, 0)
    without = unit.check(GOOD)
    assert without.value == with_it.value
    assert without.cycles > with_it.cycles


@pytest.mark.parametrize("text", [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"fourteen byte\xf0"])
@pytest.mark.parametrize("behind", [b"", wire.encode(TOP, {6: 7})])
def test_a_short_string_that_is_not_utf8(unit: Deserializer, text: bytes, behind: bytes) -> None:
    """Refused where its tag is, whatever is behind it."""
    before = wire.encode(TOP, {2: [b"\xff"]})
    outcome = unit.parse(before + wire.delimited(1, text) + behind)
    assert (outcome.status, outcome.offset) == ("malformed", len(before))


def test_a_promise_that_is_wrong(unit: Deserializer) -> None:
    """A message where strings were promised is not made a string."""
    promise(unit, 1 << 3)
    outcome = unit.parse(wire.encode(TOP, {3: [{2: 1}]}))
    assert (outcome.status, outcome.offset) == ("unsupported", 0)


@pytest.mark.parametrize("end", range(1, len(GOOD), 7))
def test_inputs_that_end_early(unit: Deserializer, end: int) -> None:
    """As the library says of them."""
    unit.check(GOOD[:end])


@pytest.mark.parametrize("length", [5, 15, 40, 3000])
def test_looking_for_utf8_costs_no_cycle(shared: Deserializer, length: int) -> None:
    """Strings within one beat, over several, and long ones that are copied."""
    text = ("é" * length).encode()[: length // 2 * 2]
    cycles = []
    for utf8 in (False, True):
        message = Message("Texts", (Field(1, Kind.STRING, repeated=True, utf8=utf8),))
        shared.use(message)
        encoded = wire.encode(message, {1: [text] * 20})
        shared.check(encoded)
        cycles.append(shared.check(encoded).cycles)
    assert cycles[0] == cycles[1]
