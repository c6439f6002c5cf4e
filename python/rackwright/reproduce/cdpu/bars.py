"""The contents of a figure of chapter 7: speed and ratio of a unit over the varied parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.exploration import Exploration
from rackwright.exploration.explore import Result


@dataclass(frozen=True)
class Bar:
    """The position of one bar: `variant` is the value of a figure's further parameter."""

    placement: str
    history_kib: int
    variant: int

    def name(self, variant_name: str) -> str:
        """As tables of `validation/` call it."""
        usual = f"{self.placement}, {self.history_kib} KiB"
        return f"{usual}, {variant_name} {self.variant}" if variant_name else usual


class Bars:
    """The results of a figure by their places."""

    def __init__(self, explorations: Iterable[Exploration], varied: str, usual: int) -> None:
        """`varied` names the parameter or setting of the variants, `usual` the value that is not in names."""
        self.varied, self.usual = varied, usual
        self.results: dict[Bar, Result] = {}
        for done in explorations:
            for each in done.results:
                config = each.point.config
                values = {**config.settings, **config.parameters}
                bar = Bar(config.placement, int(values["history_kib"]), int(values.get(varied, usual)))
                self.results[bar] = each

    def speed(self, placement: str, history_kib: int, variant: int | None = None) -> float:
        """GB/s of uncompressed bytes; NaN if a quick run did not measure it."""
        found = self.results.get(Bar(placement, history_kib, variant or self.usual))
        return found.gigabytes_per_second if found else float("nan")

    def ratio(self, history_kib: int, variant: int | None = None) -> float:
        """The ratio near the core relative to the official library's; NaN if it was not measured."""
        found = self.results.get(Bar("near-core", history_kib, variant or self.usual))
        if found is None or found.ratio is None or found.library_ratio is None:
            return float("nan")
        return found.ratio / found.library_ratio

    def speeds(self) -> dict[str, float]:
        """Every bar by name."""
        words = self.varied.replace("_", " ").replace("-", " ")
        return {
            bar.name("" if bar.variant == self.usual else words): each.gigabytes_per_second
            for bar, each in self.results.items()
        }

    def ratios(self) -> dict[str, float]:
        """The ratio over the library's for every history, as the figures' compression lines show it."""
        return {
            f"ratio over the library's, {bar.history_kib} KiB": self.ratio(bar.history_kib)
            for bar in self.results
            if bar.variant == self.usual
        }

    def lines(self) -> dict[str, list[tuple[float, float]]]:
        """Speed over history, a line for each placement."""
        found: dict[str, list[tuple[float, float]]] = {}
        for bar, each in sorted(self.results.items(), key=lambda item: item[0].history_kib):
            if bar.variant == self.usual:
                point = (float(bar.history_kib), each.gigabytes_per_second)
                found.setdefault(bar.placement, []).append(point)
        return found
