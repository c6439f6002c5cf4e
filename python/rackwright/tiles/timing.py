"""The mesh of a layout as the interconnect between harts, units and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rackwright.tiles.layout import Layout
from rackwright.tiles.mesh import CLASSES

if TYPE_CHECKING:
    from rackwright import _engine


def chip_mesh(layout: Layout, *, record: bool = False) -> _engine.ChipMesh:
    """The mesh that times the messages of runs; with `record` it keeps those of one run, for a replay."""
    from rackwright import _engine

    mesh = layout.mesh
    numbers = {place: number for number, place in enumerate(mesh.places())}

    def tiles(*, with_hart: bool) -> list[int]:
        return [numbers[tile.at] for tile in layout.tiles if tile.is_hart == with_hart]

    return _engine.ChipMesh(
        **mesh.shape(),
        flit_bytes=mesh.flit_bytes,
        networks=[mesh.networks[name] for name in CLASSES],
        memory=numbers[layout.memory],
        harts=tiles(with_hart=True),
        units=tiles(with_hart=False),
        record=record,
    )


def mesh_of_run(layout: Layout) -> _engine.ChipMesh | None:
    """The mesh that memory is behind; None if it is behind a crossbar."""
    return chip_mesh(layout) if layout.interconnect == "mesh" else None
