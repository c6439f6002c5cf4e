"""Calls of a user's own unit: a Python class of the user makes them and checks their results."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from rackwright._engine import Design
from rackwright.errors import RackwrightError
from rackwright.exploration.built_design import BuiltDesign, build_design, model_design
from rackwright.exploration.calls import Call
from rackwright.exploration.point import Point
from rackwright.exploration.store import content_key
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import ParameterValue, elaborate
from rackwright.unit.alone import Unit
from rackwright.unit.config import UnitConfig


class UnitWorkload(ABC):
    """What a unit without suites is explored with: derive a class, and name it in the space.

    It is constructed without arguments in each measuring process, so that the calls may depend only on their
    own file; other files that it reads belong into `inputs`. `settings` are the values that the space may
    vary, and that `run` receives by name.
    """

    settings: ClassVar[Mapping[str, Sequence[ParameterValue]]] = {}
    inputs: ClassVar[Sequence[str]] = ()
    """Files that it reads, relative to its own: measurements are repeated if one of them changes."""
    own_memory: ClassVar[bool] = False
    """The unit has a channel of DRAM for itself, without caches."""

    @abstractmethod
    def sizes(self) -> Sequence[int]:
        """The bytes of each call, which speeds are counted in."""

    @abstractmethod
    def run(self, unit: Unit, call: int, settings: Mapping[str, ParameterValue]) -> bool:
        """Makes a call of `unit`, whose buffers are free, and returns whether its result is right.

        The cycles of the call are those of the unit's clock during `run`; loading and reading memory takes
        none.
        """

    def model(self, _parameters: Mapping[str, ParameterValue]) -> Design | None:
        """An exact model of the unit with these parameters, to run in the place of its RTL, or None."""
        return None


@dataclass(frozen=True)
class OwnSource:
    """The class `name` of the file `path`."""

    path: Path
    name: str

    def open(self) -> OwnCalls:
        """The calls; raises `RackwrightError` with the file if it has no workload."""
        workload, sizes = _loaded(self, _content(self, self.path))
        read = [self.path, *(self.path.parent / name for name in workload.inputs)]
        contents = [_content(self, path) for path in read]
        return OwnCalls(workload, sizes, content_key(self.name, *contents)[:16])


def _content(source: OwnSource, path: Path) -> str:
    try:
        return path.read_bytes().hex()
    except OSError as error:
        raise RackwrightError(f"{source.path}: {source.name} reads {path.name}: {error.strerror}") from error


@lru_cache(maxsize=1)
def _loaded(source: OwnSource, _content: str) -> tuple[UnitWorkload, tuple[int, ...]]:
    """The workload and the sizes of its calls, cached as long as the file is unchanged."""
    workload = load_workload(source)
    sizes = workload.sizes()
    odd = [size for size in sizes if isinstance(size, bool) or not isinstance(size, int) or size < 0]
    if not sizes or odd:
        what = f"has {odd[0]!r}" if odd else "has no calls"
        raise RackwrightError(
            f"{source.path}: sizes() of {source.name} {what}; it gives the bytes of each call"
        )
    return workload, tuple(sizes)


def load_workload(source: OwnSource) -> UnitWorkload:
    """An object of the class; raises `RackwrightError` that names the file when there is none."""
    spec = importlib.util.spec_from_file_location(f"workload_{source.path.stem}", source.path)
    if spec is None or spec.loader is None:
        raise RackwrightError(f"{source.path}: not a file of Python")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise RackwrightError(f"{source.path}: {type(error).__name__}: {error}") from error
    found = getattr(module, source.name, None)
    if not (isinstance(found, type) and issubclass(found, UnitWorkload)):
        raise RackwrightError(f"{source.path}: has no class {source.name} that derives from UnitWorkload")
    return found()


@dataclass(frozen=True)
class OwnCalls:
    """The interface of a workload."""

    workload: UnitWorkload
    sizes: tuple[int, ...]
    digest: str

    @property
    def known(self) -> list[tuple[int, int]]:
        """The bytes of each call, which are also its compressed size."""
        return [(size, size) for size in self.sizes]

    @property
    def library_ratio(self) -> None:
        """None: there is no compression."""
        return None

    def design(self, config: UnitConfig, *, synthesise: bool) -> BuiltDesign:
        """The unit in RTL, or its model."""
        model = self.workload.model(config.parameters)
        return build_design(config, synthesise=synthesise) if model is None else model_design(model)

    def session(self, point: Point) -> OwnSession:
        """The unit of a point, fresh from reset.

        Raises `RackwrightError` for a placement of a unit that has a memory of its own.
        """
        config, own_memory = point.config, self.workload.own_memory
        if own_memory and config.placement != "near-core":
            raise RackwrightError(f"placement {config.placement}: the unit has a memory of its own")
        model = self.workload.model(config.parameters)
        # Settings are for the calls; the unit alone knows of none.
        unit = Unit(model or replace(config, settings={}), memory=point.timing.memory, own_memory=own_memory)
        return OwnSession(self, unit, point, self._hertz(config) if model is None else model.clock_hz)

    @staticmethod
    def _hertz(config: UnitConfig) -> int:
        if config.is_named:
            return clock_of(elaborate(config.unit, config.parameters), config.clock).hertz
        return clock_of(Path(config.unit), config.clock, config.parameters).hertz


@dataclass(frozen=True)
class OwnSession:
    """A unit that receives the calls of a workload."""

    calls: OwnCalls
    unit: Unit
    point: Point
    hertz: int

    def call(self, index: int) -> Call:
        """One call. A call that accesses memory outside of its buffers is also wrong."""
        self.unit.release_all()
        began, violations = self.unit.cycle, self.unit.violations
        right = self.calls.workload.run(self.unit, index, self.point.config.settings)
        size = self.calls.sizes[index]
        verified = bool(right) and self.unit.violations == violations
        return Call(index, size, size, self.unit.cycle - began, self.hertz, verified)
