"""The named configurations of the units, which have rows in validation/synthesis/table.csv."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rackwright.hardware.designs import Elaboration, ParameterValue, units


@dataclass(frozen=True)
class Configuration:
    """A unit with its non-default properties: parameters, translation, behind registers ("mmio")."""

    unit: str
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    translation: bool = False
    command: str = "rocc"

    @property
    def name(self) -> str:
        """The unit and its parameters in one word, as tables show them."""
        settings = [f"{name}={value}" for name, value in self.parameters]
        translation = ["translation=on"] if self.translation else []
        command = [f"command={self.command}"] if self.command != "rocc" else []
        return ",".join([self.unit, *settings, *translation, *command])

    @property
    def elaboration(self) -> Elaboration:
        """The source of its RTL."""
        return Elaboration(
            self.unit, dict(self.parameters), command=self.command, translation=self.translation
        )


_VARIED: dict[str, tuple[dict[str, ParameterValue], ...]] = {
    "snappy-decompress": ({"history-kib": 2},),
    "snappy-compress": ({"hash-log2": 9},),
    "zstd-decompress": ({"speculation": 4}, {"speculation": 32}, {"streaming": 1}),
    "zstd-compress": ({"streaming": 1},),
    "deflate-decompress": ({"streaming": 1},),
    "combined-compress": ({"streaming": 1},),
    "combined-decompress": ({"streaming": 1},),
    "nic": ({"network-bytes": 16}, {"virtio": 1}, {"network-bytes": 16, "virtio": 1}),
    "store": ({"protocol": "text"},),
    "network": ({"shared": 1},),
    "ordered-index": ({"cache": "address"},),
}
"""Configurations of experiments and servers in addition to the default of every unit."""

_INSTEAD: dict[str, dict[str, ParameterValue]] = {"drx": {"lanes": 128}}
"""Configurations in the place of a unit's default: `drx` as the text has it, with four times the lanes."""

_TRANSLATED = frozenset(
    {"snappy-decompress", "snappy-compress", "protobuf-deserialize", "protobuf-serialize"}
)
"""Units with a row for `rw boot`, too, which has them translate."""

_ON_TILES = (
    Configuration("stream-copy", command="queue"),
    Configuration("stream-copy", translation=True, command="queue"),
    Configuration("stream-copy", command="packets"),
)
"""The engines of tiles, each with the smallest unit."""


def is_configuration(unit: str, parameters: Mapping[str, ParameterValue]) -> bool:
    """Whether the unit with these parameters has a row, by its name; defaults may be among them."""
    wanted = Elaboration(unit, parameters).folder
    return any(each.elaboration.folder == wanted for each in configurations() if each.unit == unit)


def configurations() -> list[Configuration]:
    """Every finished unit in its configuration, in variants of experiments, and with translation.

    Third-party RTL changes from day to day; it runs at its declared clock.
    """
    found = []
    for unit in units():
        if not unit.status.startswith("ready"):
            continue
        found.append(Configuration(unit.name, tuple(_INSTEAD.get(unit.name, {}).items())))
        for parameters in _VARIED.get(unit.name, ()):
            found.append(Configuration(unit.name, tuple(parameters.items())))
        if unit.name in _TRANSLATED:
            found.append(Configuration(unit.name, translation=True))
        found.extend(each for each in _ON_TILES if each.unit == unit.name)
    return found
