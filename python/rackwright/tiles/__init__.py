"""Tiles on a mesh: their descriptions, the graphs of services on them, and their placement."""

from rackwright.tiles.check import Verdict, check
from rackwright.tiles.drawing import draw
from rackwright.tiles.graph import Graph, Queue, Service, read_graph
from rackwright.tiles.layout import Layout, Tile, read_layout
from rackwright.tiles.mesh import CLASSES, Channel, Mesh, Place
from rackwright.tiles.placement import Placement, place

__all__ = [
    "CLASSES",
    "Channel",
    "Graph",
    "Layout",
    "Mesh",
    "Place",
    "Placement",
    "Queue",
    "Service",
    "Tile",
    "Verdict",
    "check",
    "draw",
    "place",
    "read_graph",
    "read_layout",
]
