"""Spaces, read from YAML and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from rackwright._engine import EngineError
from rackwright.designs import ParameterValue, units
from rackwright.document import DocumentReader, load_yaml
from rackwright.errors import RackwrightError
from rackwright.exploration.point import Point
from rackwright.exploration.workload import WORKLOADS
from rackwright.parameters import ServerParameters, memory_parameters
from rackwright.unit_config import PLACEMENTS, UnitConfig

_FIELDS = ("unit", "suite", "vary", "standard_error", "seed")
_AXES = ("parameters", "settings", "placement", "memory")

Values = tuple[ParameterValue, ...]

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Space:
    """All combinations of values for one unit.

    `suite` is the folder of the calls. `standard_error` is how exact every throughput is to be, relative to
    it. `seed` decides which calls are drawn. `memory` are numbers of caches and DRAM.
    """

    unit: str
    suite: Path | None
    parameters: Mapping[str, Values]
    settings: Mapping[str, Values]
    placements: tuple[str, ...]
    standard_error: float
    seed: int
    memory: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def points(self) -> Iterator[Point]:
        """Every combination; those that share a compiled design come together."""
        for parameters in _combinations(self.parameters):
            for settings in _combinations(self.settings):
                for placement in self.placements:
                    config = UnitConfig(self.unit, parameters, settings, placement)
                    for numbers in _combinations(self.memory):
                        yield Point(config, ServerParameters(numbers))


def _combinations(axes: Mapping[str, tuple[_Value, ...]]) -> Iterator[dict[str, _Value]]:
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def load_space(path: str | Path) -> Space:
    """Reads a space; raises `RackwrightError` with the file and the field for what makes no sense."""
    return _Reader(Path(path)).space(load_yaml(Path(path)))


class _Reader(DocumentReader):
    """Turns a document into a space."""

    def space(self, document: Any) -> Space:
        fields = self.mapping("the file", document, _FIELDS)
        unit = fields.get("unit")
        if unit not in WORKLOADS:
            raise self.error("unit", f"is {unit!r}; there are {', '.join(WORKLOADS)}")
        axes = self.mapping("vary", fields.get("vary"), _AXES)
        placements = self._values("vary.placement", axes.get("placement", ["near-core"]))
        for placement in placements:
            if placement not in PLACEMENTS:
                raise self.error("vary.placement", f"has {placement!r}; there are {', '.join(PLACEMENTS)}")
        suite = fields.get("suite")
        return Space(
            unit=unit,
            suite=None if suite is None else self.path.parent / str(suite),
            parameters=self._parameters(unit, axes.get("parameters")),
            settings=self._settings(unit, axes.get("settings")),
            placements=tuple(map(str, placements)),
            standard_error=self._share("standard_error", fields.get("standard_error", 0.02)),
            seed=self._whole("seed", fields.get("seed", 1)),
            memory=self._memory(axes.get("memory")),
        )

    def _memory(self, document: Any) -> dict[str, tuple[int, ...]]:
        """Numbers of caches and DRAM; each combination of them must be one that can be."""
        known = tuple(parameter.name for parameter in memory_parameters())
        axes = self.mapping("vary.memory", document, known)
        found = {
            name: tuple(self._whole(f"vary.memory.{name}", value) for value in self._values(name, values))
            for name, values in axes.items()
        }
        for numbers in _combinations(found):
            try:
                ServerParameters(numbers).check("functional")
            except (EngineError, RackwrightError) as error:
                raise self.error("vary.memory", str(error)) from error
        return found

    def _parameters(self, unit: str, document: Any) -> dict[str, Values]:
        (info,) = (each for each in units() if each.name == unit)
        known = {parameter["name"]: parameter for parameter in info.parameters}
        axes = self.mapping("vary.parameters", document, tuple(known))
        return {name: self._values(f"vary.parameters.{name}", values) for name, values in axes.items()}

    def _settings(self, unit: str, document: Any) -> dict[str, Values]:
        known = WORKLOADS[unit].settings
        axes = self.mapping("vary.settings", document, tuple(known))
        checked = {}
        for name, values in axes.items():
            checked[name] = self._values(f"vary.settings.{name}", values)
            odd = [value for value in checked[name] if value not in known[name]]
            if odd:
                allowed = ", ".join(map(str, known[name]))
                raise self.error(f"vary.settings.{name}", f"has {odd[0]!r}; there are {allowed}")
        return checked

    def _values(self, where: str, document: Any) -> Values:
        if not isinstance(document, list) or not document:
            raise self.error(where, f"is {document!r}, not a list of values")
        odd = [value for value in document if isinstance(value, bool) or not isinstance(value, int | str)]
        if odd:
            raise self.error(where, f"has {odd[0]!r}, neither a whole number nor a word")
        if len(set(document)) < len(document):
            raise self.error(where, "has a value twice")
        return tuple(document)

    def _share(self, where: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise self.error(where, f"is {value!r}, not a number between 0 and 1")
        return float(value)

    def _whole(self, where: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(where, f"is {value!r}, not a whole number")
        return value
