"""Servers described by files: one in YAML, or those of the cluster that a script runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rackwright.cluster.session import Session, session
from rackwright.cluster.topology import Topology
from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, is_yaml, load_yaml
from rackwright.machine.parameters import ServerParameters
from rackwright.machine.server import Server
from rackwright.machine.workloads import BareMetal, workload_of
from rackwright.machine_map.parts import ServerMap, map_server

_OF_WORKLOADS = tuple(inspect.signature(workload_of).parameters)
_FIELDS = tuple(name for name in inspect.signature(Server).parameters if name != "workload")


def load_servers(path: Path, execute: Callable[[Path], object]) -> list[ServerMap]:
    """The servers of a file, by their parts.

    A YAML file describes one server, with the arguments of `Server` and those of `workload_of`. A script is
    run by `execute`, up to the start of its first cluster. Raises `RackwrightError` for an error in the file,
    and for a script that runs no cluster.
    """
    if is_yaml(path.name):
        return [_described(path)]
    if not path.is_file():
        raise RackwrightError(f"{path}: no such file" + (", but a folder" if path.is_dir() else ""))
    asked = Session(only_topology=True)
    with session(asked):
        execute(path)
    if asked.topology is None:
        raise RackwrightError(f"{path}: the script ended without running a cluster: Cluster(…).run(…)")
    return servers_of(asked.topology)


def servers_of(topology: Topology) -> list[ServerMap]:
    """The servers of a topology that have harts, in its order."""
    found = ((node, name) for node, name in topology.names.items() if isinstance(node, Server))
    return [map_server(server, name, networked=True) for server, name in found]


def _described(path: Path) -> ServerMap:
    reader = DocumentReader(path)
    fields = reader.mapping("it", load_yaml(path), _FIELDS)
    timing: dict[str, Any] = reader.mapping("timing", fields.get("timing"), ("memory", "core"))
    parts = {name: fields.pop(name) for name in _OF_WORKLOADS if name in fields}
    try:
        workload = workload_of(**parts)
        server = Server(**{**fields, "timing": ServerParameters(**timing)}, workload=workload)
    except (RackwrightError, TypeError) as error:
        raise RackwrightError(f"{path}: {error}") from error
    networked = isinstance(workload, BareMetal) or fields.get("nic") is not None
    return map_server(server, server.name or "server", networked=networked)
