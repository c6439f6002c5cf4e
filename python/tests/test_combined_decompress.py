"""The decompressor of several formats: what official libraries write, in any order, and damaged inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import rw
from hypothesis import given
from hypothesis import strategies as st
from strategies import plain_data, valid_streams
from test_combined_compress import WHOLE

from rackwright import CombinedDecompressor, RackwrightError
from rackwright.compression import libsnappy, libz, libzstd
from rackwright.compression.combined import ALGORITHM, DECOMPRESSED_ALGORITHMS
from rackwright.compression.zstd import DICTIONARY_LENGTH
from rackwright.demo.archive import default_archive
from rackwright.unit.commands import operate
from rackwright.verification.mutation import mutations

SMALL = {"history-kib": 32, "speculation": 8, "lookahead": 32, "outstanding": 16, "streaming": 1}
"""Quick to build and to step; with copies from beyond its history. That of test_streaming.py."""

TEXT = default_archive(40_000)
NOISE = random.Random(1).randbytes(9_000)
FAR = TEXT[:3000] + NOISE * 4 + TEXT[:3000]
"""Repeats itself after more than the history."""

ROOM = 1 << 12
HUNG = 10_000_000
"""Cycles that no operation here needs."""

levels = st.integers(0, 9)


@pytest.fixture(scope="module", params=[pytest.param(1, id="streaming"), WHOLE])
def combined(request: pytest.FixtureRequest) -> Iterator[CombinedDecompressor]:
    """A small unit of all formats; it must not have touched what is not its."""
    parameters = {**SMALL, "streaming": request.param}
    unit = CombinedDecompressor(parameters=parameters, check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def packed(algorithm: str, plain: bytes, level: int = 6) -> bytes:
    """What the official library makes of `plain`."""
    match algorithm:
        case "snappy":
            return libsnappy.compress(plain)
        case "zstd":
            return libzstd.compress(plain, level, write_checksum=1)
        case "deflate" | "zlib" | "gzip":
            return libz.compress(plain, level, algorithm)
    raise AssertionError(algorithm)


def gives(unit: CombinedDecompressor, algorithm: str, data: bytes, plain: bytes) -> None:
    """The unit makes `plain` of a valid input, and stops at its end."""
    unit.choose(algorithm)
    result = unit.run(data, capacity=len(plain))
    assert (result.status, result.input_offset, result.verified) == ("ok", len(data), True)
    assert result.output == plain


def agrees(unit: CombinedDecompressor, algorithm: str, data: bytes) -> str:
    """The verdict and, for a valid input, every byte are the library's; gives the status."""
    unit.choose(algorithm)
    result = unit.run(data, capacity=min(unit.room(data), ROOM))
    assert result.input_offset <= len(data)
    if result.status in ("ok", "malformed"):
        assert result.verified, (algorithm, data.hex())
    elif result.status == "output_full":
        assert unit.room(data) > ROOM or algorithm != "snappy", data.hex()
    else:
        # A preset dictionary of zlib, one of ZStd that has a number.
        assert (result.status, algorithm in ("zlib", "zstd")) == ("unsupported", True), data.hex()
    return result.status


@pytest.mark.parametrize("plain", [b"", b"a", TEXT, NOISE, FAR], ids=["empty", "one", "text", "noise", "far"])
def test_every_format_after_every_other(combined: CombinedDecompressor, plain: bytes) -> None:
    for algorithm in (*DECOMPRESSED_ALGORITHMS, *reversed(DECOMPRESSED_ALGORITHMS)):
        gives(combined, algorithm, packed(algorithm, plain), plain)


@pytest.mark.parametrize("misalignment", [(3, 5), (31, 17)])
@pytest.mark.parametrize("algorithm", DECOMPRESSED_ALGORITHMS)
def test_buffers_at_any_place(
    combined: CombinedDecompressor, algorithm: str, misalignment: tuple[int, int]
) -> None:
    combined.choose(algorithm)
    for length in (1, 31, 32, 33, 5000):
        result = combined.run(packed(algorithm, TEXT[:length]), misalignment=misalignment)
        assert (result.status, result.output) == ("ok", TEXT[:length])


@given(st.lists(st.tuples(st.sampled_from(DECOMPRESSED_ALGORITHMS), plain_data, levels), max_size=4))
def test_anything_in_any_order(combined: CombinedDecompressor, calls: list[tuple[str, bytes, int]]) -> None:
    for algorithm, plain, level in calls:
        gives(combined, algorithm, packed(algorithm, plain, level), plain)


@given(valid_streams())
def test_streams_of_snappy_that_no_compressor_writes(combined: CombinedDecompressor, data: bytes) -> None:
    gives(combined, "snappy", data, libsnappy.decompress(data) or b"")


@pytest.mark.parametrize("wrong", DECOMPRESSED_ALGORITHMS)
def test_a_malformed_input_leaves_the_unit_as_it_was(combined: CombinedDecompressor, wrong: str) -> None:
    data = packed(wrong, TEXT[:2000])
    for good in DECOMPRESSED_ALGORITHMS:
        for damaged in (data[: len(data) // 2], data[:1], b"\xff" * 9 + data):
            assert agrees(combined, wrong, damaged) == "malformed"
            gives(combined, good, packed(good, TEXT[:700]), TEXT[:700])


@pytest.mark.parametrize("algorithm", DECOMPRESSED_ALGORITHMS)
def test_every_truncation(combined: CombinedDecompressor, algorithm: str) -> None:
    whole = packed(algorithm, TEXT[:70])
    for length in range(len(whole)):
        agrees(combined, algorithm, whole[:length])


def run_mutations(unit: CombinedDecompressor, seed: int, count: int) -> None:
    """Damaged inputs of all formats in turn end as the libraries say."""
    streams = {
        algorithm: mutations(
            seed,
            [packed(algorithm, plain, level) for plain in (TEXT[:300], NOISE[:70]) for level in (1, 9)],
            count,
        )
        for algorithm in DECOMPRESSED_ALGORITHMS
    }
    for _ in range(count):
        for algorithm, damaged in streams.items():
            agrees(unit, algorithm, next(damaged))


def test_some_mutated_inputs(combined: CombinedDecompressor) -> None:
    run_mutations(combined, seed=1, count=100)


@pytest.mark.long
@pytest.mark.timeout(14400)
@pytest.mark.parametrize("seed", range(10))
def test_many_mutated_inputs(combined: CombinedDecompressor, seed: int) -> None:
    run_mutations(combined, seed=100 + seed, count=10_000)


@pytest.mark.parametrize("algorithm", DECOMPRESSED_ALGORITHMS)
def test_output_without_room(combined: CombinedDecompressor, algorithm: str) -> None:
    combined.choose(algorithm)
    result = combined.run(packed(algorithm, TEXT[:3000]), capacity=1000)
    assert result.status == "output_full"
    assert TEXT.startswith(result.output)
    gives(combined, "zlib", packed("zlib", TEXT), TEXT)


@pytest.mark.parametrize("part", [0, 3, 500, 999])
@pytest.mark.parametrize("algorithm", ["snappy", "zstd", "gzip"])
def test_a_fault_in_the_input_ends_the_operation(algorithm: str, part: int) -> None:
    unit = CombinedDecompressor(algorithm, parameters=SMALL, assertions=True)
    data = packed(algorithm, TEXT)
    source = unit.unit.load(data)
    target = unit.unit.reserve(len(TEXT), "rw")
    unit.unit.bench.fault(source.address + part * len(data) // 1000, 1)
    assert operate(unit.unit, source, target, max_cycles=HUNG).status == "access_fault"
    for other in DECOMPRESSED_ALGORITHMS:
        gives(unit, other, packed(other, TEXT[:900]), TEXT[:900])
    assert unit.unit.violations == 0


@pytest.mark.parametrize("algorithm", ["snappy", "zstd", "gzip"])
def test_an_unreadable_input_ends_behind_a_malformed_one(algorithm: str) -> None:
    unit = CombinedDecompressor(algorithm, parameters=SMALL, assertions=True)
    data = packed(algorithm, TEXT[:2000])
    assert agrees(unit, algorithm, data[: len(data) // 2]) == "malformed"
    source = unit.unit.load(data)
    target = unit.unit.reserve(2000, "rw")
    unit.unit.bench.fault(source.address, 1)
    assert operate(unit.unit, source, target, max_cycles=HUNG).status == "access_fault"
    gives(unit, algorithm, data, TEXT[:2000])
    assert unit.unit.violations == 0


@pytest.mark.parametrize("algorithm", ["snappy", "zstd", "gzip"])
def test_a_fault_in_the_output_ends_the_operation(algorithm: str) -> None:
    unit = CombinedDecompressor(algorithm, parameters=SMALL, assertions=True)
    source = unit.unit.load(packed(algorithm, TEXT))
    target = unit.unit.reserve(len(TEXT), "rw")
    unit.unit.bench.fault(target.address + 20_000, 1)
    assert operate(unit.unit, source, target, max_cycles=HUNG).status == "access_fault"
    for other in DECOMPRESSED_ALGORITHMS:
        gives(unit, other, packed(other, TEXT[:900]), TEXT[:900])


def test_a_dictionary_is_for_the_frames_of_zstd_only() -> None:
    unit = CombinedDecompressor("zstd", parameters=SMALL, dictionary=TEXT[5000:9000], assertions=True)
    data = libzstd.compress(TEXT[6000:8000], 3, dictionary=TEXT[5000:9000])
    for algorithm in ("snappy", "zstd", "gzip", "zstd"):
        plain = TEXT[6000:8000]
        gives(unit, algorithm, data if algorithm == "zstd" else packed(algorithm, plain), plain)
    # Longer than any: ZStd refuses it, others do not look.
    unit.unit.command(DICTIONARY_LENGTH, 1 << 40)
    gives(unit, "snappy", packed("snappy", TEXT), TEXT)
    unit.choose("zstd")
    assert unit.run(data).status == "unsupported"


@pytest.mark.parametrize("code", [3, 7, 8, 1 << 40])
def test_a_code_of_no_format_is_unsupported(combined: CombinedDecompressor, code: int) -> None:
    combined.choose("snappy")
    combined.unit.command(ALGORITHM, code)
    result = combined.run(packed("snappy", TEXT))
    assert (result.status, result.output_bytes) == ("unsupported", 0)


@pytest.mark.long
def test_a_format_that_was_not_built_is_unsupported() -> None:
    unit = CombinedDecompressor(parameters={**SMALL, "algorithms": "snappy+deflate"})
    gives(unit, "gzip", packed("gzip", TEXT), TEXT)
    gives(unit, "snappy", packed("snappy", TEXT), TEXT)
    unit.choose("zstd")
    assert unit.run(packed("zstd", TEXT)).status == "unsupported"


def test_an_unknown_format_is_named(combined: CombinedDecompressor) -> None:
    with pytest.raises(RackwrightError, match="no format lzma; there are snappy, zstd"):
        combined.choose("lzma")


def test_the_same_digest_with_and_without_passing_over_idle_cycles() -> None:
    digests = set()
    for skip in (True, False):
        unit = CombinedDecompressor(parameters=SMALL, skip_idle=skip, assertions=True)
        for algorithm in DECOMPRESSED_ALGORITHMS:
            gives(unit, algorithm, packed(algorithm, TEXT[:4000]), TEXT[:4000])
        digests.add(unit.unit.digest)
    assert len(digests) == 1


@pytest.mark.long
def test_as_it_is_built_by_default() -> None:
    unit = CombinedDecompressor(check_idle=True, assertions=True)
    for algorithm in DECOMPRESSED_ALGORITHMS:
        for level in (1, 6, 9):
            gives(unit, algorithm, packed(algorithm, FAR + TEXT, level), FAR + TEXT)
    run_mutations(unit, seed=2, count=200)
    assert unit.unit.violations == 0


def test_from_the_command_line(tmp_path: Path) -> None:
    source, target = tmp_path / "text.gz", tmp_path / "text"
    source.write_bytes(packed("gzip", TEXT[:3000]))
    sets = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    options = ["--combined", "--assertions", "-o", str(target), *sets]
    ended = rw("accelerate", "gzip", "decompress", str(source), *options)
    assert ended.status == 0
    assert target.read_bytes() == TEXT[:3000]
