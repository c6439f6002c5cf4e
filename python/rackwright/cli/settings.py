"""The options --set, --clock, --memory and --core: how units are built, and what time depends on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.designs import ParameterValue
    from rackwright.parameters import ServerParameters

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PARAMETER=VALUE", help="A parameter of the unit (`./rw units UNIT`); repeatable."
    ),
]

UnitSetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="UNIT.PARAMETER=VALUE",
        help="A parameter of a unit, snappy-compress.hash-ways=2 (`./rw units UNIT`); repeatable.",
    ),
]

ClockOption = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="HERTZ",
        help="The unit's clock: hertz, or `synthesised`; by default what synthesis supports, at most 2 GHz.",
    ),
]


MemoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--memory",
        metavar="NAME=NUMBER",
        help="A number of caches or DRAM, such as l2-latency=20 (docs/memory-model.md); repeatable.",
    ),
]

CoreOption = Annotated[
    list[str] | None,
    typer.Option(
        "--core",
        metavar="NAME=NUMBER",
        help="A number of the harts' model, such as redirect=14 of boom (docs/memory-model.md); repeatable.",
    ),
]


def parse_unit_settings(settings: list[str] | None) -> dict[str, dict[str, ParameterValue]]:
    """The parameters of --set UNIT.PARAMETER=VALUE by unit; raises `RackwrightError` for other forms."""
    found: dict[str, dict[str, ParameterValue]] = {}
    for name, value in parse_settings(settings).items():
        unit, dot, parameter = name.rpartition(".")
        if not (unit and dot and parameter):
            raise RackwrightError(f"--set: {name}={value} is not UNIT.PARAMETER=VALUE")
        found.setdefault(unit, {})[parameter] = value
    return found


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """The parameters of --set by name; raises `RackwrightError` for what is not PARAMETER=VALUE."""
    found: dict[str, str] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not (name and equals and value):
            raise RackwrightError(f"--set: {setting} is not PARAMETER=VALUE")
        if name in found:
            raise RackwrightError(f"--set: {name} is given more than once")
        found[name] = value
    return found


def parse_timing(memory: list[str] | None, core: list[str] | None) -> ServerParameters:
    """The numbers of --memory and --core. Raises `EngineError` for a memory that cannot be."""
    from rackwright.parameters import ServerParameters

    numbers = parse_numbers("--memory", memory or ())
    ServerParameters(numbers).check("functional")
    return ServerParameters(numbers, parse_numbers("--core", core or ()))


def parse_numbers(option: str, settings: Iterable[str]) -> dict[str, int]:
    """Numbers of NAME=NUMBER by name; raises `RackwrightError` that names the option."""
    found: dict[str, int] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not (name and equals and value.isascii() and value.isdigit()):
            raise RackwrightError(f"{option}: {setting} is not NAME=NUMBER")
        if name in found:
            raise RackwrightError(f"{option}: {name} is given more than once")
        found[name] = int(value)
    return found
