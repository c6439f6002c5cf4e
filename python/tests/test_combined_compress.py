"""The compressor of several formats: each written as the official libraries read it, in any order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import plain_data
from tiers import long

from rackwright import CombinedCompressor, RackwrightError
from rackwright.compression.combined import ALGORITHM, ALGORITHMS
from rackwright.demo.archive import default_archive

SMALL = {
    "block-kib": 32,
    "hash-log2": 10,
    "hash-ways": 1,
    "hash-banks": 16,
    "history-kib": 64,
    "streaming": 1,
}
"""Quick to build and to step; its history is longer than DEFLATE reaches. That of test_streaming.py."""

WHOLE = long(0, why="compiled for nothing else; units of one format are built like this", name="whole")
"""The unit without support of input in pieces."""

TEXT = default_archive(40_000)
FAR = TEXT[:8000] + bytes(range(256)) * 120 + TEXT[:8000]
"""Repeats itself after more than 32 KiB."""


@pytest.fixture(scope="module", params=[pytest.param(1, id="streaming"), WHOLE])
def combined(request: pytest.FixtureRequest) -> Iterator[CombinedCompressor]:
    """A small unit of all formats; it must not have touched what is not its."""
    parameters = {**SMALL, "streaming": request.param}
    unit = CombinedCompressor(parameters=parameters, check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def compressed(unit: CombinedCompressor, algorithm: str, plain: bytes) -> bytes:
    """What the unit makes of `plain` in that format; the official library gives `plain` back."""
    unit.choose(algorithm)
    result = unit.run(plain)
    assert (result.status, result.input_offset, result.verified) == ("ok", len(plain), True)
    return result.output


@pytest.mark.parametrize("plain", [b"", b"a", TEXT, FAR], ids=["empty", "one", "text", "far"])
def test_every_format_after_every_other(combined: CombinedCompressor, plain: bytes) -> None:
    """An operation leaves nothing behind: the bytes are the same whatever was written before."""
    first = {algorithm: compressed(combined, algorithm, plain) for algorithm in ALGORITHMS}
    for algorithm in reversed(ALGORITHMS):
        assert compressed(combined, algorithm, plain) == first[algorithm]


def test_matches_of_deflate_reach_no_further_than_the_format(combined: CombinedCompressor) -> None:
    """ZStd finds what is repeated after more than 32 KiB; zlib would refuse such a distance."""
    near = len(compressed(combined, "zlib", FAR[:-8000]))
    assert len(compressed(combined, "zlib", FAR)) > near + 1000
    assert len(compressed(combined, "zstd", FAR)) < near


@given(st.sampled_from(ALGORITHMS), plain_data)
def test_anything(combined: CombinedCompressor, algorithm: str, plain: bytes) -> None:
    compressed(combined, algorithm, plain)


@pytest.mark.parametrize("algorithm", ["snappy", "zstd", "gzip"])
def test_a_full_destination_leaves_the_unit_as_it_was(combined: CombinedCompressor, algorithm: str) -> None:
    whole = compressed(combined, algorithm, TEXT)
    result = combined.run(TEXT, capacity=len(whole) // 2)
    assert (result.status, result.output) == ("output_full", whole[: len(whole) // 2])
    assert compressed(combined, "zlib", TEXT) == compressed(combined, "zlib", TEXT)


@pytest.mark.parametrize("code", [3, 7, 8, 1 << 40])
def test_a_code_of_no_format_is_unsupported(combined: CombinedCompressor, code: int) -> None:
    combined.choose("snappy")
    combined.unit.command(ALGORITHM, code)
    result = combined.run(TEXT)
    assert (result.status, result.output_bytes) == ("unsupported", 0)


def test_an_unknown_format_is_named(combined: CombinedCompressor) -> None:
    with pytest.raises(RackwrightError, match="no format lzma; there are snappy, zstd"):
        combined.choose("lzma")
