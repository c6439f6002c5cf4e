"""All formats, and values derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError
from rackwright.formats import deflate, snappy, zstd

if TYPE_CHECKING:
    from rackwright.compression.codec import CodecUnit
    from rackwright.unit.config import UnitConfig

FORMATS = {each.name: each for each in (snappy.FORMAT, zstd.FORMAT, deflate.FORMAT)}
"""By name."""

CODECS = {codec.name: codec for each in FORMATS.values() for codec in each.codecs}
"""The kinds of streams, by name."""

SETTINGS = ("history_kib", "hash_entries")
"""The run-time settings of units."""

USUAL_LEVEL = 2
"""The units in their default configurations."""

LEVELS: Mapping[str, Mapping[int, Mapping[str, int]]] = {
    each.units[0]: dict(sorted({**each.presets, USUAL_LEVEL: {}}.items()))
    for each in FORMATS.values()
    if each.presets
}
"""By compressor and level: the parameters of elaboration that differ from the defaults.

Level 1 has the least memory on chip, level 3 compares the most candidates for a match. docs/units.md has
their ratios and speeds.
"""


def level_parameters(unit: str, level: int) -> dict[str, int | str]:
    """The parameters of `level` for `unit`; raises `RackwrightError` if it has no such level."""
    levels = LEVELS.get(unit)
    if levels is None:
        raise RackwrightError(f"{unit} has no levels; {' and '.join(LEVELS)} have")
    if level not in levels:
        raise RackwrightError(f"{unit} has levels {min(levels)} to {max(levels)}, not {level}")
    return {**levels[level]}


def codec_unit(config: UnitConfig, format_name: str, *, memory: Mapping[str, int] | None = None) -> CodecUnit:
    """The unit of a format, `family`-compress or `family`-decompress, built as in `config`, fresh from reset.

    Its settings are `history_kib` and `hash_entries`, as `CodecUnit` has them. Raises `RackwrightError` for
    another unit or setting.
    """
    codec = CODECS[format_name]
    family, _, operation = config.unit.rpartition("-")
    if family != codec.family:
        raise RackwrightError(f"{config.unit} is no unit of {format_name}")
    odd = sorted(set(config.settings) - set(SETTINGS))
    if odd:
        raise RackwrightError(f"{config.unit} has no setting {odd[0]}; there are {', '.join(SETTINGS)}")
    return codec.unit(
        operation,
        parameters=config.parameters,
        placement=config.placement,
        clock=config.clock,
        memory=memory,
        **config.settings,
    )
