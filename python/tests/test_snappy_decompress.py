"""The decompressor against the official library: every kind of element, then anything at all."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from strategies import any_stream, plain_data, valid_streams

from rackwright import SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive
from rackwright.verification import snappy_format as fmt

NOISE = random.Random(1).randbytes(200_000)


def agrees(unit: SnappyUnit, packed: bytes) -> None:
    """The verdict and, for a valid input, every byte are the library's."""
    result = unit.run(packed)
    assert result.status == ("ok" if libsnappy.is_valid(packed) else "malformed")
    assert result.verified
    if result.status == "ok":
        assert result.input_offset == len(packed)


@pytest.mark.parametrize("length", [1, 2, 59, 60, 61, 255, 256, 257, 65535, 65536, 65537, 100_000])
def test_literal_of_each_length_class(decompressor: SnappyUnit, length: int) -> None:
    agrees(decompressor, fmt.stream(length, [fmt.literal(NOISE[:length])]))


@pytest.mark.parametrize("length_bytes", [1, 2, 3, 4])
def test_length_in_more_bytes_than_it_needs(decompressor: SnappyUnit, length_bytes: int) -> None:
    agrees(decompressor, fmt.stream(33, [fmt.literal(NOISE[:33], length_bytes)]))


@pytest.mark.parametrize("length", range(4, 12))
@pytest.mark.parametrize("offset", [1, 2, 3, 7, 8, 31, 32, 33, 255, 256, 2047])
def test_copy_with_one_byte_offset(decompressor: SnappyUnit, offset: int, length: int) -> None:
    elements = [fmt.literal(NOISE[:2047]), fmt.copy_1(offset, length), fmt.literal(b"end")]
    agrees(decompressor, fmt.stream(2047 + length + 3, elements))


@pytest.mark.parametrize("length", [1, 4, 31, 32, 33, 63, 64])
@pytest.mark.parametrize("offset", [1, 2, 5, 16, 31, 32, 33, 63, 64, 65, 2048, 65535])
def test_copy_with_two_byte_offset(decompressor: SnappyUnit, offset: int, length: int) -> None:
    elements = [fmt.literal(NOISE[:65535]), fmt.copy_2(offset, length), fmt.copy_2(1, 3)]
    agrees(decompressor, fmt.stream(65535 + length + 3, elements))


@pytest.mark.parametrize("offset", [1, 64, 65535, 65536, 65537, 70_000, 150_000])
def test_copy_with_four_byte_offset_also_beyond_the_history(decompressor: SnappyUnit, offset: int) -> None:
    elements = [fmt.literal(NOISE[:150_000]), fmt.copy_4(offset, 64), fmt.copy_4(offset, 7)]
    agrees(decompressor, fmt.stream(150_000 + 71, elements))


def test_copies_that_chase_each_other(decompressor: SnappyUnit) -> None:
    elements = [fmt.literal(b"ab"), *(fmt.copy_2(1 + i % 2, 64) for i in range(500))]
    agrees(decompressor, fmt.stream(2 + 64 * 500, elements))


@pytest.mark.parametrize("kib", [2, 4, 8, 16, 32, 64])
def test_history_set_at_run_time(kib: int) -> None:
    unit = SnappyUnit("decompress", history_kib=kib)
    plain = default_archive(150_000)
    agrees(unit, libsnappy.compress(plain))
    offset = kib * 1024
    around = [fmt.copy_4(offset + step, 64) for step in (-65, -64, -1, 0, 1, 63, 64)]
    agrees(unit, fmt.stream(100_000 + 64 * 7, [fmt.literal(NOISE[:100_000]), *around]))
    assert unit.unit.violations == 0


@pytest.mark.parametrize("length", [0, 1, 65535, 65536, 65537, 131072])
def test_block_edges_as_the_library_writes_them(decompressor: SnappyUnit, length: int) -> None:
    agrees(decompressor, libsnappy.compress(default_archive(length)))


def test_sixteen_mebibytes(decompressor: SnappyUnit) -> None:
    plain = default_archive(1 << 20) * 16
    agrees(decompressor, libsnappy.compress(plain))


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\x80",
        b"\x05",
        b"\xff\xff\xff\xff\x1f",
        b"\x80\x80\x80\x80\x80\x01",
        fmt.stream(4, [fmt.copy_2(1, 4)]),
        fmt.stream(8, [fmt.literal(b"abcd"), fmt.copy_2(5, 4)]),
        fmt.stream(8, [fmt.literal(b"abcd"), fmt.copy_2(0, 4)]),
        fmt.stream(8, [fmt.literal(b"abcd"), fmt.copy_4(0xFFFFFFFF, 4)]),
        fmt.stream(3, [fmt.literal(b"abcd")]),
        fmt.stream(6, [fmt.literal(b"abcd"), fmt.copy_2(1, 4)]),
        fmt.stream(5, [fmt.literal(b"abcd")]),
        fmt.stream(4, [fmt.literal(b"abcd"), b"\x00"]),
        fmt.stream(4, [fmt.literal(b"abcd")[:-1]]),
        fmt.stream(70, [b"\xf0"]),
        fmt.stream(70, [b"\xfc\xff\xff\xff\xff"]),
        fmt.stream(0, [fmt.literal(b"a")]),
    ],
    ids=lambda packed: packed[:8].hex() or "empty",
)
def test_malformed(decompressor: SnappyUnit, packed: bytes) -> None:
    result = decompressor.run(packed)
    assert result.status == "malformed"
    assert result.verified
    assert result.input_offset <= len(packed)


def test_offset_of_a_wrong_element_is_that_of_its_tag(decompressor: SnappyUnit) -> None:
    packed = fmt.stream(20, [fmt.literal(b"abcd"), fmt.copy_2(9, 4), fmt.literal(b"efgh")])
    assert decompressor.run(packed).input_offset == 1 + 5


@given(packed=any_stream)
def test_any_input_ends_with_the_library_s_verdict(decompressor: SnappyUnit, packed: bytes) -> None:
    agrees(decompressor, packed)


@given(packed=valid_streams())
def test_short_history(packed: bytes, short_history: SnappyUnit) -> None:
    agrees(short_history, packed)


@given(plain=plain_data)
def test_round_trip_through_both_units(
    compressor: SnappyUnit, decompressor: SnappyUnit, plain: bytes
) -> None:
    packed = compressor.run(plain).output
    assert decompressor.run(packed).output == plain


@pytest.fixture(scope="module")
def short_history() -> SnappyUnit:
    """A decompressor that keeps 2 KiB on chip."""
    return SnappyUnit("decompress", history_kib=2)
