"""Figures 7.11 to 7.15: the varied parameters, and the statements of the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rackwright.exploration import Space
from rackwright.reproduce.cdpu.bars import Bars
from rackwright.synthesis.table import read_table

HISTORIES = (2, 4, 8, 16, 32, 64)
_ENDS = (2, 64)
_FAR = ("near-core", "chiplet", "pcie-cached", "pcie")
# Compressors do not read back data, so that a cache behind PCIe has no effect.
_FAR_COMPRESSION = ("near-core", "chiplet", "pcie")

# Outstanding beats of 32 bytes with which our Snappy decompressor is as fast as the source's near the core.
_FEW_OUTSTANDING = 16

STANDARD_ERROR, QUICK_STANDARD_ERROR = 0.02, 0.1


@dataclass(frozen=True)
class Figure:
    """A figure: its unit, all bars as spaces, and the compared quantities.

    `varied` is the parameter or setting besides history and placement, whose value for most bars is `usual`.
    `quantities` are those that the text compares, besides the bars themselves.
    """

    number: str
    title: str
    unit: str
    profile: str
    spaces: tuple[Space, ...]
    varied: str
    usual: int
    quantities: Callable[[Bars], dict[str, float]]

    @property
    def operation(self) -> str:
        """The operation of the unit."""
        return self.unit.partition("-")[2]

    @property
    def table(self) -> str:
        """The papers' numbers in `validation/`."""
        return f"cdpu/figure_{self.number.replace('.', '_')}.csv"

    def wanted(self, quick: bool) -> tuple[Space, ...]:
        """The spaces; of a quick run, the corners of the first one."""
        if not quick:
            return self.spaces
        first = self.spaces[0]
        settings = {**first.settings, "history_kib": _ENDS}
        corners = (first.placements[0], first.placements[-1])
        return (replace(first, settings=settings, placements=corners, standard_error=QUICK_STANDARD_ERROR),)


def _space(
    unit: str,
    placements: tuple[str, ...],
    histories: tuple[int, ...] = HISTORIES,
    *,
    parameters: Mapping[str, tuple[int, ...]] | None = None,
    **settings: tuple[int, ...],
) -> Space:
    return Space(
        unit=unit,
        suite=None,
        parameters=parameters or {},
        settings={"history_kib": histories, **settings},
        placements=placements,
        standard_error=STANDARD_ERROR,
        seed=1,
    )


def _area(configuration: str) -> float:
    """The area of a configuration in mm², by the committed table of synthesis."""
    return {row.configuration: row.area_mm2 for row in read_table().values()}[configuration]


def _decompression(bars: Bars) -> dict[str, float]:
    """Statements about both decompressors."""
    near = bars.speed("near-core", 64)
    return {
        "2 KiB over 64 KiB, near-core": bars.speed("near-core", 2) / near,
        "chiplet over near-core, 64 KiB": bars.speed("chiplet", 64) / near,
        "near-core over PCIe with cache, 64 KiB": near / bars.speed("pcie-cached", 64),
        "near-core over PCIe without cache, 64 KiB": near / bars.speed("pcie", 64),
        "2 KiB over 64 KiB, PCIe with cache": bars.speed("pcie-cached", 2) / bars.speed("pcie-cached", 64),
        "2 KiB over 64 KiB, PCIe without cache": bars.speed("pcie", 2) / bars.speed("pcie", 64),
    }


def _compression(bars: Bars) -> dict[str, float]:
    """Statements about all compressors."""
    near = bars.speed("near-core", 64)
    return bars.ratios() | {
        "2 KiB over 64 KiB, near-core": bars.speed("near-core", 2) / near,
        "chiplet over near-core, 64 KiB": bars.speed("chiplet", 64) / near,
        "near-core over PCIe, 64 KiB": near / bars.speed("pcie", 64),
    }


def _snappy_decompression(bars: Bars) -> dict[str, float]:
    small, large = _area("snappy-decompress,history-kib=2"), _area("snappy-decompress")
    fewer = bars.speed("near-core", 64, _FEW_OUTSTANDING)
    return _decompression(bars) | {
        "area, 64 KiB": large,
        "area of 2 KiB over 64 KiB": small / large,
        "near-core over PCIe without cache, 64 KiB, outstanding 16": (
            fewer / bars.speed("pcie", 64, _FEW_OUTSTANDING)
        ),
    }


def _large_tables(bars: Bars) -> dict[str, float]:
    return _compression(bars) | {"area, 64 KiB": _area("snappy-compress")}


def _small_tables(bars: Bars) -> dict[str, float]:
    fewer, ratio = _area("snappy-compress,hash-log2=9"), bars.ratio(2) / bars.ratio(2, 1 << 14)
    return _compression(bars) | {
        "ratio over that of 2^14 entries, 2 KiB": ratio,
        "speed over that of 2^14 entries, 64 KiB": (
            bars.speed("near-core", 64) / bars.speed("near-core", 64, 1 << 14)
        ),
        "area over that of 2^14 entries, 64 KiB both": fewer / _area("snappy-compress"),
    }


def _zstd_decompression(bars: Bars) -> dict[str, float]:
    usual = bars.speed("near-core", 64)
    return _decompression(bars) | {
        "area, 64 KiB": _area("zstd-decompress"),
        "speculation 32 over 16": bars.speed("near-core", 64, 32) / usual,
        "speculation 4 over 16": bars.speed("near-core", 64, 4) / usual,
    }


FIGURES = (
    Figure(
        "7.11",
        "Snappy decompression over placements and history on chip",
        "snappy-decompress",
        "snappy-fleet",
        (
            _space("snappy-decompress", _FAR),
            _space(
                "snappy-decompress",
                ("near-core", "pcie"),
                (64,),
                parameters={"outstanding": (_FEW_OUTSTANDING,)},
            ),
        ),
        "outstanding",
        64,
        _snappy_decompression,
    ),
    Figure(
        "7.12",
        "Snappy compression over placements and history, 2^14 entries in the hash table",
        "snappy-compress",
        "snappy-fleet",
        (_space("snappy-compress", _FAR_COMPRESSION, hash_entries=(1 << 14,)),),
        "hash_entries",
        1 << 14,
        _large_tables,
    ),
    Figure(
        "7.13",
        "Snappy compression over placements and history, 2^9 entries in the hash table",
        "snappy-compress",
        "snappy-fleet",
        (
            _space("snappy-compress", _FAR_COMPRESSION, hash_entries=(1 << 9,)),
            _space("snappy-compress", ("near-core",), _ENDS, hash_entries=(1 << 14,)),
        ),
        "hash_entries",
        1 << 9,
        _small_tables,
    ),
    Figure(
        "7.14",
        "ZStd decompression over placements, history on chip and speculation",
        "zstd-decompress",
        "zstd-fleet",
        (
            _space("zstd-decompress", _FAR),
            _space("zstd-decompress", ("near-core",), (64,), parameters={"speculation": (4, 32)}),
        ),
        "speculation",
        16,
        _zstd_decompression,
    ),
    Figure(
        "7.15",
        "ZStd compression over placements and history, 2^14 entries in the hash table",
        "zstd-compress",
        "zstd-fleet",
        (_space("zstd-compress", _FAR_COMPRESSION, hash_entries=(1 << 14,)),),
        "hash_entries",
        1 << 14,
        _compression,
    ),
)
