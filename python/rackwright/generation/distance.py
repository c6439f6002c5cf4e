"""The difference between a suite and its profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rackwright.generation.distributions import aggregate_ratio, bin_of, cumulative, largest_gap
from rackwright.generation.maker import SuiteFile
from rackwright.generation.profile import OperationProfile


@dataclass(frozen=True)
class Distance:
    """One operation of a suite against its profile.

    Gaps are the largest differences of the cumulative distributions weighted by bytes, 0 to 1; None if the
    profile has no distribution. Ratios are all uncompressed over all compressed bytes.
    """

    operation: str
    format: str
    files: int
    total_bytes: int
    call_size_gap: float
    ratio_asked: float
    ratio_achieved: float
    level_gap: float | None
    window_gap: float | None

    @property
    def ratio_error(self) -> float:
        """The relative difference of the achieved ratio from the requested one."""
        return self.ratio_achieved / self.ratio_asked - 1

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return asdict(self) | {"ratio_error": self.ratio_error}


def distance(profile: OperationProfile, files: Sequence[SuiteFile]) -> Distance:
    """Measures the files of an operation against its profile."""
    return Distance(
        operation=profile.operation,
        format=profile.format,
        files=len(files),
        total_bytes=sum(each.size for each in files),
        call_size_gap=largest_gap(
            {each.log2: each.total_bytes for each in profile.sizes},
            _bytes_by((bin_of(each.size), each.size) for each in files),
        ),
        ratio_asked=profile.aggregate_ratio(),
        ratio_achieved=aggregate_ratio([(each.size, each.ratio) for each in files]),
        level_gap=_gap(profile.levels, ((each.level, each.size) for each in files)),
        window_gap=_gap(profile.windows, ((each.window_log2, each.size) for each in files)),
    )


def size_curves(
    profile: OperationProfile, files: Sequence[SuiteFile]
) -> dict[str, list[tuple[float, float]]]:
    """The cumulative shares of bytes over the power of two of the call size, requested and achieved."""
    asked = {each.log2: each.total_bytes for each in profile.sizes}
    achieved = _bytes_by((bin_of(each.size), each.size) for each in files)
    return {
        name: [(float(key), share) for key, share in cumulative(dict.fromkeys(asked, 0.0) | weights).items()]
        for name, weights in (("profile", asked), ("suite", achieved))
    }


def _gap(shares: dict[int, float] | Any, pairs: Iterable[tuple[int | None, int]]) -> float | None:
    if not shares:
        return None
    return largest_gap(shares, _bytes_by((key, size) for key, size in pairs if key is not None))


def _bytes_by(pairs: Iterable[tuple[int, int]]) -> dict[int, float]:
    sums: Counter[int] = Counter()
    for key, size in pairs:
        sums[key] += size
    return {key: float(size) for key, size in sums.items()}
