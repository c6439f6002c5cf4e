"""The ZStd decompressor against the official library: frames, blocks, checksums, what is wrong with them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import zstandard

from rackwright import ZstdUnit
from rackwright.compression import libzstd
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
    "block as long as the window": fmt.frame([fmt.repeated(b"x", 1024)], fields=b"\x00"),
    "largest block": fmt.frame([fmt.repeated(b"x", 131_072)]),
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


def sized(blocks: list[bytes], size: int) -> bytes:
    """A frame that says how many bytes its blocks stand for, and has a window of 1 MiB."""
    return fmt.frame(blocks, 0xC0, b"\x50" + size.to_bytes(8, "little"))


TEXT_BLOCK = libzstd.compress(b"abcd, abcd; " * 500)[7:]
LONGER_THAN_THEY_SAY = {
    "raw": sized([fmt.raw(NOISE[:6])], 5),
    "repeated": sized([fmt.repeated(b"x", 100_000, False), fmt.repeated(b"y", 100_000)], 77),
    "compressed": sized([TEXT_BLOCK], 5999),
    "second frame": sized([fmt.raw(b"abc")], 3)
    + fmt.skippable(b"x")
    + sized([fmt.repeated(b"x", 9000)], 8999),
    "nothing": sized([fmt.raw(b"", False), fmt.raw(NOISE[:1])], 0),
    "single segment": fmt.frame([fmt.raw(NOISE[:6])], 0x20, b"\x05"),
    "then cut off": sized([fmt.raw(NOISE[:700], False)], 600) + b"\x00",
}


@pytest.mark.parametrize("name", LONGER_THAN_THEY_SAY)
def test_blocks_that_stand_for_more_than_the_header_says_are_malformed(unit: ZstdUnit, name: str) -> None:
    """The header says how much room there is; a unit that met its end first would not find out."""
    packed = LONGER_THAN_THEY_SAY[name]
    assert isinstance(libzstd.decompress(packed, ROOM), str)
    result = unit.run(packed)
    assert (result.status, result.verified, result.note) == ("malformed", True, "")


@pytest.mark.parametrize(
    ("blocks", "plain"),
    [
        ([fmt.raw(b"a")], b"a"),
        ([fmt.raw(b"")], b""),
        ([fmt.repeated(b"x", 9000)], b"x" * 9000),
        ([fmt.raw(b"ab", False), TEXT_BLOCK], b"ab" + b"abcd, abcd; " * 500),
    ],
    ids=["raw", "nothing", "repeated", "compressed"],
)
def test_the_content_size_that_the_library_takes_for_unknown_is_malformed(
    unit: ZstdUnit, blocks: list[bytes], plain: bytes
) -> None:
    """The contract page lists it."""
    packed = sized(blocks, (1 << 64) - 1)
    assert libzstd.decompress(packed, ROOM) == plain
    result = unit.run(packed)
    assert (result.status, result.verified) == ("malformed", True)
    assert result.note.startswith("the frame at offset 0 has a content size of 2^64 - 1")


@pytest.mark.parametrize(
    "packed",
    [
        fmt.frame([fmt.repeated(b"A", 131_073)]),
        fmt.frame([fmt.raw(NOISE[:1025])], fields=b"\x00"),
        fmt.frame([fmt.raw(b"abc")]) + fmt.frame([fmt.repeated(b"A", 3000)], fields=b"\x00"),
    ],
    ids=["repeated", "window", "second frame"],
)
def test_long_blocks_are_malformed_as_for_the_library_that_is_given_parts(
    unit: ZstdUnit, packed: bytes
) -> None:
    result = unit.run(packed)
    assert (result.status, result.verified) == ("malformed", True)
    assert "block that is longer than its window or 128 KiB" in result.note
    with pytest.raises(zstandard.ZstdError, match="corruption"):
        zstandard.ZstdDecompressor().decompressobj(read_across_frames=True).decompress(packed)


@pytest.mark.parametrize("length", range(1, 60))
def test_every_truncation_is_the_librarys_verdict(unit: ZstdUnit, length: int) -> None:
    whole = fmt.skippable(b"ab") + libzstd.compress(NOISE[:20], 1, write_checksum=1) * 2
    agrees(unit, whole[:length])


@pytest.mark.parametrize("room", [0, 1, 31, 32, 99])
def test_output_without_room(unit: ZstdUnit, room: int) -> None:
    result = unit.run(libzstd.compress(NOISE[:100], 1), capacity=room)
    assert result.status == "output_full"
    assert result.output_bytes <= room


@pytest.mark.parametrize("before", [b"", fmt.skippable(b"abc"), fmt.frame([fmt.raw(b"abc")])])
def test_a_dictionary_that_is_not_there_is_named(unit: ZstdUnit, before: bytes) -> None:
    result = unit.run(before + fmt.frame([fmt.raw(b"abc")], 0x01, b"\x50\x07"))
    assert (result.status, result.verified) == ("unsupported", True)
    named = f"the frame at offset {len(before)} names dictionary 7, none was given (--dictionary FILE)"
    assert result.note == named


def test_history_out_of_range_is_not_supported() -> None:
    result = ZstdUnit("decompress", history_kib=1).run(fmt.frame([fmt.raw(b"abc")]))
    assert (result.status, result.output_bytes) == ("unsupported", 0)
