"""The parameters of a unit for the compiler and the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue

LIMITS = {
    "lanes": (8, 256),
    "scratchpad_kib": (4, 256),
    "banks": (1, 16),
    "instruction_kib": (1, 64),
    "loop_depth": (2, 7),
}
"""The minimum and the maximum of each; all but the last one are powers of two."""

OTHERS = ("port_bytes", "outstanding", "command_queue")
"""Parameters of the unit that no program depends on."""


@dataclass(frozen=True)
class Configuration:
    """Lanes, and sizes of memories; the names and defaults are those of the unit's parameters.

    Raises `RackwrightError` for a value that the unit can't be built with.
    """

    lanes: int = 32
    scratchpad_kib: int = 64
    banks: int = 4
    instruction_kib: int = 64
    loop_depth: int = 6

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            power = name != "loop_depth"
            if not least <= value <= most or (power and value & (value - 1)):
                kind = "a power of two " if power else ""
                hyphened = name.replace("_", "-")
                raise RackwrightError(f"{hyphened}: {value} is not allowed; {kind}from {least} to {most}")

    @classmethod
    def of(cls, parameters: Mapping[str, ParameterValue]) -> Configuration:
        """That of a unit with these parameters; raises `RackwrightError` for one that it does not have."""
        known = {field.name for field in fields(cls)}
        chosen = {}
        for name, value in parameters.items():
            own = name.replace("-", "_")
            if own not in known and own not in OTHERS:
                names = ", ".join(each.replace("_", "-") for each in (*LIMITS, *OTHERS))
                raise RackwrightError(f"{name} is not a parameter of drx; it has {names}")
            if not str(value).isdecimal():
                raise RackwrightError(f"{name}: {value} is not an integer")
            if own in known:
                chosen[own] = int(value)
        return cls(**chosen)

    @property
    def line_bytes(self) -> int:
        """Bytes of a vector of the widest type, and of a line of the scratchpad."""
        return 4 * self.lanes

    @property
    def scratchpad_bytes(self) -> int:
        """Size of the scratchpad."""
        return 1024 * self.scratchpad_kib

    @property
    def instructions(self) -> int:
        """The longest program."""
        return 1024 * self.instruction_kib // 4


def model_of(parameters: Mapping[str, ParameterValue]) -> _engine.Design:
    """The exact model of a unit with these parameters; raises as `Configuration.of`, and `EngineError`."""
    chosen = asdict(Configuration.of(parameters))
    others = {name.replace("-", "_"): int(value) for name, value in parameters.items()}
    chosen |= {name: others[name] for name in OTHERS if name in others}
    return _engine.drx_model(**chosen)
