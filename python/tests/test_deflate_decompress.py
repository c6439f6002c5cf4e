"""The DEFLATE decompressor against zlib: what the library writes, in each wrapper, and damaged inputs."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import plain_data

from rackwright import DeflateUnit
from rackwright.compression import libz
from rackwright.demo.archive import default_archive
from rackwright.verification import deflate_format as fmt
from rackwright.verification.mutation import mutations

TEXT = default_archive(40_000)
NOISE = random.Random(1).randbytes(70_000)
SKEWED = bytes(random.Random(7).choices(range(256), [2 ** (-i / 9) for i in range(256)], k=20_000))
"""Bytes with nothing to match, whose code has lengths of all kinds."""

ROOM = 1 << 12
STRATEGIES = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED)


@pytest.fixture(scope="module")
def unit() -> Iterator[DeflateUnit]:
    """The decompressor as it is built by default; it must not have touched what is not its."""
    unit = DeflateUnit("decompress", check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def gives(unit: DeflateUnit, packed: bytes, plain: bytes, wrapper: libz.Format = "zlib") -> None:
    """The unit makes `plain` of a valid input, and stops at its end."""
    unit.choose(wrapper)
    result = unit.run(packed, capacity=len(plain))
    assert (result.status, result.input_offset) == ("ok", len(packed))
    assert result.output == plain


@pytest.mark.parametrize("wrapper", libz.FORMATS)
@pytest.mark.parametrize("level", range(10))
def test_every_level_and_wrapper(unit: DeflateUnit, level: int, wrapper: libz.Format) -> None:
    for plain in (TEXT[:9000], SKEWED[:1000], b"", b"a"):
        gives(unit, libz.compress(plain, level, wrapper), plain, wrapper)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("window_log", [9, 12, 15])
def test_every_strategy_and_window(unit: DeflateUnit, strategy: int, window_log: int) -> None:
    plain = TEXT[:5000] + SKEWED[:1500] + bytes(1000)
    packed = libz.compress(plain, 9, window_log=window_log, memory_level=1, strategy=strategy)
    gives(unit, packed, plain)


@pytest.mark.parametrize("misalignment", [(0, 0), (3, 5), (31, 17)])
@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 1000, 70_000])
def test_stored_data(unit: DeflateUnit, length: int, misalignment: tuple[int, int]) -> None:
    unit.choose("gzip")
    result = unit.run(libz.compress(NOISE[:length], 0, "gzip"), capacity=length, misalignment=misalignment)
    assert (result.status, result.output) == ("ok", NOISE[:length])


def test_blocks_of_every_kind_one_after_the_other(unit: DeflateUnit) -> None:
    compressor = zlib.compressobj(6)
    packed = b""
    for n, part in enumerate((TEXT[:3000], NOISE[:500], b"ab" * 40, TEXT[2000:5000], b"", b"z")):
        packed += compressor.compress(part)
        packed += compressor.flush((zlib.Z_FULL_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_PARTIAL_FLUSH)[n % 3])
    packed += compressor.flush()
    gives(unit, packed, zlib.decompress(packed))


@pytest.mark.parametrize("plain", [b"a" * 60_000, b"ab" * 30_000, TEXT[:3] * 9000], ids=["a", "ab", "abc"])
def test_runs(unit: DeflateUnit, plain: bytes) -> None:
    gives(unit, libz.compress(plain, 9), plain)


def test_a_sum_that_needs_its_last_bit(unit: DeflateUnit) -> None:
    # The second sum of Adler-32 passes 2^17 before it is folded back, in stripes of 32 bytes.
    plain = random.Random(2023).randbytes(8192)
    gives(unit, zlib.compress(plain, 0), plain)


def test_copies_from_the_farthest_place(unit: DeflateUnit) -> None:
    plain = TEXT[:258] + NOISE[: 32768 - 258] + TEXT[:258]
    body = fmt.Bits()
    fmt.stored(body, plain[:32768], last=False)
    fmt.fixed(body, [(285, 0, 29, 8191), fmt.END])
    gives(unit, body.data(), plain, "deflate")


def test_short_history() -> None:
    unit = DeflateUnit("decompress", history_kib=2)
    gives(unit, libz.compress(TEXT, 9), TEXT)
    assert unit.unit.violations == 0


def test_several_members_and_zeros_between_them(unit: DeflateUnit) -> None:
    parts = [TEXT[:500], b"", TEXT[:1501]]
    packed = b"".join(gzip.compress(part) + bytes(n) for n, part in enumerate(parts))
    gives(unit, packed, b"".join(parts), "gzip")


@pytest.mark.parametrize("wrapper", ["deflate", "zlib"])
def test_input_offset_says_where_the_stream_ends(unit: DeflateUnit, wrapper: libz.Format) -> None:
    unit.choose(wrapper)
    packed = libz.compress(TEXT[:700], 6, wrapper)
    result = unit.run(packed + b"something else", capacity=700)
    assert (result.status, result.output, result.input_offset) == ("ok", TEXT[:700], len(packed))


def test_a_copy_found_wrong_behind_its_block_is_in_that_block(unit: DeflateUnit) -> None:
    gives(unit, libz.compress(TEXT, 6, "zlib"), TEXT, "zlib")
    body = fmt.Bits()
    fmt.fixed(body, [(257, 0, 4, 0), fmt.END])
    unit.choose("deflate")
    result = unit.run(body.data(), capacity=100)
    assert (result.status, result.input_offset) == ("malformed", 0)


@pytest.mark.parametrize("room", [0, 1, 31, 32, 299])
def test_output_without_room(unit: DeflateUnit, room: int) -> None:
    unit.choose("zlib")
    result = unit.run(libz.compress(TEXT[:300], 6), capacity=room)
    assert result.status == "output_full"
    assert result.output == TEXT[: len(result.output)]


LONG = b"warehouse" * 300_000


@pytest.mark.parametrize(
    ("wrapper", "packed"),
    [
        ("zlib", libz.compress(LONG)[:-1] + b"!"),
        ("gzip", libz.compress(LONG, 1, "gzip")[:-3]),
        ("gzip", libz.compress(LONG, 6, "gzip") + libz.compress(TEXT, 6, "gzip")[:-9] + b"!" * 9),
        ("deflate", libz.compress(LONG, 6, "deflate")[:-40]),
    ],
    ids=["checksum", "cut off", "second member", "no end"],
)
def test_what_is_wrong_behind_much_output_is_found(
    unit: DeflateUnit, wrapper: libz.Format, packed: bytes
) -> None:
    """However much there is before it: there is room for all that the library makes until then."""
    unit.choose(wrapper)
    result = unit.run(packed)
    assert (result.status, result.verified) == ("malformed", True)


@given(plain=plain_data, level=st.integers(0, 9), wrapper=st.sampled_from(libz.FORMATS))
def test_anything_the_library_writes(
    unit: DeflateUnit, plain: bytes, level: int, wrapper: libz.Format
) -> None:
    gives(unit, libz.compress(plain, level, wrapper), plain, wrapper)


SAMPLES = tuple(
    (wrapper, libz.compress(plain, level, wrapper, strategy=strategy))
    for wrapper in libz.FORMATS
    for plain in (TEXT[:300], TEXT[:900], SKEWED[:600], b"abcabcd" * 50)
    for level, strategy in ((6, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_FIXED))
)


def agrees(unit: DeflateUnit, packed: bytes, wrapper: libz.Format, room: int = ROOM) -> None:
    """The verdict and, for a valid input, every byte are the library's."""
    unit.choose(wrapper)
    result = unit.run(packed, capacity=room)
    expected = libz.decompress(packed, wrapper)
    if result.status == "unsupported":
        assert wrapper == "zlib"
        assert packed[1] & 0x20
    elif isinstance(expected, str):
        # What is wrong may come behind more than there is room for.
        assert result.status in ("malformed", "output_full"), (packed.hex(), expected)
        assert result.input_offset <= len(packed)
    elif len(expected[0]) > room:
        assert result.status == "output_full", packed.hex()
    else:
        assert (result.status, result.input_offset) == ("ok", expected[1]), packed.hex()
        assert result.output == expected[0], packed.hex()


def run_mutations(
    unit: DeflateUnit, samples: Sequence[tuple[libz.Format, bytes]], seed: int, count: int
) -> None:
    """Every damaged input ends as the library says."""
    for wrapper in libz.FORMATS:
        mine = [packed for name, packed in samples if name == wrapper]
        for packed in mutations(seed, mine, count // len(libz.FORMATS)):
            agrees(unit, packed, wrapper)


def test_some_mutated_inputs(unit: DeflateUnit) -> None:
    run_mutations(unit, SAMPLES, seed=1, count=450)


@pytest.mark.long
@pytest.mark.timeout(14400)
@pytest.mark.parametrize("seed", range(10))
def test_a_million_mutated_inputs(unit: DeflateUnit, seed: int) -> None:
    run_mutations(unit, SAMPLES, seed=100 + seed, count=100_000)


@pytest.mark.parametrize("wrapper", libz.FORMATS)
def test_truncations(unit: DeflateUnit, wrapper: libz.Format) -> None:
    whole = libz.compress(TEXT[:60], 6, wrapper)
    for length in range(len(whole)):
        agrees(unit, whole[:length], wrapper)


@pytest.mark.parametrize("speculation", [pytest.param(n, marks=pytest.mark.long) for n in (4, 8, 32)])
def test_other_speculations(speculation: int) -> None:
    unit = DeflateUnit("decompress", parameters={"speculation": speculation})
    for plain in (TEXT + SKEWED, SKEWED[:333]):
        gives(unit, libz.compress(plain, 9), plain)
