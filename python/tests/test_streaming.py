"""Units that take the input of an operation in pieces, against the official libraries."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from test_combined_compress import SMALL as SMALL_COMPRESS
from test_combined_decompress import FAR, SMALL

from bootstrap.paths import SOFTWARE
from rackwright import DeflateUnit, RackwrightError, Server, ZstdUnit, compile_program
from rackwright.compression import libz, libzstd
from rackwright.compression.codec import CodecUnit
from rackwright.compression.combined import CombinedCompressor, CombinedDecompressor
from rackwright.compression.streaming import Stream
from rackwright.demo.archive import default_archive
from rackwright.hardware.designs import elaborate
from rackwright.unit import commands
from rackwright.verification import zstd_format as fmt

PLAIN = default_archive(60_000)
NOISE = random.Random(3).randbytes(3000)
PACKED = {
    "zstd": libzstd.compress(PLAIN, 3, write_checksum=1),
    "zstd frames": libzstd.compress(PLAIN[:9999], 1) + fmt.skippable(NOISE) + libzstd.compress(NOISE, 1),
    "zstd blocks": fmt.frame([fmt.repeated(b"x", 77, False), fmt.raw(NOISE, False), fmt.repeated(b"z", 3)]),
    "zstd far": libzstd.compress(FAR, 19),
    "deflate": libz.compress(PLAIN, 6, "deflate"),
    "zlib": libz.compress(PLAIN, 6, "zlib"),
    "zlib stored": libz.compress(NOISE, 0, "zlib"),
    "gzip": libz.compress(PLAIN, 6, "gzip") + libz.compress(NOISE, 1, "gzip"),
}
MADE = dict.fromkeys(PACKED, PLAIN) | {
    "zstd frames": PLAIN[:9999] + NOISE,
    "zstd blocks": b"x" * 77 + NOISE + b"zzz",
    "zstd far": FAR,
    "zlib stored": NOISE,
    "gzip": PLAIN + NOISE,
}
ROOM = 1 << 17
HUNG = 10_000_000
"""Cycles that no operation here needs."""


@pytest.fixture(scope="module")
def unit() -> Iterator[CombinedDecompressor]:
    """The decompressor of all formats; it must not touch what is not its, or what it was not told of."""
    unit = CombinedDecompressor(parameters=SMALL, check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def begin(unit: CombinedDecompressor, name: str, first: bytes, most: int = 1 << 16) -> Stream:
    """A stream of that format."""
    unit.choose(name.split()[0])
    return Stream(unit, first, most_input=most, capacity=ROOM)


def pieces(packed: bytes, seed: int) -> list[bytes]:
    """It in pieces of any size, some of them empty."""
    chance = random.Random(seed)
    cuts = sorted(chance.choices(range(len(packed) + 1), k=chance.choice([1, 3, 20, 60])))
    return [packed[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(packed)], strict=True)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PACKED)
def test_pieces_of_any_size(unit: CombinedDecompressor, name: str, seed: int) -> None:
    first, *rest = pieces(PACKED[name], seed)
    stream = begin(unit, name, first)
    chance, before = random.Random(seed), 0
    for number, piece in enumerate(rest, 1):
        unit.unit.work(chance.choice([1, 40, 4_000]))
        output = stream.output()
        assert before <= len(output)
        assert MADE[name].startswith(output)
        before = len(output)
        stream.feed(piece, last=number == len(rest))
    ended = stream.end(HUNG)
    assert (ended.status, ended.output_bytes) == ("ok", len(MADE[name]))
    assert ended.input_offset == len(PACKED[name])
    assert stream.output() == MADE[name]


@pytest.mark.parametrize("name", ["zstd", "gzip"])
def test_output_is_there_before_the_input_is(unit: CombinedDecompressor, name: str) -> None:
    packed = libzstd.compress(NOISE * 90, 1) if name == "zstd" else PACKED[name]
    made = NOISE * 90 if name == "zstd" else MADE[name]
    half = len(packed) // 2 if name == "gzip" else len(packed) - 1
    unit.choose(name)
    stream = Stream(unit, packed[:half], most_input=len(packed), capacity=1 << 19)
    unit.unit.work(200_000)
    output = stream.output()
    assert len(output) > len(made) // 3
    assert made.startswith(output)
    stream.feed(packed[half:], last=True)
    assert stream.end(HUNG).status == "ok"
    assert stream.output() == made


@pytest.mark.parametrize("length", [0, 1, 3, 7, 100, 5000])
@pytest.mark.parametrize("name", PACKED)
def test_an_input_that_ends_early_is_malformed(unit: CombinedDecompressor, name: str, length: int) -> None:
    stream = begin(unit, name, PACKED[name][:length])
    unit.unit.work(3000)
    stream.feed(b"", last=True)
    # Nothing at all is no frame, which is right.
    expected = "ok" if name.startswith("zstd") and length == 0 else "malformed"
    if length < len(PACKED[name]):
        assert stream.end(HUNG).status == expected
    else:
        assert stream.end(HUNG).status == "ok"


def test_what_is_wrong_ends_the_operation_before_the_last_piece(unit: CombinedDecompressor) -> None:
    stream = begin(unit, "zstd", b"\x00" * 50)
    assert stream.end(HUNG).status == "malformed"
    # What comes too late is for nobody.
    stream.feed(b"more")
    stream.feed(b"more", last=True)
    unit.choose("zlib")
    assert unit.run(PACKED["zlib"]).output == PLAIN


def test_an_input_beyond_the_end_of_memory_is_refused(unit: CombinedDecompressor) -> None:
    stream = begin(unit, "gzip", PACKED["gzip"][:100])
    unit.unit.command(commands.EXTEND, (1 << 64) - 50, 1)
    assert stream.end(HUNG).status == "access_fault"


def test_others_wait_until_the_stream_ends(unit: CombinedDecompressor) -> None:
    packed = PACKED["zlib"]
    stream = begin(unit, "zlib", packed[:1000])
    stream.feed(packed[1000:], last=True)
    source, target = unit.unit.load(packed), unit.unit.reserve(ROOM, "rw")
    assert commands.operate(unit.unit, source, target, max_cycles=HUNG).status == "ok"
    assert unit.unit.query(commands.WRITTEN) == len(PLAIN)
    assert unit.unit.read(target, len(PLAIN)) == PLAIN


def test_what_takes_no_pieces(unit: CombinedDecompressor) -> None:
    assert begin(unit, "snappy", b"abc").end(HUNG).status == "unsupported"
    dictionary = CombinedDecompressor("zstd", parameters=SMALL, dictionary=NOISE, assertions=True)
    assert dictionary.run(libzstd.compress(PLAIN, 3, dictionary=NOISE)).verified
    assert Stream(dictionary, b"abc", most_input=3, capacity=9).end(HUNG).status == "unsupported"
    # As test_zstd_decompress.py compiles it.
    whole = ZstdUnit("decompress", assertions=True)
    with pytest.raises(RackwrightError, match="does not support input in pieces; build it with streaming=1"):
        Stream(whole, b"", most_input=9, capacity=9)
    # Commands for what it was not built with change nothing.
    with pytest.raises(RackwrightError, match="zstd-decompress has no command extend; there are sfence"):
        whole.unit.command(commands.EXTEND, 5, 1)
    whole.unit.command(13, 1)
    whole.unit.command(21, 5, 1)
    assert whole.unit.query(22) == (1 << 64) - 1
    assert whole.run(PACKED["zstd"]).output == PLAIN
    with pytest.raises(RackwrightError, match="made for 3 bytes of input"):
        begin(unit, "zstd", b"abcd", 3)


@pytest.fixture(scope="module")
def compressor() -> Iterator[CombinedCompressor]:
    """The compressor of all formats; it must not touch what is not its, or what it was not told of."""
    unit = CombinedCompressor(parameters=SMALL_COMPRESS, check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("algorithm", ["snappy", "zstd", "zstd-checksum", "deflate", "gzip"])
def test_what_is_compressed_in_pieces_is_the_same(
    compressor: CombinedCompressor, algorithm: str, seed: int
) -> None:
    compressor.choose(algorithm)
    plain = PLAIN[: 30_000 + seed]
    whole = compressor.run(plain)
    assert whole.verified
    chance = random.Random(seed)
    first, *rest = pieces(plain, seed)
    stream = Stream(compressor, first, most_input=len(plain), capacity=ROOM)
    for piece in rest:
        compressor.unit.work(chance.choice([1, 40, 4_000]))
        output = stream.output()
        assert whole.output.startswith(output)
        assert len(output) < len(whole.output)
        stream.feed(piece)
    ended = stream.end(HUNG)
    assert (ended.status, ended.output_bytes, ended.input_offset) == ("ok", len(whole.output), len(plain))
    assert stream.output() == whole.output


def test_nothing_and_what_is_whole_at_once(compressor: CombinedCompressor) -> None:
    compressor.choose("gzip")
    for plain in (b"", b"a", NOISE):
        stream = Stream(compressor, plain, most_input=len(plain), capacity=ROOM)
        assert stream.end(HUNG).status == "ok"
        assert libz.decompress(stream.output(), "gzip") == (plain, len(stream.output()))


def test_an_output_that_is_full_before_the_input_is_there(compressor: CombinedCompressor) -> None:
    compressor.choose("snappy")
    stream = Stream(compressor, NOISE[:1000], most_input=len(NOISE), capacity=500)
    assert stream.end(HUNG).status == "output_full"
    stream.feed(NOISE[1000:])
    assert compressor.run(PLAIN).verified


@pytest.mark.long
def test_compressors_with_a_dictionary_take_no_pieces() -> None:
    unit = ZstdUnit("compress", parameters={"streaming": 1}, dictionary=NOISE)
    assert unit.run(PLAIN).verified
    assert Stream(unit, b"", most_input=9, capacity=99).end(HUNG).status == "unsupported"


@pytest.mark.long
@pytest.mark.parametrize("name", ["zstd", "zlib"])
def test_units_of_one_format(name: str) -> None:
    parameters = {"streaming": 1}
    one: CodecUnit = (
        ZstdUnit("decompress", parameters=parameters)
        if name == "zstd"
        else DeflateUnit("decompress", "zlib", parameters=parameters)
    )
    first, *rest = pieces(PACKED[name], 1)
    stream = Stream(one, first, most_input=1 << 16, capacity=ROOM)
    for piece in rest:
        stream.feed(piece)
    stream.feed(b"", last=True)
    assert stream.end(HUNG).status == "ok"
    assert stream.output() == PLAIN
    assert one.unit.violations == 0


@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_programs_feed_the_unit(cpu: str) -> None:
    program = compile_program([SOFTWARE / "tests" / "feed.c"], options=["-Wall", "-Werror"])
    # As the tests above compile them.
    server = Server(cpu, [elaborate("combined-decompress", SMALL, assertions=True)])
    for name in ("zstd frames", "deflate", "zlib", "gzip"):
        result = server.run(program, [name.split()[0], "3000"], stdin=PACKED[name])
        assert (result.exit_code, result.stdout) == (0, MADE[name]), result.stderr
        written = [int(line) for line in result.stderr.split()]
        assert written == sorted(written)
        assert 0 < written[-2] < len(MADE[name])
    cut = server.run(program, ["gzip", "700"], stdin=PACKED["gzip"][:-9])
    assert (cut.exit_code, cut.stderr.split()[-1]) == (1, b"malformed")
    compressor = elaborate("combined-compress", SMALL_COMPRESS, assertions=True)
    server = Server(cpu, [compressor])
    result = server.run(program, ["gzip", "9000", str(len(PLAIN))], stdin=PLAIN)
    assert (result.exit_code, libz.decompress(result.stdout, "gzip")[0]) == (0, PLAIN), result.stderr
    assert 0 < int(result.stderr.split()[-2]) < len(result.stdout)
    without = Server(cpu, [elaborate("zstd-decompress", {}, assertions=True)])
    assert without.run(program, ["zstd", "700"], stdin=b"").exit_code == 2
