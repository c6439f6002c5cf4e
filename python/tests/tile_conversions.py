"""Units with the commands of streams on a tile: a file goes through the queues, and comes back converted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from command_line import REPOSITORY
from tile_programs import run, tiles_of

from rackwright import compile_program
from rackwright.hardware.designs import units

SOURCE = REPOSITORY / "software" / "tiles" / "convert.c"


def commands_of(unit: str) -> dict[str, int]:
    """The numbers of a unit's commands, by name."""
    (found,) = (each for each in units() if each.name == unit)
    ports = [port for port in found.ports if port["contract"] == "command"]
    return {str(each["name"]): int(each["funct"]) for port in ports for each in port["commands"]}


@dataclass(frozen=True)
class Converted:
    """The statuses of a file and of its first half, and what became of the whole file."""

    statuses: list[str]
    output: bytes


class Converter:
    """A unit on a tile, with `parameters` of its elaboration, in a folder of the test."""

    def __init__(self, folder: Path, unit: str, parameters: Mapping[str, object] | None = None) -> None:
        self._folder = folder
        self._functs = commands_of(unit)
        self._tiles = tiles_of(folder, unit, parameters)
        self._program = compile_program([SOURCE])

    def run(self, data: bytes, room: int, **settings: int | bytes) -> Converted:
        """Converts `data` into at most `room` bytes.

        Settings are those of the unit, by name. One of bytes is the address of these bytes in memory, and if
        its name has the ending `_address` and the unit a setting for their number, this is set too.
        """
        source, output = self._folder / "input", self._folder / "output"
        source.write_bytes(data)
        words = [self._word(name, value) for name, value in settings.items()]
        options = ("--write-folder", self._folder, "--", source, output, room, *words)
        record = run(self._tiles, self._program, *options).json()
        assert record["exit_code"] == 0, record
        return Converted(str(record["stdout"]).splitlines(), output.read_bytes())

    def _word(self, name: str, value: int | bytes) -> str:
        if isinstance(value, int):
            return f"{self._functs[name]}={value}"
        file = self._folder / name
        file.write_bytes(value)
        counted = name.removesuffix("address") + "bytes" in self._functs
        return f"{self._functs[name]}@{file}" + "+" * counted
