"""The ZStd compressor: what it writes, the official library and our own decompressor read back."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from strategies import plain_data

from rackwright import RackwrightError, ZstdUnit
from rackwright.compression import libzstd
from rackwright.compression.zstd import most_compressed_bytes
from rackwright.demo.archive import default_archive

SMALL = {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8}
"""A small unit: quick to build and to step, with blocks that are large enough for the largest tables."""

LIMIT = 31_744
"""Bytes after which a block of that unit is closed."""

TEXT = default_archive(100_000)
NOISE = random.Random(1).randbytes(70_000)
SKEWED = bytes(random.Random(7).choices(range(256), [2 ** (-i / 9) for i in range(256)], k=30_000))
"""Bytes with nothing to match, whose code has lengths of all kinds."""


@pytest.fixture(scope="module")
def compressor() -> Iterator[ZstdUnit]:
    """A small compressor whose frames have checksums; it must not have touched what is not its."""
    unit = ZstdUnit("compress", parameters=SMALL, checksum=True, check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


@pytest.fixture(scope="module")
def decompressor() -> ZstdUnit:
    """Our own decompressor as it is built by default."""
    return ZstdUnit("decompress")


def compressed(unit: ZstdUnit, plain: bytes, misalignment: tuple[int, int] = (0, 0)) -> bytes:
    """What the unit makes of `plain`; the official library gives `plain` back."""
    result = unit.run(plain, misalignment=misalignment)
    assert (result.status, result.input_offset) == ("ok", len(plain))
    assert libzstd.decompress(result.output, len(plain)) == plain
    assert result.verified
    return result.output


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257])
def test_short_inputs(compressor: ZstdUnit, length: int) -> None:
    compressed(compressor, bytes(range(256))[:length])
    compressed(compressor, b"a" * length)
    compressed(compressor, TEXT[:length])


@pytest.mark.parametrize("length", [1023, 1024, LIMIT - 1, LIMIT, LIMIT + 1, 32_768, 70_000])
def test_noise_does_not_grow(compressor: ZstdUnit, length: int) -> None:
    assert len(compressed(compressor, NOISE[:length])) <= length + 16 + 3 * (length // LIMIT + 1)


@pytest.mark.parametrize("period", [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 1000, 8000])
def test_periods(compressor: ZstdUnit, period: int) -> None:
    """Matches at every kind of offset, overlapping ones and those over several blocks included."""
    pattern = NOISE[:period]
    compressed(compressor, (pattern * (70_000 // period + 1))[:70_000])


@pytest.mark.parametrize("misalignment", [(0, 0), (3, 5), (31, 17)])
def test_text(compressor: ZstdUnit, decompressor: ZstdUnit, misalignment: tuple[int, int]) -> None:
    packed = compressed(compressor, TEXT, misalignment)
    assert len(packed) < len(TEXT) // 2
    back = decompressor.run(packed)
    assert (back.status, back.output) == ("ok", TEXT)


@pytest.mark.parametrize("count", [20, 64, 255, 256, 895, 896, 1023, 16_255, 16_256, 30_000])
def test_literals_alone(compressor: ZstdUnit, decompressor: ZstdUnit, count: int) -> None:
    packed = compressed(compressor, SKEWED[:count])
    assert decompressor.run(packed).output == SKEWED[:count]


@pytest.mark.parametrize("last", [127, 128, 129, 130, 200, 255])
def test_codes_with_few_or_many_symbols(compressor: ZstdUnit, decompressor: ZstdUnit, last: int) -> None:
    """Weights in four bits each up to the symbol 128, by FSE beyond; flat and steep codes."""
    rng = random.Random(last)
    for used in (range(last + 1), [*range(20), last], [last - 1, last]):
        for slope in (1.0, 1.05, 1.5):
            plain = bytes(rng.choices(used, [slope**-i for i in range(len(used))], k=4000)) + bytes([last])
            assert decompressor.run(compressed(compressor, plain)).output == plain


@pytest.mark.parametrize("words", [2, 5, 30, 200])
def test_as_many_sequences_as_a_block_holds(compressor: ZstdUnit, decompressor: ZstdUnit, words: int) -> None:
    """Short matches all over: tables of every accuracy, offsets that repeat, blocks that are closed early."""
    rng = random.Random(words)
    known = [rng.randbytes(rng.randint(4, 7)) for _ in range(words)]
    plain = b"".join(rng.choice(known) + rng.randbytes(rng.randint(0, 2)) for _ in range(12_000))
    packed = compressed(compressor, plain)
    assert decompressor.run(packed).output == plain


def test_a_result_depends_on_nothing_before_it(compressor: ZstdUnit) -> None:
    first = compressed(compressor, TEXT[:9000])
    compressed(compressor, SKEWED[:5000])
    assert compressed(compressor, TEXT[:9000]) == first


@pytest.mark.parametrize("room", [0, 1, 9, 10, 11, 60, 1000])
def test_output_without_room(compressor: ZstdUnit, room: int) -> None:
    whole = compressed(compressor, TEXT[:9000])
    result = compressor.run(TEXT[:9000], capacity=room)
    assert (result.status, result.output) == ("output_full", whole[:room])
    assert compressed(compressor, TEXT[:9000]) == whole


@given(plain=plain_data)
def test_anything_is_read_back(compressor: ZstdUnit, decompressor: ZstdUnit, plain: bytes) -> None:
    packed = compressed(compressor, plain)
    assert len(packed) <= most_compressed_bytes(len(plain))
    assert decompressor.run(packed, capacity=len(plain)).output == plain


def test_without_checksum() -> None:
    unit = ZstdUnit("compress", parameters=SMALL)
    packed = compressed(unit, TEXT[:5000])
    assert packed[4] & 4 == 0
    assert len(packed) + 4 == len(
        compressed(ZstdUnit("compress", parameters=SMALL, checksum=True), TEXT[:5000])
    )


@pytest.mark.parametrize(
    ("setting", "value"), [("hash_entries", 2**8), ("hash_entries", 2**11), ("hash_entries", 2**15)]
)
def test_settings_beyond_what_was_built(setting: str, value: int) -> None:
    unit = ZstdUnit("compress", parameters=SMALL, hash_entries=value)
    assert unit.run(b"hello hello").status == "unsupported", setting


@pytest.mark.parametrize("checksum", [2, 3])
def test_a_checksum_that_is_neither_there_nor_not(checksum: int) -> None:
    unit = ZstdUnit("compress", parameters=SMALL)
    unit.set("checksum", checksum, "checksum", checksum)
    assert unit.run(b"hello hello").status == "unsupported"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parameters": {"block-kib": 3}}, "block-kib"),
        ({"parameters": {"block-kib": 128}}, "block-kib"),
        ({"parameters": {"hash-log2": 8}}, "hash-log2"),
        ({"history_kib": -1}, "a number of KiB"),
        ({"hash_entries": 1000}, "power of two"),
    ],
)
def test_what_cannot_be_built_or_said(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(RackwrightError, match=message):
        ZstdUnit("compress", **arguments)  # type: ignore[arg-type]


def test_settings_of_the_other_operation() -> None:
    with pytest.raises(RackwrightError, match="setting of compression"):
        ZstdUnit("decompress", checksum=True)
    with pytest.raises(RackwrightError, match="setting of compression"):
        ZstdUnit("decompress", hash_entries=512)


@pytest.mark.long
def test_defaults_and_a_mebibyte() -> None:
    unit = ZstdUnit("compress")
    plain = default_archive(1 << 20)
    packed = compressed(unit, plain)
    assert len(packed) <= len(libzstd.compress(plain, 3)) / 0.84
    compressed(unit, NOISE)
    assert unit.unit.violations == 0
    long_run = plain[:2000] + NOISE[:20_000] + plain[500:1500] + NOISE[20_000:50_000] + plain[:500]
    compressed(unit, long_run)
