"""The timing parameters of a server, except its units: the numbers of caches, DRAM and harts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, load_yaml

_PRESETS = Path(__file__).parents[1] / "servers"
"""A file for each server that has a name; docs/memory-model.md lists them."""


@dataclass(frozen=True)
class Parameter:
    """A parameter: its default, and its minimum and maximum."""

    name: str
    default: int
    least: int
    most: int


def memory_parameters() -> list[Parameter]:
    """The numbers of caches and DRAM, and the clock, which docs/memory-model.md explains."""
    return [Parameter(*row) for row in _engine.memory_parameters()]


def core_parameters(cpu: str) -> list[Parameter]:
    """The numbers of harts of the model `cpu`: none of "functional". Raises `EngineError` for no model."""
    return [Parameter(*row) for row in _engine.core_parameters(cpu)]


@dataclass(frozen=True)
class ServerParameters:
    """Numbers that replace defaults, by name: of clock, caches and DRAM (`memory`), of harts (`core`).

    A value: equal ones are equal, and it can be a key. Every user of a value checks it first.
    """

    memory: Mapping[str, int] = field(default_factory=dict)
    core: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in ("memory", "core"):
            numbers = getattr(self, part)
            wrong = [name for name, value in numbers.items() if type(value) is not int or value < 0]
            if wrong:
                raise RackwrightError(f"{part}: {wrong[0]} is a number, not {numbers[wrong[0]]!r}")

    def __hash__(self) -> int:
        return hash((frozenset(self.memory.items()), frozenset(self.core.items())))

    def check(self, cpu: str) -> None:
        """Raises `EngineError` for names unknown to harts of `cpu` or memory, and for invalid values."""
        _engine.check_parameters(cpu, self.memory, self.core)

    def describe(self) -> dict[str, dict[str, int]]:
        """The values in the format of `load`, by name."""
        return {"memory": dict(sorted(self.memory.items())), "core": dict(sorted(self.core.items()))}

    @staticmethod
    def presets() -> list[str]:
        """The names of the built-in servers."""
        return sorted(path.stem for path in _PRESETS.iterdir())

    @classmethod
    def preset(cls, name: str) -> ServerParameters:
        """The server of this name; raises `RackwrightError` that lists all of them for another."""
        if name not in cls.presets():
            raise RackwrightError(f"no server {name}; there are {', '.join(cls.presets())}")
        return cls.load(_PRESETS / f"{name}.yaml")

    @classmethod
    def load(cls, path: Path) -> ServerParameters:
        """Reads a YAML file in the format of `describe`; raises `RackwrightError` with file and part."""
        reader = DocumentReader(path)
        parts = reader.mapping("it", load_yaml(path), ("memory", "core"))
        memory, core = (reader.mapping(part, parts.get(part), None) for part in ("memory", "core"))
        try:
            return cls(memory, core)
        except RackwrightError as error:
            raise RackwrightError(f"{path}: {error}") from error
