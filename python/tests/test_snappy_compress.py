"""The compressor: what it writes, the official library reads back."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from strategies import plain_data

from rackwright import RackwrightError, SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive


def is_read_back(unit: SnappyUnit, plain: bytes) -> int:
    """Compresses and checks; gives the compressed size."""
    result = unit.run(plain)
    assert result.status == "ok"
    assert result.verified
    assert result.input_offset == len(plain)
    return result.output_bytes


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 59, 60, 61, 62, 255, 256])
def test_short_inputs(compressor: SnappyUnit, length: int) -> None:
    is_read_back(compressor, bytes(range(256))[:length])
    is_read_back(compressor, b"a" * length)


@pytest.mark.parametrize("length", [257, 65535, 65536, 65537, 65540, 131071, 131072, 200_000])
def test_noise(compressor: SnappyUnit, length: int) -> None:
    """Nothing to find: literals of every length class, and the library's bound on growth."""
    packed_bytes = is_read_back(compressor, random.Random(length).randbytes(length))
    assert packed_bytes <= libsnappy.max_compressed_bytes(length)


@pytest.mark.parametrize("length", [65535, 65536, 65537, 131072, 300_000])
def test_block_edges(compressor: SnappyUnit, length: int) -> None:
    is_read_back(compressor, default_archive(length))


@pytest.mark.parametrize("period", [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 1000, 32768, 65535, 65536, 70_000])
def test_periods(compressor: SnappyUnit, period: int) -> None:
    """Matches at every kind of offset, overlapping ones included."""
    pattern = random.Random(period).randbytes(period)
    is_read_back(compressor, (pattern * (200_000 // period + 1))[:150_000])


def test_sixteen_mebibytes(compressor: SnappyUnit) -> None:
    is_read_back(compressor, default_archive(1 << 20) * 16)


def test_ratio_is_not_worse_than_the_library_s(compressor: SnappyUnit) -> None:
    plain = default_archive(1 << 20)
    assert is_read_back(compressor, plain) <= len(libsnappy.compress(plain))


@pytest.mark.parametrize("entries", [2**9, 2**11, 2**14])
def test_hash_entries_set_at_run_time(entries: int) -> None:
    unit = SnappyUnit("compress", hash_entries=entries)
    is_read_back(unit, default_archive(100_000))
    assert unit.unit.violations == 0


def test_fewer_hash_entries_find_no_more() -> None:
    plain = default_archive(200_000)
    sizes = [is_read_back(SnappyUnit("compress", hash_entries=2**n), plain) for n in (9, 14)]
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("entries", [2**8, 2**15])
def test_hash_entries_beyond_what_was_built(entries: int) -> None:
    assert SnappyUnit("compress", hash_entries=entries).run(b"hello hello").status == "unsupported"


def test_hash_entries_that_are_no_power_of_two() -> None:
    with pytest.raises(RackwrightError, match="power of two"):
        SnappyUnit("compress", hash_entries=1000)


@given(plain=plain_data)
def test_anything_is_read_back(compressor: SnappyUnit, plain: bytes) -> None:
    is_read_back(compressor, plain)
