"""The DEFLATE compressor: what it writes, zlib, gzip and our own decompressor read back."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import plain_data

from rackwright import DeflateUnit, RackwrightError
from rackwright.compression import libz
from rackwright.compression.deflate import FORMAT, most_compressed_bytes
from rackwright.demo.archive import default_archive

SMALL = {"block-kib": 8, "hash-log2": 10, "hash-ways": 1, "hash-banks": 8, "history-kib": 8}
"""A small unit: quick to build and to step, with several blocks in a short input."""

LIMIT = 6_912
"""Bytes after which a block of that unit is closed, or a little more."""

TEXT = default_archive(60_000)
NOISE = random.Random(1).randbytes(40_000)
SKEWED = bytes(random.Random(7).choices(range(256), [2 ** (-i / 9) for i in range(256)], k=20_000))
"""Bytes with nothing to match, whose code has lengths of all kinds."""

STORED, FIXED, DYNAMIC = range(3)
HEAD_BYTES: dict[libz.Format, int] = {"deflate": 0, "zlib": 2, "gzip": 10}
TAIL_BYTES: dict[libz.Format, int] = {"deflate": 0, "zlib": 4, "gzip": 8}


@pytest.fixture(scope="module")
def compressor() -> Iterator[DeflateUnit]:
    """A small compressor; it must not have touched what is not its."""
    unit = DeflateUnit("compress", parameters=SMALL, check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


@pytest.fixture(scope="module")
def decompressor() -> DeflateUnit:
    """Our own decompressor as it is built by default."""
    return DeflateUnit("decompress")


def compressed(
    unit: DeflateUnit, plain: bytes, wrapper: libz.Format = "zlib", misalignment: tuple[int, int] = (0, 0)
) -> bytes:
    """What the unit makes of `plain`; the official library gives `plain` back and nothing is behind it."""
    unit.choose(wrapper)
    result = unit.run(plain, misalignment=misalignment)
    assert (result.status, result.input_offset) == ("ok", len(plain))
    assert libz.decompress(result.output, wrapper) == (plain, len(result.output))
    assert result.verified
    return result.output


def first_kind(packed: bytes, wrapper: libz.Format = "zlib") -> int:
    """The kind of the first block."""
    return packed[HEAD_BYTES[wrapper]] >> 1 & 3


@pytest.mark.parametrize(
    "length", [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 258, 259]
)
def test_short_inputs(compressor: DeflateUnit, length: int) -> None:
    for plain in (bytes(range(256))[:length], b"a" * length, TEXT[:length]):
        for wrapper in libz.FORMATS:
            compressed(compressor, plain, wrapper)


def test_each_kind_of_block_where_it_is_the_shortest(compressor: DeflateUnit) -> None:
    assert first_kind(compressed(compressor, b"")) == FIXED
    assert first_kind(compressed(compressor, b"hello hello hello")) == FIXED
    assert first_kind(compressed(compressor, NOISE[:1000])) == STORED
    assert first_kind(compressed(compressor, TEXT[:5000])) == DYNAMIC
    assert first_kind(compressed(compressor, SKEWED[:5000])) == DYNAMIC


@pytest.mark.parametrize("wrapper", libz.FORMATS)
@pytest.mark.parametrize("length", [32, 1023, LIMIT - 1, LIMIT, LIMIT + 1, 8192, 40_000])
def test_noise_grows_by_heads_only(compressor: DeflateUnit, wrapper: libz.Format, length: int) -> None:
    packed = compressed(compressor, NOISE[:length], wrapper)
    assert len(packed) <= length + HEAD_BYTES[wrapper] + TAIL_BYTES[wrapper] + 6 * (length // 6000 + 1)


@pytest.mark.parametrize("period", [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 1000, 8000])
def test_periods(compressor: DeflateUnit, period: int) -> None:
    """Copies from every kind of distance, overlapping ones, and those that go on over several blocks."""
    pattern = NOISE[:period]
    compressed(compressor, (pattern * (30_000 // period + 1))[:30_000])


@pytest.mark.parametrize("length", [257, 258, 259, 260, 261, 262, 515, 516, 517, 518, 519, 1000])
def test_lengths_around_the_longest(compressor: DeflateUnit, length: int) -> None:
    compressed(compressor, NOISE[:1500] + b"-" + NOISE[:length] + b"+")
    compressed(compressor, b"=" + b"a" * length)


@pytest.mark.parametrize("misalignment", [(0, 0), (3, 5), (31, 17)])
def test_text(compressor: DeflateUnit, decompressor: DeflateUnit, misalignment: tuple[int, int]) -> None:
    for wrapper in libz.FORMATS:
        packed = compressed(compressor, TEXT, wrapper, misalignment)
        assert len(packed) < len(TEXT) // 2
        decompressor.choose(wrapper)
        back = decompressor.run(packed)
        assert (back.status, back.output) == ("ok", TEXT)


def test_members_of_gzip(compressor: DeflateUnit) -> None:
    members = compressed(compressor, TEXT[:9000], "gzip") + compressed(compressor, NOISE[:900], "gzip")
    assert gzip.decompress(members) == TEXT[:9000] + NOISE[:900]


@pytest.mark.parametrize("last", [1, 2, 127, 200, 255])
def test_codes_with_few_or_many_symbols(
    compressor: DeflateUnit, decompressor: DeflateUnit, last: int
) -> None:
    """Flat and steep codes; runs of lengths of every kind in their description."""
    rng = random.Random(last)
    decompressor.choose("zlib")
    for used in (range(last + 1), [*range(min(last, 20)), last], [last - 1, last], range(0, last + 1, 7)):
        for slope in (1.0, 1.05, 1.5):
            plain = bytes(rng.choices(used, [slope**-i for i in range(len(used))], k=4000)) + bytes([last])
            assert decompressor.run(compressed(compressor, plain)).output == plain


@pytest.mark.parametrize("words", [1, 2, 5, 30, 200])
def test_as_many_tokens_as_a_block_holds(compressor: DeflateUnit, words: int) -> None:
    """Short copies all over: one distance or many, blocks that are closed early."""
    rng = random.Random(words)
    known = [rng.randbytes(rng.randint(4, 7)) for _ in range(words)]
    compressed(
        compressor, b"".join(rng.choice(known) + rng.randbytes(rng.randint(0, 2)) for _ in range(5000))
    )


def test_a_result_depends_on_nothing_before_it(compressor: DeflateUnit) -> None:
    first = compressed(compressor, TEXT[:9000])
    compressed(compressor, SKEWED[:5000], "gzip")
    compressed(compressor, b"")
    assert compressed(compressor, TEXT[:9000]) == first


@pytest.mark.parametrize("wrapper", libz.FORMATS)
@pytest.mark.parametrize("plain", [b"", TEXT[:9000], NOISE[:9000]], ids=["nothing", "text", "noise"])
def test_output_without_room(compressor: DeflateUnit, plain: bytes, wrapper: libz.Format) -> None:
    """However short the room is: what fits, a status, and never a byte behind it."""
    whole = compressed(compressor, plain, wrapper)
    rooms = {0, 1, 2, 9, 10, 11, 60, 1000, len(whole) // 2, *range(len(whole) - 9, len(whole))}
    for room in sorted(room for room in rooms if 0 <= room < len(whole)):
        result = compressor.run(plain, capacity=room, misalignment=(room % 64, room % 7))
        assert (result.status, result.output) == ("output_full", whole[:room])
    assert compressed(compressor, plain, wrapper) == whole


@given(plain=plain_data, wrapper=st.sampled_from(libz.FORMATS))
def test_anything_is_read_back(
    compressor: DeflateUnit, decompressor: DeflateUnit, plain: bytes, wrapper: libz.Format
) -> None:
    packed = compressed(compressor, plain, wrapper)
    assert len(packed) <= most_compressed_bytes(len(plain))
    decompressor.choose(wrapper)
    assert decompressor.run(packed, capacity=len(plain)).output == plain


@given(plain=plain_data, share=st.floats(0, 1))
def test_any_room_is_kept(compressor: DeflateUnit, plain: bytes, share: float) -> None:
    whole = compressed(compressor, plain)
    room = int(share * (len(whole) - 1))
    result = compressor.run(plain, capacity=room)
    assert (result.status, result.output) == ("output_full", whole[:room])


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"hash_entries": 2**8}, None),
        ({"hash_entries": 2**11}, None),
        ({}, (FORMAT, 3)),
        ({}, (4, 0)),
        ({}, (4, 8193)),
    ],
)
def test_settings_beyond_what_was_built(arguments: dict[str, int], command: tuple[int, int] | None) -> None:
    unit = DeflateUnit("compress", parameters=SMALL, **arguments)  # type: ignore[arg-type]
    if command is not None:
        unit.unit.command(*command)
    assert unit.run(b"hello hello").status == "unsupported"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parameters": {"block-kib": 3}}, "block-kib"),
        ({"parameters": {"block-kib": 64}}, "block-kib"),
        ({"parameters": {"history-kib": 64}}, "history-kib"),
        ({"history_kib": -1}, "a number of KiB"),
        ({"hash_entries": 1000}, "power of two"),
        ({"wrapper": "zip"}, "no format zip"),
    ],
)
def test_what_cannot_be_built_or_said(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(RackwrightError, match=message):
        DeflateUnit("compress", **arguments)  # type: ignore[arg-type]


def test_settings_of_the_other_operation() -> None:
    with pytest.raises(RackwrightError, match="setting of compression"):
        DeflateUnit("decompress", hash_entries=512)


def test_a_sum_that_needs_its_last_bit(compressor: DeflateUnit) -> None:
    # The second sum of Adler-32 passes 2^17 before it is folded back, in stripes of 8 bytes.
    compressed(compressor, random.Random(153).randbytes(16384))


@pytest.mark.long
def test_defaults_and_a_mebibyte() -> None:
    """As built by default: the ratio against zlib's level 6, noise, and copies beyond the history."""
    unit = DeflateUnit("compress")
    plain = default_archive(1 << 20)
    assert len(compressed(unit, plain)) <= len(zlib.compress(plain, 6)) / 0.85
    compressed(unit, NOISE)
    compressed(unit, plain[:2000] + NOISE[:20_000] + plain[500:1500] + NOISE[20_000:] + plain[:500])
    assert unit.unit.violations == 0


@pytest.mark.long
def test_many_inputs(compressor: DeflateUnit) -> None:
    """Texts of few words and random bytes of few values, of all lengths, in every wrapper."""
    rng = random.Random(13)
    for _ in range(2000):
        words = [rng.randbytes(rng.randint(1, 9)) for _ in range(rng.choice([1, 2, 5, 30, 200]))]
        count, most = rng.randint(0, 3000), rng.choice([0, 1, 2])
        pieces = (
            rng.choice(words) * rng.choice([1, 1, 30]) + rng.randbytes(rng.randint(0, most))
            for _ in range(count)
        )
        wrapper = rng.choice(libz.FORMATS)
        compressed(compressor, b"".join(pieces), wrapper, (rng.randrange(64), rng.randrange(64)))
        values = range(rng.choice([2, 30, 256]))
        compressed(compressor, bytes(rng.choices(values, k=rng.randint(0, 9000))), wrapper)
