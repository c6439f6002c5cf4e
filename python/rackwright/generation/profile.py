"""Profiles of compression calls, read from YAML and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, load_yaml
from rackwright.formats import FORMATS, OPERATIONS
from rackwright.generation.distributions import SizeBin, aggregate_ratio

_FOLDER = Path(__file__).parent / "profiles"

PROFILES = tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))
"""The built-in profiles."""


ANY_SIZE = "any"
"""The key of ratios that hold for calls of every size."""

LARGEST_LOG2 = 31

_TYPICAL_FILLING = 0.7
"""Mean size of a bin's calls over the bin's upper end, if a profile has shares of bytes and no calls.

It is between 0.57 and 0.78 in every bin of 128 bytes to 1 GiB of the Snappy fleet.
"""


@dataclass(frozen=True)
class OperationProfile:
    """One direction of one format.

    `ratios` are quantiles of the compression ratio with equal weight, by the power of two of the size; those
    of `None` apply to every size without its own. `levels` and `windows` (as powers of two) are shares of
    bytes, in any unit; formats without levels have none. `assumed` lists the assumptions beyond the source.
    """

    operation: str
    format: str
    sizes: tuple[SizeBin, ...]
    ratios: Mapping[int | None, tuple[float, ...]]
    levels: Mapping[int, float]
    windows: Mapping[int, float]
    assumed: tuple[str, ...]

    @property
    def mean_size(self) -> float:
        """Bytes per call."""
        return sum(each.total_bytes for each in self.sizes) / sum(each.calls for each in self.sizes)

    def ratios_of(self, log2: int) -> tuple[float, ...]:
        """The quantiles of the ratio for calls of a bin."""
        return self.ratios[log2] if log2 in self.ratios else self.ratios[None]

    def aggregate_ratio(self) -> float:
        """All uncompressed bytes over all compressed bytes."""
        pairs = []
        for each in self.sizes:
            quantiles = self.ratios_of(each.log2)
            pairs += [(each.total_bytes / len(quantiles), ratio) for ratio in quantiles]
        return aggregate_ratio(pairs)


@dataclass(frozen=True)
class Profile:
    """A fleet: its name, the source of its numbers, and its operations."""

    name: str
    source: str
    operations: tuple[OperationProfile, ...]

    def only(self, operation: str | None) -> tuple[OperationProfile, ...]:
        """The operations, or the requested one; raises `RackwrightError` if it does not exist."""
        found = tuple(each for each in self.operations if operation in (None, each.operation))
        if not found:
            raise RackwrightError(f"the profile {self.name} has no data for {operation}")
        return found


def load_profile(name: str | Path) -> Profile:
    """A built-in profile by its name, or any other by the path of its YAML file.

    Raises `RackwrightError` with the file and the field of an error.
    """
    path = _FOLDER / f"{name}.yaml" if str(name) in PROFILES else Path(name)
    document = load_yaml(path, f"; profiles that come along: {', '.join(PROFILES)}")
    return _Reader(path).profile(document)


class _Reader(DocumentReader):
    """Turns a document into a profile."""

    def profile(self, document: Any) -> Profile:
        top = self.mapping("the file", document, ("name", "operations", "source"))
        operations = self.mapping("operations", top.get("operations"), OPERATIONS)
        if not operations:
            raise self.error("operations", "has neither compress nor decompress")
        return Profile(
            name=str(top.get("name") or self.path.stem),
            source=str(top.get("source") or "not said"),
            operations=tuple(self._operation(name, fields) for name, fields in operations.items()),
        )

    def _operation(self, name: str, document: Any) -> OperationProfile:
        where = f"operations.{name}"
        known = ("assumed", "format", "levels", "ratios", "shares", "sizes", "windows")
        fields = self.mapping(where, document, known)
        format_name = fields.get("format")
        if format_name not in FORMATS:
            raise self.error(f"{where}.format", f"is {format_name!r}; there are {', '.join(FORMATS)}")
        levels = self._weights(f"{where}.levels", fields.get("levels"))
        odd = [level for level in levels if level not in FORMATS[format_name].levels]
        if odd:
            raise self.error(f"{where}.levels", f"has {odd[0]}, which {format_name} does not know")
        sizes = self._sizes(where, fields)
        return OperationProfile(
            operation=name,
            format=format_name,
            sizes=sizes,
            ratios=self._ratios(f"{where}.ratios", fields.get("ratios"), sizes),
            levels=levels,
            windows=self._weights(f"{where}.windows", fields.get("windows")),
            assumed=tuple(str(each) for each in fields.get("assumed") or ()),
        )

    def _sizes(self, where: str, fields: Mapping[str, Any]) -> tuple[SizeBin, ...]:
        if ("sizes" in fields) == ("shares" in fields):
            raise self.error(
                where, "needs either sizes, [log2, calls, bytes] each, or shares of bytes by log2"
            )
        if "shares" in fields:
            shares = self._weights(f"{where}.shares", fields["shares"])
            bins = [
                SizeBin(log2, share / (_TYPICAL_FILLING * 2**log2), share) for log2, share in shares.items()
            ]
        else:
            bins = [self._size_bin(f"{where}.sizes", row) for row in fields["sizes"] or ()]
        for each in bins:
            if not 0 <= each.log2 <= LARGEST_LOG2:
                raise self.error(where, f"has calls of 2^{each.log2} bytes; sizes end at 2^{LARGEST_LOG2}")
        if not bins or len({each.log2 for each in bins}) < len(bins):
            raise self.error(where, "has no sizes, or one of them twice")
        return tuple(sorted(bins, key=lambda each: each.log2))

    def _size_bin(self, where: str, row: Any) -> SizeBin:
        if not (isinstance(row, list) and len(row) == 3 and all(_is_number(cell) for cell in row)):
            raise self.error(where, f"has {row!r}, not [log2, calls, bytes]")
        each = SizeBin(int(row[0]), float(row[1]), float(row[2]))
        if each.calls <= 0 or not each.least <= round(each.mean, 6) <= each.most:
            raise self.error(
                where, f"has {row!r}: bytes per call are not in (2^{each.log2 - 1}, 2^{each.log2}]"
            )
        return each

    def _ratios(
        self, where: str, document: Any, sizes: tuple[SizeBin, ...]
    ) -> dict[int | None, tuple[float, ...]]:
        ratios: dict[int | None, tuple[float, ...]] = {}
        for key, values in self.mapping(where, document, None).items():
            if not isinstance(values, list) or not values or not all(_is_number(x) and x > 0 for x in values):
                raise self.error(f"{where}.{key}", "is not a list of ratios above 0")
            ratios[None if key == ANY_SIZE else self._integer(where, key)] = tuple(sorted(map(float, values)))
        missing = [each.log2 for each in sizes if each.log2 not in ratios]
        if missing and None not in ratios:
            raise self.error(where, f"has no data for calls of 2^{missing[0]} bytes, and has no '{ANY_SIZE}'")
        return ratios

    def _weights(self, where: str, document: Any) -> dict[int, float]:
        weights = {}
        for key, value in self.mapping(where, document, None).items():
            if not _is_number(value) or value < 0:
                raise self.error(f"{where}.{key}", f"is {value!r}, not a share of bytes")
            weights[self._integer(where, key)] = float(value)
        if weights and not sum(weights.values()) > 0:
            raise self.error(where, "has no share above 0")
        return {key: weights[key] for key in sorted(weights) if weights[key] > 0}

    def _integer(self, where: str, key: Any) -> int:
        if isinstance(key, bool) or not isinstance(key, int):
            raise self.error(where, f"has the key {key!r}, not an integer")
        return key


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
