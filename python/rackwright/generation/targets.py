"""The targets of a suite's files: sizes, ratios, levels and windows, drawn in strata.

Large calls are few: of 8,000 calls of the fleet, twelve contain a sixth of all bytes. Independent draws would
often miss them, so that each power of two of the size gets its share of bytes, as near as whole files allow,
and the rest is assigned to the next smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from rackwright.generation.distributions import SizeBin, aggregate_ratio, quantile
from rackwright.generation.profile import OperationProfile


@dataclass(frozen=True)
class Target:
    """One file: `size` in bytes, its target ratio, and its compression parameters."""

    index: int
    size: int
    ratio: float
    level: int | None = None
    window_log2: int | None = None


def draw_targets(profile: OperationProfile, files: int, seed: int) -> list[Target]:
    """Targets for `files` files, the same for the same seed, in an order that is not that of their sizes."""
    random = Random(f"{seed}/{profile.format}/{profile.operation}")
    targets: list[Target] = []
    for each, sizes in _files(profile.sizes, files, profile.mean_size):
        ratios = _ratios(profile.ratios_of(each.log2), sizes, random)
        targets += [Target(0, size, ratio) for size, ratio in zip(sizes, ratios, strict=True)]
    levels = _assign(targets, profile.levels, random)
    windows = _assign(targets, profile.windows, random)
    complete = [
        replace(target, level=level, window_log2=window)
        for target, level, window in zip(targets, levels, windows, strict=True)
    ]
    random.shuffle(complete)
    return [replace(target, index=index) for index, target in enumerate(complete)]


def _files(sizes: Sequence[SizeBin], files: int, mean_size: float) -> list[tuple[SizeBin, list[int]]]:
    """The sizes of the files in each bin, largest bin first; `files` files in total."""
    total = sum(each.total_bytes for each in sizes)
    made: list[tuple[SizeBin, list[int]]] = []
    owed = 0.0
    for each in sorted(sizes, key=lambda each: -each.log2):
        owed += files * mean_size * each.total_bytes / total
        count = round(owed / each.mean)
        if count < 2:
            # One file of the remaining size, or none, whichever is closer.
            chosen = [min(max(round(owed), each.least), each.most)] if 2 * owed >= each.least else []
        else:
            chosen = _sizes(each, count)
        owed -= sum(chosen)
        made.append((each, chosen))
    _settle(made, files)
    return made


def _settle(made: Sequence[tuple[SizeBin, list[int]]], files: int) -> None:
    """Adds or removes files of the most frequent sizes, with almost no bytes, until there are `files`."""
    difference = files - sum(len(chosen) for _, chosen in made)
    for each, chosen in sorted(made, key=lambda pair: -pair[0].calls):
        count = max(len(chosen) + difference, 0)
        difference -= count - len(chosen)
        chosen[:] = _sizes(each, count)
        if difference == 0:
            return


def _sizes(each: SizeBin, count: int) -> list[int]:
    """Sizes within a bin, whose mean is the bin's: most (1 + u^p) / 2 for even u, with p from the mean."""
    if each.log2 == 0:
        return [1] * count
    half = each.most / 2
    rise = min(max(each.mean / half - 1, 0.05), 0.95)
    power = 1 / rise - 1
    steps = [(index + 0.5) / count for index in range(count)]
    return [min(max(round(half * (1 + step**power)), each.least), each.most) for step in steps]


def _ratios(quantiles: Sequence[float], sizes: Sequence[int], random: Random) -> list[float]:
    """A ratio for each size: even steps through the quantiles, scaled to compress together as the bin does.

    Without that a bin of one or two files, which can hold a tenth of all bytes, would decide the ratio of
    the suite.
    """
    if not sizes:
        return []
    shares = [(index + 0.5) / len(sizes) for index in range(len(sizes))]
    random.shuffle(shares)
    ratios = [quantile(quantiles, share) for share in shares]
    wanted = aggregate_ratio([(1.0, ratio) for ratio in quantiles])
    factor = wanted / aggregate_ratio(list(zip(map(float, sizes), ratios, strict=True)))
    return [min(max(ratio * factor, quantiles[0]), quantiles[-1]) for ratio in ratios]


def _assign(targets: Sequence[Target], shares: Mapping[int, float], random: Random) -> list[int | None]:
    """A key of `shares` for each target, such that bytes approximate the shares: largest files first."""
    if not shares:
        return [None] * len(targets)
    weight = sum(shares.values())
    everything = sum(target.size for target in targets)
    owed = {key: share / weight * everything for key, share in shares.items()}
    order = sorted(range(len(targets)), key=lambda place: (-targets[place].size, random.random()))
    chosen: list[int | None] = [None] * len(targets)
    for place in order:
        key = max(owed, key=lambda key: (owed[key], -key))
        owed[key] -= targets[place].size
        chosen[place] = key
    return chosen
