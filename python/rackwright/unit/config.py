"""A unit as a value: what is built, what is set at run time, and where in a server it sits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, is_yaml, load_yaml
from rackwright.formats import FORMATS
from rackwright.hardware.clocks import parse_clock
from rackwright.hardware.designs import ParameterValue
from rackwright.hardware.manifests import read_manifest
from rackwright.unit.placements import PLACEMENTS

COMMANDS = ("rocc", "mmio", "queue", "packets", "packets-mirrored")
"""How commands reach a unit: as instructions of a hart, through registers, or from queues in memory, as
descriptors or as packets; `packets-mirrored` has a station behind `network` that sends every frame back."""

SETS = {
    **{each.name: each.units for each in FORMATS.values()},
    "protobuf": ("protobuf-deserialize", "protobuf-serialize"),
}
"""Names that stand for several units."""

_FIELDS = ("unit", "parameters", "settings", "placement", "clock", "command", "plusargs")


def is_placement(text: str) -> bool:
    """Whether it is one of `PLACEMENTS`, or a route of several links."""
    return text in PLACEMENTS or all(link in PLACEMENTS[1:] for link in text.split("+"))


@dataclass(frozen=True)
class UnitConfig:
    """A unit by its name, that of a set, or the path of the manifest of your own.

    `parameters` are those of elaboration, or of the top module of your own; `settings` what commands set at
    run time, for those who give the commands (`codec_unit`, explorations; on a server it is the program).
    `placement` is one of `PLACEMENTS`, or links joined by `+`, the unit's first. `clock` is hertz or
    "synthesised"; without it, `clock_of` says what it is. `command` "mmio" puts the unit behind registers,
    "queue" on a tile that takes descriptors from queues, "packets" on one that takes packets. `plusargs` are
    what `$value$plusargs` finds in its RTL, as "DEPTH=4". A value: equal ones are equal, and it can be a key.
    Raises `RackwrightError` for a placement, clock, command or value that there is not.
    """

    unit: str
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    settings: Mapping[str, ParameterValue] = field(default_factory=dict)
    placement: str = "near-core"
    clock: str | None = None
    command: str = "rocc"
    plusargs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not is_placement(self.placement):
            raise RackwrightError(f"placement is {self.placement!r}; there are {', '.join(PLACEMENTS)}")
        if self.command not in COMMANDS:
            raise RackwrightError(f"command is {self.command!r}; there are {', '.join(COMMANDS)}")
        if self.clock is not None:
            parse_clock(self.clock)
        for part in ("parameters", "settings"):
            for name, value in getattr(self, part).items():
                if isinstance(value, bool) or not isinstance(value, int | str):
                    raise RackwrightError(f"{part}: {name} is {value!r}, neither an integer nor a word")

    def __hash__(self) -> int:
        return hash((self.unit, json.dumps(self._values())))

    @property
    def label(self) -> str:
        """What it is called: by its name, or the one in the manifest of your own."""
        return self.unit if self.is_named else str(read_manifest(Path(self.unit))["unit"])

    def record(self) -> dict[str, Any]:
        """As JSON and data frames hold it: one key for each value."""
        return {"unit": self.label, **self._values()}

    def _values(self) -> dict[str, Any]:
        said = {
            "clock": self.clock,
            "command": None if self.command == "rocc" else self.command,
            "plusargs": " ".join(self.plusargs) or None,
        }
        return {
            **{f"parameters.{name}": value for name, value in sorted(self.parameters.items())},
            **{f"settings.{name}": value for name, value in sorted(self.settings.items())},
            "placement": self.placement,
            **{name: value for name, value in said.items() if value is not None},
        }

    def key(self) -> str:
        """The same for equal values, on every machine."""
        return hashlib.sha256(json.dumps(self.record()).encode()).hexdigest()

    def __str__(self) -> str:
        record = self._values()
        del record["placement"]
        values = [f"{name.split('.')[-1]}={value}" for name, value in record.items()]
        return ", ".join([self.label, *values, self.placement])

    def members(self) -> list[UnitConfig]:
        """The units of a set, or itself."""
        return [replace(self, unit=name) for name in SETS.get(self.unit, (self.unit,))]

    def names(self) -> set[str]:
        """What a command line may call it: its name, for your own also what its manifest says."""
        return {self.unit, self.label}

    @property
    def is_named(self) -> bool:
        """Whether it is one of the product's, and not elaborated yet."""
        return not self.unit.endswith(".json")

    @classmethod
    def load(cls, path: Path) -> UnitConfig:
        """Reads a YAML file with these fields; raises `RackwrightError` that names file and field."""
        reader = DocumentReader(path)
        fields = reader.mapping("it", load_yaml(path), _FIELDS)
        unit = fields.get("unit")
        if not isinstance(unit, str):
            raise reader.error("unit", f"is {unit!r}, not the name of a unit")
        clock = fields.get("clock")
        for part in ("parameters", "settings"):
            fields[part] = reader.mapping(part, fields.get(part), None)
        plusargs = fields.get("plusargs") or []
        if not isinstance(plusargs, list) or not all(isinstance(each, str) for each in plusargs):
            raise reader.error("plusargs", f"is {plusargs!r}, not a list of words")
        said = {"clock": None if clock is None else str(clock), "plusargs": tuple(plusargs)}
        try:
            return cls(**{**fields, **said})
        except RackwrightError as error:
            raise RackwrightError(f"{path}: {error}") from error


def unit_configs(
    named: Sequence[str],
    *,
    parameters: Mapping[str, Mapping[str, ParameterValue]] | None = None,
    placement: str = "near-core",
    clock: str | None = None,
    plusargs: Sequence[str] = (),
) -> list[UnitConfig]:
    """Units as a command line names them: by name, set or manifest, at `placement` and `clock`, or in YAML.

    `parameters` are added to those of the unit that has their name, those of the name "" to those of the only
    unit; `plusargs` to those of each. Raises `RackwrightError` for parameters of a unit that is not there.
    """
    wanted = [
        member
        for name in named
        for member in (
            UnitConfig.load(Path(name))
            if is_yaml(name)
            else UnitConfig(name, placement=placement, clock=clock)
        ).members()
    ]
    given = parameters or {}
    called = [config.names() for config in wanted]
    if len(wanted) == 1:
        called[0].add("")
    elif "" in given:
        names = ", ".join(given[""])
        raise RackwrightError(f"--set: {names} could belong to several units; write UNIT.PARAMETER=VALUE")
    strangers = sorted(set(given) - set().union(*called))
    if strangers:
        raise RackwrightError(f"parameters of {', '.join(strangers)}, which the server does not have")
    return [
        replace(
            config,
            parameters={
                **config.parameters,
                **{name: value for each in names for name, value in given.get(each, {}).items()},
            },
            plusargs=(*config.plusargs, *plusargs),
        )
        for config, names in zip(wanted, called, strict=True)
    ]
