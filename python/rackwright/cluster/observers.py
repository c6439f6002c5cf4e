"""Servers of a cluster whose harts are observed."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rackwright import _engine
from rackwright.cluster.ranks import world
from rackwright.cluster.result import ClusterResult
from rackwright.cluster.session import Session
from rackwright.cluster.topology import Topology
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.profiling.observed import Profile


_OBSERVABLE = ("server", "program", "linux")
"""Kinds of nodes with harts."""


def observers_of(asked: Session, topology: Topology) -> dict[str, _engine.Observer]:
    """Returns an observer for each observed server, by name.

    Raises `RackwrightError` when there is none with harts, when a name is none of them, and when several
    processes share the cluster.
    """
    observing = asked.observing
    if observing is None:
        return {}
    if world():
        raise RackwrightError("one process observes: run without mpirun")
    servers = [node["name"] for node in topology.description["nodes"] if node["kind"] in _OBSERVABLE]
    if not servers:
        raise RackwrightError("no server of the cluster has harts that can be observed")
    unknown = [name for name in observing.servers if name not in servers]
    if unknown:
        raise RackwrightError(f"no server is called {unknown[0]}; there are {', '.join(servers)}")
    number = len(observing.profiles) or ""
    return {
        name: observing.watching.of_server(f"{name}{number}").observer()
        for name in observing.servers or servers
    }


def _software(node: Mapping[str, Any]) -> str:
    """The kind of workload on a server, in one word."""
    return "linux" if node["kind"] == "linux" else str(node["program"]).rsplit("/", 1)[-1]


def profiles_of(
    observers: Mapping[str, _engine.Observer], topology: Topology, result: ClusterResult
) -> dict[str, Profile]:
    """The observations by server, after the run has ended and its cluster has been dropped."""
    from rackwright.profiling.observed import Profile

    # Observers return their observations when their harts are dropped.
    gc.collect()
    nodes = {node["name"]: node for node in topology.description["nodes"]}
    ended = result.servers.set_index("name")["exit_code"]
    return {
        name: Profile.of(
            observer,
            command=f"{name}: {_software(nodes[name])}",
            cpu=nodes[name].get("cpu", "rocket"),
            exit_code=0 if ended[name] is None or ended[name] != ended[name] else int(ended[name]),
            digest=result.digest,
            wall_seconds=result.wall_seconds,
        )
        for name, observer in observers.items()
    }
