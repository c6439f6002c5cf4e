"""The options --set and --clock: how a unit is elaborated and how fast it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.designs import ParameterValue

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PARAMETER=VALUE", help="A parameter of the unit (`./rw units UNIT`); repeatable."
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
