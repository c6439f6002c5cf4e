"""What the command line asks of the clusters that a script makes and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.cluster.pace import Progress
from rackwright.cluster.result import ClusterResult
from rackwright.cluster.settings import Settings

if TYPE_CHECKING:
    from rackwright.cluster.topology import Topology
    from rackwright.profiling import Profile, Watching


@dataclass
class Observing:
    """Servers are observed: all that run a program, or those of `servers`.

    `profiles` gets what was seen, run by run, by the names of servers.
    """

    watching: Watching
    servers: Sequence[str] = ()
    profiles: list[dict[str, Profile]] = field(default_factory=list)


@dataclass
class Session:
    """Values, and defaults for what `Cluster.run` is not told; `results` gets what every run leaves behind.

    `stepped` says that a script has advanced a cluster itself (`Cluster.machine`), which leaves no result. A
    capture of `pcap_ports` goes to `folder`, with a number in its name from the second run on. With
    `only_topology` the script ends where its first cluster would run, and `topology` is that cluster's.
    """

    settings: Settings = field(default_factory=Settings)
    threads: int | None = None
    pcap_ports: Sequence[str] = ()
    folder: Path | None = None
    checkpoint: Path | None = None
    checkpoint_us: float | None = None
    restart: Path | None = None
    progress: Progress | None = None
    results: list[ClusterResult] = field(default_factory=list)
    stepped: bool = False
    observing: Observing | None = None
    only_topology: bool = False
    topology: Topology | None = None

    def take_topology(self, topology: Topology) -> None:
        """Ends the script here when only the topology is wanted."""
        if self.only_topology:
            self.topology = topology
            raise TopologyTaken

    def path(self, name: str, suffix: str, run: int) -> Path | None:
        """Where a file of the run with that number (from 0) goes."""
        return self.folder and self.folder / f"{name}{run or ''}{suffix}"


_CURRENT: ContextVar[Session | None] = ContextVar("session", default=None)


def current() -> Session:
    """The session that is under way, or one that asks for nothing."""
    return _CURRENT.get() or Session()


class TopologyTaken(BaseException):
    """Ends a script of whose cluster only the topology was wanted."""


@contextmanager
def session(asked: Session) -> Iterator[Session]:
    """Until the end of the block, every cluster that is made and run does as `asked`.

    The block ends where a cluster would run of which only the topology is wanted.
    """
    token = _CURRENT.set(asked)
    try:
        with suppress(TopologyTaken):
            yield asked
    finally:
        _CURRENT.reset(token)
