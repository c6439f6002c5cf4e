"""Spaces, read from YAML and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from rackwright._engine import EngineError
from rackwright.errors import RackwrightError
from rackwright.exploration.calls import CallSource
from rackwright.exploration.own_calls import OwnSource, load_workload
from rackwright.exploration.point import Point
from rackwright.exploration.suite_calls import SuiteSource
from rackwright.exploration.workload import WORKLOADS
from rackwright.files.document import DocumentReader, load_yaml
from rackwright.hardware.designs import ParameterValue, units
from rackwright.machine.parameters import ServerParameters, memory_parameters
from rackwright.unit.config import UnitConfig, is_placement
from rackwright.unit.placements import PLACEMENTS
from rackwright.verilog.parameters import check_parameters

_FIELDS = ("unit", "suite", "workload", "synthesise", "vary", "standard_error", "seed")
_AXES = ("parameters", "settings", "placement", "memory")

Values = tuple[ParameterValue, ...]

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Space:
    """All combinations of values for one unit: one of ours by its name, or the path of a user's own manifest.

    `suite` is the folder of calls for a unit that compresses, `workload` the source of calls for others; a
    user's own designs are synthesised for their areas if `synthesise` is set. `standard_error` is the
    requested relative accuracy of every throughput. `seed` decides which calls are drawn. `memory` are
    numbers of caches and DRAM.
    """

    unit: str
    suite: Path | None
    parameters: Mapping[str, Values]
    settings: Mapping[str, Values]
    placements: tuple[str, ...]
    standard_error: float
    seed: int
    memory: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    workload: OwnSource | None = None
    synthesise: bool = False

    @property
    def label(self) -> str:
        """The unit's name, or that in its manifest."""
        return UnitConfig(self.unit).label

    def calls(self, suite: Path | None = None) -> CallSource:
        """The source of calls: the `suite` or the space's own, or the user's workload.

        Raises `RackwrightError` if there is no suite, or one that is not used.
        """
        if self.workload is not None:
            if suite is not None:
                raise RackwrightError("--suite is for units that compress; the space names its workload")
            return self.workload
        place = suite or self.suite
        if place is None:
            raise RackwrightError("no suite is named; `rw generate compression` makes one, --suite takes it")
        serves = WORKLOADS[self.unit]
        return SuiteSource(place, self.unit, serves.format, serves.operation)

    def points(self) -> Iterator[Point]:
        """Every combination; those that share a compiled design are adjacent."""
        for parameters in _combinations(self.parameters):
            for settings in _combinations(self.settings):
                for placement in self.placements:
                    config = UnitConfig(self.unit, parameters, settings, placement)
                    for numbers in _combinations(self.memory):
                        yield Point(config, ServerParameters(numbers))


def _parameters_of(unit: str) -> tuple[str, ...]:
    """The names of the elaboration parameters of one of our units."""
    (info,) = (each for each in units() if each.name == unit)
    return tuple(parameter["name"] for parameter in info.parameters)


def _combinations(axes: Mapping[str, tuple[_Value, ...]]) -> Iterator[dict[str, _Value]]:
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def load_space(path: str | Path) -> Space:
    """Reads a space; raises `RackwrightError` with the file and the field of an error."""
    return _Reader(Path(path)).space(load_yaml(Path(path)))


class _Reader(DocumentReader):
    """Turns a document into a space."""

    def space(self, document: Any) -> Space:
        fields = self.mapping("the file", document, _FIELDS)
        unit = fields.get("unit")
        named = [*WORKLOADS, *([each.name for each in units()] if fields.get("workload") else [])]
        if not isinstance(unit, str) or (unit not in named and not unit.endswith(".json")):
            known = ", ".join(WORKLOADS)
            raise self.error(
                "unit", f"is {unit!r}; there are {known}, a manifest.json, or with a workload any unit"
            )
        is_own = unit.endswith(".json")
        workload = self._workload(fields.get("workload"), unit)
        if is_own:
            unit = str(self.path.parent / unit)
        axes = self.mapping("vary", fields.get("vary"), _AXES)
        placements = self._values("vary.placement", axes.get("placement", ["near-core"]))
        for placement in placements:
            if not isinstance(placement, str) or not is_placement(placement):
                raise self.error("vary.placement", f"has {placement!r}; there are {', '.join(PLACEMENTS)}")
        suite = fields.get("suite")
        if workload is not None and suite is not None:
            raise self.error("suite", "is for units that compress; others have a workload")
        return Space(
            unit=unit,
            suite=None if suite is None else self.path.parent / str(suite),
            parameters=self._parameters(unit, axes.get("parameters")),
            settings=self._settings(
                load_workload(workload).settings if workload else WORKLOADS[unit].settings,
                axes.get("settings"),
            ),
            placements=tuple(map(str, placements)),
            standard_error=self._share("standard_error", fields.get("standard_error", 0.02)),
            seed=self._whole("seed", fields.get("seed", 1)),
            memory=self._memory(axes.get("memory")),
            workload=workload,
            synthesise=self._switch("synthesise", fields.get("synthesise", False)),
        )

    def _workload(self, document: Any, unit: str) -> OwnSource | None:
        """FILE.py:CLASS beside the space, which every unit has that has no suites."""
        if unit in WORKLOADS:
            if document is not None:
                raise self.error("workload", f"is for units without suites; {unit} has them")
            return None
        file, _, name = str(document or "").rpartition(":")
        if not file.endswith(".py") or not name.isidentifier():
            raise self.error("workload", f"is {document!r}, not FILE.py:CLASS with the calls of the unit")
        return OwnSource((self.path.parent / file).resolve(), name)

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
        known = None if unit.endswith(".json") else _parameters_of(unit)
        axes = self.mapping("vary.parameters", document, known)
        found = {name: self._values(f"vary.parameters.{name}", values) for name, values in axes.items()}
        if known is None:
            self._check_own(Path(unit), found)
        return found

    def _check_own(self, manifest: Path, axes: Mapping[str, Values]) -> None:
        """Every value must be one that the top module takes."""
        for name, values in axes.items():
            for value in values:
                try:
                    check_parameters(manifest, {name: value})
                except (EngineError, RackwrightError) as error:
                    raise self.error(f"vary.parameters.{name}", str(error)) from error

    def _settings(self, known: Mapping[str, Sequence[ParameterValue]], document: Any) -> dict[str, Values]:
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
            raise self.error(where, f"has {odd[0]!r}, neither an integer nor a word")
        if len(set(document)) < len(document):
            raise self.error(where, "has a value twice")
        return tuple(document)

    def _share(self, where: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise self.error(where, f"is {value!r}, not a number between 0 and 1")
        return float(value)

    def _switch(self, where: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.error(where, f"is {value!r}, neither true nor false")
        return value

    def _whole(self, where: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(where, f"is {value!r}, not an integer")
        return value
