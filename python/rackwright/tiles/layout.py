"""The positions of tiles: the file of `--tiles`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, load_yaml
from rackwright.hardware.designs import ParameterValue
from rackwright.tiles.mesh import TOP_LEFT, Mesh, Place

HART = "hart"
"""The entry of a tile with a core instead of a unit."""

_SWITCHES = ("fixed", "packets", "mirror")

INTERCONNECTS = ("crossbar", "mesh")
"""The paths from harts and units to memory: the same one for all, or the mesh."""

_MESH_FIELDS = ("width", "height", "routing", "networks", "flit_bytes", "depth", "stages")


@dataclass(frozen=True)
class Tile:
    """A tile by its name: a hart, or a unit with parameters of elaboration. A fixed one keeps its place.

    Its unit takes descriptors, or `packets`. With a `mirror`, a station that returns every frame is connected
    to the unit's network port.
    """

    name: str
    at: Place
    holds: str = HART
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    fixed: bool = False
    packets: bool = False
    mirror: bool = False

    @property
    def is_hart(self) -> bool:
        """Whether programs run on it."""
        return self.holds == HART


@dataclass(frozen=True)
class Layout:
    """A mesh, its tiles, the tile with the memory, and the path of accesses to memory.

    Raises `RackwrightError` for tiles beside the mesh, on the same place, or with the same name.
    """

    mesh: Mesh
    tiles: tuple[Tile, ...]
    memory: Place = TOP_LEFT
    interconnect: str = INTERCONNECTS[0]

    def __post_init__(self) -> None:
        places = set(self.mesh.places())
        if self.memory not in places:
            raise RackwrightError(f"memory is at {self.memory}, which is beside the mesh")
        if self.interconnect not in INTERCONNECTS:
            raise RackwrightError(
                f"interconnect is {self.interconnect!r}; there are {', '.join(INTERCONNECTS)}"
            )
        taken: dict[Place, str] = {}
        names = set()
        for tile in self.tiles:
            if tile.at not in places:
                raise RackwrightError(f"tile {tile.name}: {tile.at} is beside the mesh")
            if tile.at in taken:
                raise RackwrightError(f"tile {tile.name}: {tile.at} is the place of {taken[tile.at]}")
            if tile.name in names:
                raise RackwrightError(f"tile {tile.name}: the name is used twice")
            taken[tile.at] = tile.name
            names.add(tile.name)
        if not any(tile.is_hart for tile in self.tiles):
            raise RackwrightError("tiles: no tile has a hart")

    @cached_property
    def by_name(self) -> dict[str, Tile]:
        """The tiles by their names."""
        return {tile.name: tile for tile in self.tiles}

    def moved(self, places: Mapping[str, Place]) -> Layout:
        """The same tiles on other places."""
        tiles = tuple(replace(tile, at=places.get(tile.name, tile.at)) for tile in self.tiles)
        return replace(self, tiles=tiles)

    def text(self) -> str:
        """The file of this layout."""
        mesh = {name: getattr(self.mesh, name) for name in _MESH_FIELDS} | {"memory": list(self.memory)}
        mesh["networks"] = dict(self.mesh.networks)
        mesh["interconnect"] = self.interconnect
        return yaml.safe_dump(
            {"mesh": mesh, "tiles": {tile.name: _described(tile) for tile in self.tiles}},
            sort_keys=False,
            default_flow_style=None,
        )


def _described(tile: Tile) -> dict[str, Any]:
    described: dict[str, Any] = {"at": list(tile.at)}
    described |= {HART: True} if tile.is_hart else {"unit": tile.holds}
    if tile.parameters:
        described["parameters"] = dict(tile.parameters)
    return described | {name: True for name in _SWITCHES if getattr(tile, name)}


def read_layout(path: Path, units: Iterable[str] | None = None) -> Layout:
    """Reads a file of tiles; raises `RackwrightError` that names file and field.

    `units` are the names of those that can be placed on a tile; None accepts any name. Your own unit is named
    by its manifest, whose path begins in the folder of the file.
    """
    reader = DocumentReader(path)
    document = reader.mapping("it", load_yaml(path), ("mesh", "tiles"))
    fields = reader.mapping("mesh", document.get("mesh"), (*_MESH_FIELDS, "memory", "interconnect"))
    if "width" not in fields or "height" not in fields:
        raise reader.error("mesh", "has no width or no height")
    memory = _place(reader, "mesh: memory", fields.pop("memory", [0, 0]))
    interconnect = fields.pop("interconnect", INTERCONNECTS[0])
    if "networks" in fields:
        fields["networks"] = reader.mapping("mesh: networks", fields["networks"], None)
    described = reader.mapping("tiles", document.get("tiles"), None)
    known = None if units is None else sorted(units)
    tiles = tuple(_tile(reader, str(name), value, known) for name, value in described.items())
    try:
        return Layout(Mesh(**fields), tiles, memory, interconnect)
    except RackwrightError as error:
        raise RackwrightError(f"{path}: {error}") from error


def _tile(reader: DocumentReader, name: str, described: Any, units: list[str] | None) -> Tile:
    where = f"tile {name}"
    fields = reader.mapping(where, described, ("at", HART, "unit", "parameters", *_SWITCHES))
    if ("unit" in fields) == bool(fields.get(HART)):
        raise reader.error(where, "is either `hart: true` or has a unit")
    unit = fields.get("unit", HART)
    if not isinstance(unit, str):
        raise reader.error(where, f"has unit {unit!r}, which is no name")
    if unit.endswith(".json"):
        unit = str((reader.path.parent / unit).resolve())
    elif units is not None and unit != HART and unit not in units:
        raise reader.error(
            where, f"has unit {unit}, which cannot be placed on a tile; there are {', '.join(units)}"
        )
    parameters = reader.mapping(f"{where}: parameters", fields.get("parameters"), None)
    at = _place(reader, f"{where}: at", fields.get("at"))
    switches = {switch: bool(fields.get(switch, False)) for switch in _SWITCHES}
    if (switches["packets"] and unit == HART) or (switches["mirror"] and not switches["packets"]):
        raise reader.error(where, "has `packets` without a unit, or `mirror` without `packets`")
    return Tile(name, at, unit, parameters, **switches)


def _place(reader: DocumentReader, where: str, value: Any) -> Place:
    if not (isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value)):
        raise reader.error(where, f"is {value!r}, not a place like [0, 1]")
    return Place(*value)
