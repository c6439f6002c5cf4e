"""A ZStd or DEFLATE decompressor whose memory refuses an access: a status, and the next one goes well."""

from __future__ import annotations

import pytest

from rackwright import DeflateUnit, ZstdUnit
from rackwright.compression import libz, libzstd
from rackwright.compression.codec import CodecUnit
from rackwright.demo.archive import default_archive
from rackwright.unit.commands import operate

PLAIN = default_archive(20_000)
PACKED = {"zstd": libzstd.compress(PLAIN, 3), "zlib": libz.compress(PLAIN, 6, "zlib")}
HUNG = 10_000_000
"""Cycles that no operation here needs."""


def decompressor(name: str) -> CodecUnit:
    """A unit as it is built by default, of its own: memory that refuses stays as it is."""
    return ZstdUnit("decompress") if name == "zstd" else DeflateUnit("decompress")


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("position", [0, 100, 9999, 19_999])
def test_a_fault_in_the_output_ends_the_operation(name: str, position: int) -> None:
    unit = decompressor(name)
    source = unit.unit.load(PACKED[name])
    target = unit.unit.reserve(len(PLAIN), "rw")
    unit.unit.bench.fault(target.address + position, 1)
    ended = [operate(unit.unit, source, target, max_cycles=HUNG) for _ in range(2)]
    assert [each.status for each in ended] == ["access_fault"] * 2

    assert unit.run(PACKED[name]).output == PLAIN
    assert unit.unit.violations == 0


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("part", [0, 500, 999])
def test_a_fault_in_the_input_ends_the_operation(name: str, part: int) -> None:
    unit = decompressor(name)
    source = unit.unit.load(PACKED[name])
    target = unit.unit.reserve(len(PLAIN), "rw")
    unit.unit.bench.fault(source.address + part * len(PACKED[name]) // 1000, 1)
    assert operate(unit.unit, source, target, max_cycles=HUNG).status == "access_fault"
    assert unit.run(PACKED[name]).output == PLAIN
    assert unit.unit.violations == 0
