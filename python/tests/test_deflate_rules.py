"""The DEFLATE decompressor against hand-made data for each rule of RFC 1951, RFC 1950 and RFC 1952."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest

from rackwright import DeflateUnit
from rackwright.compression import libz
from rackwright.verification import deflate_format as fmt
from rackwright.verification.deflate_format import END, Bits, sparse

ROOM = 1 << 12


@pytest.fixture(scope="module")
def unit() -> Iterator[DeflateUnit]:
    """The decompressor as it is built by default; it must not have touched what is not its."""
    unit = DeflateUnit("decompress", check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def agrees(unit: DeflateUnit, packed: bytes, wrapper: libz.Format, valid: bool) -> None:
    """The unit and the library agree with what is expected, and with each other."""
    unit.choose(wrapper)
    result = unit.run(packed, capacity=ROOM)
    expected = libz.decompress(packed, wrapper)
    assert isinstance(expected, tuple) is valid, expected
    if isinstance(expected, tuple):
        assert (result.status, result.output, result.input_offset) == ("ok", *expected)
    else:
        assert result.status == "malformed", expected


TWO = sparse(257, {97: 1, END: 1})
ONE_DISTANCE = [1]


def every_length() -> list[int]:
    """Lengths 1 to 15 once, and 15 twice: as many as bits allow."""
    return sparse(257, {symbol: symbol + 1 for symbol in range(15)} | {END: 15})


RIGHT = {
    "stored": fmt.stored(Bits(), b"hello"),
    "stored, nothing": fmt.stored(Bits(), b""),
    "stored twice": fmt.stored(fmt.stored(Bits(), b"ab", last=False), b"cd"),
    "fixed": fmt.fixed(Bits(), [*b"hello", END]),
    "fixed, nothing": fmt.fixed(Bits(), [END]),
    "fixed, every literal": fmt.fixed(Bits(), [*range(256), END]),
    "fixed, every length": fmt.fixed(Bits(), [97, *((n, 0, 0, 0) for n in range(257, 286)), END]),
    "fixed, longest length two ways": fmt.fixed(Bits(), [97, (284, 31, 0, 0), (285, 0, 0, 0), END]),
    "fixed, far": fmt.fixed(Bits(), [*range(256), (285, 0, 0, 0), (258, 0, 15, 63), (257, 0, 3, 0), END]),
    "two codes": fmt.dynamic(Bits(), [97, 97, END], TWO, [0]),
    "end alone": fmt.dynamic(Bits(), [END], sparse(257, {END: 1}), [0]),
    "one distance": fmt.dynamic(
        Bits(), [97, (257, 0, 0, 0), END], sparse(258, {97: 2, END: 2, 257: 1}), ONE_DISTANCE
    ),
    "no distance": fmt.dynamic(Bits(), [97, END], TWO, sparse(30, {})),
    "codes of every length": fmt.dynamic(Bits(), [*range(15), *range(15), END], every_length(), [0]),
    "two far distances": fmt.dynamic(
        Bits(),
        [97, 97, (257, 0, 0, 0), (257, 0, 1, 0), END],
        sparse(258, {97: 2, END: 2, 257: 1}),
        sparse(30, {0: 1, 1: 1}),
    ),
    "repetitions": fmt.tokens(
        fmt.description(
            Bits(),
            TWO,
            [0],
            of_lengths=sparse(19, {0: 2, 1: 2, 17: 2, 18: 2}),
            symbols=[(18, 86), 1, (18, 127), (18, 9), 1, 0],
        ),
        [97, END],
        TWO,
        [0],
    ),
    "repetitions from literals to distances": fmt.tokens(
        fmt.description(
            Bits(),
            sparse(257, {97: 1, 255: 2, END: 2}),
            [2] * 4,
            of_lengths=sparse(19, {1: 2, 2: 3, 16: 3, 18: 1}),
            symbols=[(18, 86), 1, (18, 127), (18, 8), 2, (16, 2)],
        ),
        [97, END],
        sparse(257, {97: 1, 255: 2, END: 2}),
        [2] * 4,
    ),
}
WRONG = {
    "nothing": Bits(),
    "reserved kind": Bits().put(1, 1).put(fmt.RESERVED, 2).put(0, 40),
    "stored, wrong complement": fmt.stored(Bits(), b"hello", complement=0),
    "stored, cut off": Bits().put(1, 1).put(0, 2).align().put(9, 16).put(9 ^ 0xFFFF, 16).put(1, 24),
    "no last block": fmt.stored(Bits(), b"hello", last=False),
    "fixed, no end": Bits().put(1, 1).put(fmt.FIXED, 2),
    "fixed, before the begin": fmt.fixed(Bits(), [(257, 0, 0, 0), END]),
    "fixed, one before the begin": fmt.fixed(Bits(), [97, 98, (257, 0, 2, 0), END]),
    "fixed, length 286": fmt.fixed(Bits(), [97, 286, END]),
    "fixed, length 287": fmt.fixed(Bits(), [97, 287, END]),
    "fixed, distance 30": fmt.fixed(Bits(), [97, (257, 0, 30, 0), END]),
    "fixed, distance 31": fmt.fixed(Bits(), [97, (257, 0, 31, 0), END]),
    "too many literals": fmt.description(Bits(), TWO, [0], counts={"literals": 30}),
    "too many distances": fmt.description(Bits(), TWO, [0], counts={"distances": 30}),
    "lengths oversubscribed": fmt.description(Bits(), TWO, [0], of_lengths=[3] * 19),
    "lengths incomplete": fmt.description(Bits(), TWO, [0], of_lengths=[5] * 19),
    "lengths of one code": fmt.description(Bits(), [0] * 257, [0], of_lengths=sparse(19, {0: 1})),
    "lengths of no code": fmt.description(
        Bits(), [], [], of_lengths=[0] * 19, counts={"literals": 0, "distances": 0}
    ).put(0, 600),
    "repetition of nothing": fmt.description(
        Bits(), TWO, [0], of_lengths=sparse(19, {16: 1, 1: 1}), symbols=[(16, 0), 1]
    ).put(0, 300),
    "repetition beyond the last": fmt.description(
        Bits(), TWO, [0], of_lengths=sparse(19, {18: 1, 1: 1}), symbols=[1, (18, 127), (18, 127)]
    ).put(0, 300),
    "no end of block": fmt.description(Bits(), sparse(257, {97: 1, 98: 1}), [0]),
    "literals oversubscribed": fmt.description(Bits(), sparse(257, {97: 1, 98: 1, END: 1}), [0]),
    "literals incomplete": fmt.description(Bits(), sparse(257, {97: 2, END: 1}), [0]),
    "one literal of two bits": fmt.description(Bits(), sparse(257, {END: 2}), [0]),
    "the other code of one": fmt.description(Bits(), sparse(257, {END: 1}), [0]).put(1, 1),
    "distances oversubscribed": fmt.description(Bits(), TWO, [1, 1, 1]),
    "distances incomplete": fmt.description(Bits(), TWO, [1, 2]),
    "one distance of two bits": fmt.description(Bits(), TWO, [2]),
    "distance without a code": fmt.description(Bits(), sparse(258, {97: 2, END: 2, 257: 1}), [0])
    .code(2, 2)
    .code(0, 1)
    .put(0, 20),
    "the other distance of one": fmt.description(Bits(), sparse(258, {97: 2, END: 2, 257: 1}), ONE_DISTANCE)
    .code(2, 2)
    .code(0, 1)
    .put(1, 1)
    .put(0, 20),
    "description cut off": Bits().put(1, 1).put(fmt.DYNAMIC, 2).put(0, 9),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_blocks(unit: DeflateUnit, name: str) -> None:
    agrees(unit, RIGHT[name].data(), "deflate", valid=True)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_blocks(unit: DeflateUnit, name: str) -> None:
    agrees(unit, WRONG[name].data(), "deflate", valid=False)


PLAIN = b"some text, some text"
BODY = libz.compress(PLAIN, 6, "deflate")


def test_zlib(unit: DeflateUnit) -> None:
    agrees(unit, fmt.zlib_stream(BODY, PLAIN), "zlib", valid=True)
    agrees(unit, fmt.zlib_stream(BODY, PLAIN, header=b"\x18\x19"), "zlib", valid=True)


@pytest.mark.parametrize(
    "packed",
    [
        fmt.zlib_stream(BODY, PLAIN, header=b"\x78\x9d"),
        fmt.zlib_stream(BODY, PLAIN, header=b"\x77\x85"),
        fmt.zlib_stream(BODY, PLAIN, header=b"\x88\x1c"),
        fmt.zlib_stream(BODY, PLAIN, checksum=1),
        fmt.zlib_stream(BODY, PLAIN)[:-1],
        b"",
        b"\x78",
        fmt.gzip_member(BODY, PLAIN),
    ],
    ids=["check", "method", "window", "checksum", "cut off", "empty", "short", "gzip"],
)
def test_wrong_zlib(unit: DeflateUnit, packed: bytes) -> None:
    agrees(unit, packed, "zlib", valid=False)


def test_preset_dictionary_is_not_supported_and_named(unit: DeflateUnit) -> None:
    unit.choose("zlib")
    result = unit.run(fmt.zlib_stream(b"\x00\x00\x0a\xbc" + BODY, PLAIN, header=b"\x78\xbb"), capacity=ROOM)
    assert (result.status, result.verified) == ("unsupported", True)
    assert result.note == "the stream wants a preset dictionary, of Adler-32 0x00000abc; the unit takes none"


TEXT_FLAG, HEADER_SUM, EXTRA, NAME, COMMENT = 1, 2, 4, 8, 16
FIELDS = b"\x05\x00extra" + b"name\0" + b"comment\0"
ALL = EXTRA | NAME | COMMENT | TEXT_FLAG


def with_header_sum(error: int) -> bytes:
    """A member with all fields and a checksum of its head."""
    flags = ALL | HEADER_SUM
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\xff" + FIELDS
    check = (zlib.crc32(head) & 0xFFFF) ^ error
    return fmt.gzip_member(BODY, PLAIN, flags=flags, fields=FIELDS + check.to_bytes(2, "little"))


@pytest.mark.parametrize(
    "packed",
    [
        fmt.gzip_member(BODY, PLAIN),
        fmt.gzip_member(BODY, PLAIN, flags=ALL, fields=FIELDS),
        fmt.gzip_member(BODY, PLAIN, flags=NAME, fields=b"\0"),
        fmt.gzip_member(BODY, PLAIN, flags=EXTRA, fields=b"\0\0"),
        with_header_sum(0),
        fmt.gzip_member(BODY, PLAIN) * 3,
        fmt.gzip_member(BODY, PLAIN) + bytes(99),
    ],
    ids=["plain", "fields", "no name", "no extra", "header sum", "members", "zeros"],
)
def test_gzip(unit: DeflateUnit, packed: bytes) -> None:
    agrees(unit, packed, "gzip", valid=True)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        fmt.gzip_member(BODY, PLAIN, magic=b"\x1f\x8c\x08"),
        fmt.gzip_member(BODY, PLAIN, magic=b"\x1f\x8b\x07"),
        fmt.gzip_member(BODY, PLAIN, flags=0x20),
        with_header_sum(1),
        fmt.gzip_member(BODY, PLAIN, checksum=1),
        fmt.gzip_member(BODY, PLAIN, size=1),
        fmt.gzip_member(BODY, PLAIN)[:-1],
        fmt.gzip_member(BODY, PLAIN)[:14],
        fmt.gzip_member(BODY, PLAIN, flags=NAME, fields=b"name"),
        fmt.gzip_member(BODY, PLAIN, flags=EXTRA, fields=b"\xff\xff"),
        fmt.gzip_member(BODY, PLAIN) + b"x",
        fmt.gzip_member(BODY, PLAIN) + bytes(9) + b"x",
        bytes(9) + fmt.gzip_member(BODY, PLAIN),
    ],
    ids=[
        "empty", "magic", "method", "reserved flag", "header sum", "checksum", "size", "cut off",
        "head cut off", "name without end", "extra without end", "bytes behind", "bytes behind zeros",
        "zeros before",
    ],
)  # fmt: skip
def test_wrong_gzip(unit: DeflateUnit, packed: bytes) -> None:
    agrees(unit, packed, "gzip", valid=False)


def test_unknown_format_is_not_supported(unit: DeflateUnit) -> None:
    unit.choose("zlib")
    unit.unit.command(5, 3)
    assert unit.run(fmt.zlib_stream(BODY, PLAIN), capacity=ROOM).status == "unsupported"


def test_history_out_of_range_is_not_supported() -> None:
    unit = DeflateUnit("decompress", history_kib=1)
    assert unit.run(fmt.zlib_stream(BODY, PLAIN)).status == "unsupported"
