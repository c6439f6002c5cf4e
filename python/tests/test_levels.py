"""Levels of the compression units: presets over their parameters."""

from __future__ import annotations

import json

import pytest
from tiers import long

from rackwright.compression.codec import AcceleratorResult
from rackwright.compression.deflate import DeflateUnit
from rackwright.compression.zstd import ZstdUnit
from rackwright.demo.archive import default_archive
from rackwright.formats import LEVELS, USUAL_LEVEL, level_parameters
from rackwright.hardware.designs import elaborate

PLAIN = default_archive(200_000)


def compressed(unit: str, level: int, plain: bytes) -> AcceleratorResult:
    """What the unit makes of the bytes at a level."""
    parameters = level_parameters(unit, level)
    if unit == "zstd-compress":
        return ZstdUnit("compress", parameters=parameters).run(plain)
    return DeflateUnit("compress", parameters=parameters).run(plain)


@pytest.mark.parametrize(
    "unit",
    [each if each == "deflate-compress" else long(each, why="a large design of its own") for each in LEVELS],
)
def test_the_first_level_is_what_its_parameters_say(unit: str) -> None:
    result = compressed(unit, 1, PLAIN[:30_000])
    assert result.verified
    assert result.ratio > 1.2
    assert result.parameters.items() >= level_parameters(unit, 1).items()


def test_the_usual_level_is_the_unit_as_it_is() -> None:
    manifest = json.loads(elaborate("zstd-compress", None).read_text())
    usual = json.loads(elaborate("zstd-compress", level_parameters("zstd-compress", USUAL_LEVEL)).read_text())
    assert usual == manifest


@pytest.mark.long
@pytest.mark.parametrize("unit", LEVELS)
def test_each_level_compresses_better_than_the_one_before(unit: str) -> None:
    results = [compressed(unit, level, PLAIN) for level in sorted(LEVELS[unit])]
    assert all(result.verified for result in results)
    ratios = [result.ratio for result in results]
    assert ratios == sorted(ratios)
    assert len(set(ratios)) == len(ratios)
