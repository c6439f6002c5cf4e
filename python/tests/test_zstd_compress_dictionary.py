"""The ZStd compressor with dictionaries: the official library reads its frames back with the same ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import zstandard
from hypothesis import given
from strategies import plain_data

from rackwright import RackwrightError, ZstdUnit
from rackwright.compression import libzstd
from rackwright.compression.zstd import (
    DICTIONARY_ADDRESS,
    DICTIONARY_ID,
    DICTIONARY_LENGTH,
    DICTIONARY_OFFSETS,
)
from rackwright.demo.archive import default_archive

SMALL = {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8}
"""The small unit of the tests without dictionaries."""

HISTORY = 8 << 10
TEXT = default_archive(60_000)
NOISE = random.Random(1).randbytes(30_000)
PIECES = [TEXT[i : i + 100 + i % 300] for i in range(0, 50_000, 97)]
TRAINED = zstandard.train_dictionary(6000, [*PIECES], dict_id=0xABCDE).as_bytes()


@pytest.fixture(scope="module")
def unit() -> Iterator[ZstdUnit]:
    """A small compressor whose frames have checksums; it must not have touched what is not its."""
    unit = ZstdUnit("compress", parameters=SMALL, checksum=True, check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def compressed(unit: ZstdUnit, plain: bytes, dictionary: bytes) -> bytes:
    """What the unit makes of `plain` with a dictionary; the official library gives `plain` back."""
    unit.dictionary = dictionary
    result = unit.run(plain, misalignment=(len(plain) % 32, len(dictionary) % 32))
    assert (result.status, result.input_offset) == ("ok", len(plain))
    assert libzstd.decompress(result.output, len(plain), dictionary) == plain
    assert result.verified
    return result.output


@pytest.mark.parametrize(
    "length", [1, 7, 8, 9, 15, 16, 100, 8000, HISTORY - 128, HISTORY, HISTORY + 9, 30_000]
)
def test_matches_reach_into_content(unit: ZstdUnit, length: int) -> None:
    content = NOISE[:length]
    for plain in (content[-3000:], content[-40:] * 3, b"?" + content[-200:] + TEXT[:500]):
        packed = compressed(unit, plain, content)
        if length >= 100 and plain in content:
            assert len(packed) < 14 + 60 + len(plain) // 8


@pytest.mark.parametrize("length", [0, 1, 3, 4, 20, 300, 5000, 40_000])
def test_trained_dictionaries(unit: ZstdUnit, length: int) -> None:
    plain = TEXT[1000 : 1000 + length]
    packed = compressed(unit, plain, TRAINED)
    assert zstandard.get_frame_parameters(packed).dict_id == 0xABCDE
    if length == 300:
        assert len(packed) < len(compressed(unit, plain, b""))


def test_no_frame_of_one_dictionary_depends_on_another(unit: ZstdUnit) -> None:
    alone = [compressed(unit, TEXT[:900], dictionary) for dictionary in (TRAINED, b"", NOISE[:5000])]
    again = [compressed(unit, TEXT[:900], dictionary) for dictionary in (NOISE[:5000], b"", TRAINED)]
    assert alone == again[::-1]


def test_offsets_of_the_dictionary_are_the_first_to_repeat(unit: ZstdUnit) -> None:
    head = libzstd.dictionary_head(TRAINED)
    offsets = b"".join(n.to_bytes(4, "little") for n in (77, 1, 5000))
    changed = TRAINED[: head - 12] + offsets + TRAINED[head:]
    for back in (77, 5000, 76, 1):
        compressed(unit, changed[len(changed) - back :][:60] * (1 if back > 60 else 40), changed)


def test_our_own_decompressor_reads_them(unit: ZstdUnit) -> None:
    decompressor = ZstdUnit("decompress")
    for dictionary in (TRAINED, NOISE[:9000]):
        plain = TEXT[:2000] + dictionary[-1500:]
        decompressor.dictionary = dictionary
        assert decompressor.run(compressed(unit, plain, dictionary)).output == plain


@pytest.mark.parametrize(
    ("funct", "value", "status"),
    [
        (DICTIONARY_ID, 1 << 32, "unsupported"),
        (DICTIONARY_OFFSETS, 1 << 48, "unsupported"),
        (DICTIONARY_LENGTH, 1 << 32, "unsupported"),
        (DICTIONARY_LENGTH, (1 << 32) - 2, "access_fault"),
        (DICTIONARY_LENGTH, 5000, "access_fault"),
        (DICTIONARY_LENGTH, 7, "ok"),
        (DICTIONARY_ADDRESS, (1 << 64) - 1, "ok"),
    ],
)
def test_dictionaries_that_cannot_be(funct: int, value: int, status: str) -> None:
    unit = ZstdUnit("compress", parameters=SMALL)
    unit.unit.command(DICTIONARY_ADDRESS, 0x1000)
    unit.unit.command(funct, value)
    assert unit.run(NOISE[:4096]).status == status


def test_a_dictionary_that_wraps_is_a_fault_before_anything_is_read() -> None:
    unit = ZstdUnit("compress", parameters=SMALL)
    unit.unit.command(DICTIONARY_ADDRESS, (1 << 64) - 100)
    unit.unit.command(DICTIONARY_LENGTH, 100 + 16)
    result = unit.run(NOISE[:100])
    assert (result.status, result.output_bytes, unit.unit.violations) == ("access_fault", 0, 0)


def test_damaged_tables_are_refused_before_the_unit_sees_them() -> None:
    unit = ZstdUnit("compress", parameters=SMALL, dictionary=TRAINED[:20])
    with pytest.raises(RackwrightError, match="dictionary"):
        unit.run(b"abc")


@given(before=plain_data, plain=plain_data)
def test_any_content_before_any_input(unit: ZstdUnit, before: bytes, plain: bytes) -> None:
    compressed(unit, plain, before)
