"""The options --set, --clock, --memory and --core: parameters of units and of timing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.errors import RackwrightError
from rackwright.files.document import is_yaml

if TYPE_CHECKING:
    from rackwright.hardware.designs import ParameterValue
    from rackwright.machine.parameters import ServerParameters

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

PlusargOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plusarg",
        metavar="NAME=VALUE",
        help="A plusarg for $value$plusargs in the units' RTL, without the plus sign; repeatable.",
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
        metavar="NAME=NUMBER|FILE.yaml|SERVER",
        help="A number of the clock, caches or DRAM, such as l2-latency=20, a file of numbers, or a server "
        "with a name, such as firesim (docs/memory-model.md); repeatable.",
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


def parse_unit_settings(
    settings: list[str] | None, *, or_of_one: bool = False
) -> dict[str, dict[str, ParameterValue]]:
    """The parameters of --set UNIT.PARAMETER=VALUE by unit; raises `RackwrightError` for other forms.

    With `or_of_one`, parameters in the form PARAMETER=VALUE, which belong to the only unit, have the name "".
    """
    found: dict[str, dict[str, ParameterValue]] = {}
    for name, value in parse_settings(settings).items():
        unit, dot, parameter = name.rpartition(".")
        if not parameter or not (unit if dot else or_of_one):
            raise RackwrightError(f"--set: {name}={value} is not UNIT.PARAMETER=VALUE")
        found.setdefault(unit, {})[parameter] = value
    return found


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """The parameters of --set by name; raises `RackwrightError` if the form is not PARAMETER=VALUE."""
    return _named("--set", "PARAMETER=VALUE", settings, lambda _: True)


def parse_timing(memory: list[str] | None, core: list[str] | None) -> ServerParameters:
    """The numbers of --memory and --core, which override those of the file or server named in --memory.

    Raises `EngineError` for a memory that cannot be, `RackwrightError` for a file or server that is none.
    """
    from rackwright.machine.parameters import ServerParameters

    bases, given = _parted(memory, lambda text: "=" not in text)
    if len(bases) > 1:
        raise RackwrightError(f"--memory: one file or server, not {' and '.join(bases)}")
    base = _base(bases[0]) if bases else ServerParameters()
    numbers = {**base.memory, **_numbers("--memory", given)}
    ServerParameters(numbers).check("functional")
    return ServerParameters(numbers, {**base.core, **_numbers("--core", core)})


def apart(given: list[str] | None) -> tuple[list[str], list[str]]:
    """The words among the values of an option, and the values with numbers: NAME=VALUE, a file, a server."""
    from rackwright.machine.parameters import ServerParameters

    servers = ServerParameters.presets()
    numbers, words = _parted(given, lambda text: "=" in text or is_yaml(text) or text in servers)
    return words, numbers


def _base(name: str) -> ServerParameters:
    """The numbers of a file, or of the server of this name."""
    from rackwright.machine.parameters import ServerParameters

    if is_yaml(name):
        return ServerParameters.load(Path(name))
    if name not in ServerParameters.presets():
        servers = ", ".join(ServerParameters.presets())
        raise RackwrightError(f"--memory: {name} is neither NAME=NUMBER nor FILE.yaml nor one of {servers}")
    return ServerParameters.preset(name)


def _parted(texts: list[str] | None, belongs: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """The parameters of this unit, and the others."""
    given = texts or []
    return list(filter(belongs, given)), list(filterfalse(belongs, given))


def _numbers(option: str, settings: list[str] | None) -> dict[str, int]:
    def is_number(text: str) -> bool:
        return text.isascii() and text.isdigit()

    return {name: int(value) for name, value in _named(option, "NAME=NUMBER", settings, is_number).items()}


def _named(
    option: str, form: str, settings: list[str] | None, allows: Callable[[str], bool]
) -> dict[str, str]:
    """Values by name; raises `RackwrightError` for a wrong `form`, or values out of the range it `allows`."""
    found: dict[str, str] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not (name and equals and value and allows(value)):
            raise RackwrightError(f"{option}: {setting} is not {form}")
        if name in found:
            raise RackwrightError(f"{option}: {name} is given more than once")
        found[name] = value
    return found
