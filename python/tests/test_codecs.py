"""The registry of formats: each has units, an official library, and a place on the command line."""

from __future__ import annotations

import pytest
from test_bench_compression import SMALL, SMALL_DEFLATE
from tiers import long

from rackwright.cli.accelerate import Algorithm
from rackwright.errors import RackwrightError
from rackwright.formats import CODECS, Codec
from rackwright.hardware.designs import units

PLAIN = b"warehouse-scale " * 100
COMPRESSORS: dict[str, dict[str, int | str]] = {"zstd": {**SMALL}, "deflate": {**SMALL_DEFLATE}}
"""Smaller ones of a family, that other tests compile too."""

AS_BUILT = "eighteen seconds of a processor for two large designs; each has a test of a mebibyte"


def test_the_command_line_knows_all_of_them() -> None:
    assert [each.value for each in Algorithm] == [*CODECS]


@pytest.mark.parametrize("parameters", [COMPRESSORS, long({}, why=AS_BUILT)], ids=["small", "as built"])
@pytest.mark.parametrize("codec", CODECS.values(), ids=lambda codec: codec.name)
def test_units_and_library_understand_each_other(
    codec: Codec, parameters: dict[str, dict[str, int | str]]
) -> None:
    names = {unit.name for unit in units()}
    assert {f"{codec.family}-compress", f"{codec.family}-decompress"} <= names
    packed = codec.compress(PLAIN)
    assert codec.unpack(packed, len(PLAIN)) == PLAIN
    assert codec.unpack(packed[:-9], len(PLAIN)) != PLAIN
    by_unit = codec.unit("compress", parameters=parameters.get(codec.family)).run(PLAIN)
    assert codec.unpack(by_unit.output, len(PLAIN)) == PLAIN
    assert codec.unit("decompress").run(packed).output == PLAIN


def test_a_level_that_a_library_has_not_is_refused() -> None:
    with pytest.raises(RackwrightError, match="gzip has levels 1 to 9, not 12"):
        CODECS["gzip"].compress(PLAIN, 12)
    with pytest.raises(RackwrightError, match="snappy has no levels"):
        CODECS["snappy"].compress(PLAIN, 1)
    assert len(CODECS["zstd"].compress(PLAIN, 22)) < len(PLAIN)
