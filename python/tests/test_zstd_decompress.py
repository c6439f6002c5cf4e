"""The ZStd decompressor against the official library: frames, blocks, checksums, what is wrong with them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from rackwright import ZstdUnit, libzstd
from rackwright.verification import zstd_format as fmt

NOISE = random.Random(1).randbytes(300_000)
ROOM = 1 << 18


@pytest.fixture(scope="module")
def unit() -> Iterator[ZstdUnit]:
    """The decompressor as it is built by default; it must not have touched what is not its."""
    unit = ZstdUnit("decompress", check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def agrees(unit: ZstdUnit, packed: bytes, room: int = ROOM, misalignment: tuple[int, int] = (0, 0)) -> None:
    """The verdict and, for a valid input, every byte are the library's."""
    result = unit.run(packed, capacity=room, misalignment=misalignment)
    expected = libzstd.decompress(packed, room)
    if isinstance(expected, bytes):
        assert (result.status, result.output) == ("ok", expected), packed[:64].hex()
        assert result.input_offset == len(packed)
    else:
        assert result.status == "malformed", expected
        assert result.input_offset <= len(packed)


@pytest.mark.parametrize("misalignment", [(0, 0), (3, 5), (31, 17)])
@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("length", [0, 1, 3, 4, 7, 8, 31, 32, 33, 63, 64, 1000, 150_001])
def test_incompressible_data(
    unit: ZstdUnit, length: int, checksum: bool, misalignment: tuple[int, int]
) -> None:
    packed = libzstd.compress(NOISE[:length], 1, write_checksum=checksum)
    agrees(unit, packed, length, misalignment)


FRAMES = {
    "repeated": fmt.frame([fmt.repeated(b"x", 5000)]),
    "mixed": fmt.frame([fmt.repeated(b"x", 77, False), fmt.raw(NOISE[:100], False), fmt.repeated(b"z", 3)]),
    "empty blocks": fmt.frame([fmt.raw(b"", False), fmt.repeated(b"q", 0, False), fmt.raw(b"")]),
    "skippable": fmt.skippable(b"abcdefg"),
    "skippable around": b"".join(
        [fmt.skippable(NOISE[:999], 15), fmt.frame([fmt.raw(b"abc")]), fmt.skippable(b"", 7)]
    ),
    "several frames": fmt.frame([fmt.repeated(b"x", 50)]) * 3,
    "several frames with checksums": libzstd.compress(NOISE[:77], 1, write_checksum=1) * 2,
    "block longer than the window": fmt.frame([fmt.repeated(b"x", 200_000)], fields=b"\x00"),
    "content size": fmt.frame([fmt.repeated(b"x", 0x33)], 0x20, b"\x33"),
    "content size of two bytes": fmt.frame([fmt.repeated(b"x", 0x133)], 0x60, b"\x33\x00"),
    "content size of four bytes": fmt.frame([fmt.repeated(b"x", 0x33)], 0xA0, b"\x33\x00\x00\x00"),
    "content size of eight bytes": fmt.frame([fmt.repeated(b"x", 0x33)], 0xE0, b"\x33" + bytes(7)),
    "dictionary 0": fmt.frame([fmt.raw(b"abc")], 0x03, b"\x50" + bytes(4)),
    "largest window": fmt.frame([fmt.raw(b"abc")], fields=b"\xaf"),
    "nothing": b"",
}
WRONG = {
    "a block behind the last": fmt.frame([fmt.raw(b"abc"), fmt.raw(b"def")]),
    "window too large": fmt.frame([fmt.raw(b"abc")], fields=b"\xb0"),
    "reserved bit": fmt.frame([fmt.raw(b"abc")], 0x08),
    "reserved block": fmt.frame([fmt.block(fmt.RESERVED, 1, b"x")]),
    "block cut off": fmt.frame([fmt.raw(NOISE[:50])])[:-1],
    "repeated block cut off": fmt.frame([fmt.repeated(b"x", 50)])[:-1],
    "no last block": fmt.frame([fmt.raw(b"abc", False)]),
    "content size too large": fmt.frame([fmt.repeated(b"x", 50)], 0x20, b"\x33"),
    "content size too small": fmt.frame([fmt.repeated(b"x", 52)], 0x20, b"\x33"),
    "bytes behind": fmt.frame([fmt.raw(b"abc")]) + b"abc",
    "another format": b"\x1f\x8b\x08" + NOISE[:50],
    "skippable cut off": fmt.skippable(b"abcdefg")[:-1],
    "skippable of 4 GiB": b"\x50\x2a\x4d\x18\xff\xff\xff\xff" + NOISE[:99],
    "compressed block larger than the window": fmt.frame(
        [fmt.block(fmt.COMPRESSED, 1025, NOISE[:1025])], fields=b"\x00"
    ),
    "checksum": libzstd.compress(NOISE[:100], 1, write_checksum=1)[:-1] + b"\x00",
    "checksum cut off": libzstd.compress(NOISE[:100], 1, write_checksum=1)[:-1],
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames(unit: ZstdUnit, name: str) -> None:
    assert isinstance(libzstd.decompress(FRAMES[name], ROOM), bytes)
    agrees(unit, FRAMES[name])


@pytest.mark.parametrize("name", WRONG)
def test_wrong_frames(unit: ZstdUnit, name: str) -> None:
    assert isinstance(libzstd.decompress(WRONG[name], ROOM), str)
    agrees(unit, WRONG[name])


@pytest.mark.parametrize("length", range(1, 60))
def test_every_truncation_is_the_librarys_verdict(unit: ZstdUnit, length: int) -> None:
    whole = fmt.skippable(b"ab") + libzstd.compress(NOISE[:20], 1, write_checksum=1) * 2
    agrees(unit, whole[:length])


@pytest.mark.parametrize("room", [0, 1, 31, 32, 99])
def test_output_without_room(unit: ZstdUnit, room: int) -> None:
    result = unit.run(libzstd.compress(NOISE[:100], 1), capacity=room)
    assert result.status == "output_full"
    assert result.output_bytes <= room


def test_dictionary_is_not_supported(unit: ZstdUnit) -> None:
    result = unit.run(fmt.frame([fmt.raw(b"abc")], 0x01, b"\x50\x07"), capacity=100)
    assert result.status == "unsupported"


def test_history_out_of_range_is_not_supported() -> None:
    result = ZstdUnit("decompress", history_kib=1).run(fmt.frame([fmt.raw(b"abc")]))
    assert (result.status, result.output_bytes) == ("unsupported", 0)
