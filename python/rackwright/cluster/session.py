"""The command line's settings for clusters that a script builds and runs."""

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
    """The observed servers: all servers with a program, or those of `servers`.

    `profiles` receives the observations of each run, by the names of servers.
    """

    watching: Watching
    servers: Sequence[str] = ()
    profiles: list[dict[str, Profile]] = field(default_factory=list)


@dataclass
class Session:
    """Values, and defaults for arguments of `Cluster.run`; `results` receives the result of every run.

    `stepped` is true if a script has advanced a cluster itself (`Cluster.machine`), which has no result. A
    capture of `pcap_ports` is written to `folder`, with a number in its name from the second run on. With
    `only_topology`, the script ends when its first cluster would run, and `topology` is that of this cluster.
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
        """Ends the script here if only the topology is needed."""
        if self.only_topology:
            self.topology = topology
            raise TopologyTaken

    def path(self, name: str, suffix: str, run: int) -> Path | None:
        """The path of a file of the run with that number (from 0)."""
        return self.folder and self.folder / f"{name}{run or ''}{suffix}"


_CURRENT: ContextVar[Session | None] = ContextVar("session", default=None)


def current() -> Session:
    """The current session, or one without settings."""
    return _CURRENT.get() or Session()


class TopologyTaken(BaseException):
    """Ends a script if only the topology of its cluster is needed."""


@contextmanager
def session(asked: Session) -> Iterator[Session]:
    """Until the end of the block, every cluster that is built and run uses `asked`.

    The block ends where a cluster would run if only the topology is needed.
    """
    token = _CURRENT.set(asked)
    try:
        with suppress(TopologyTaken):
            yield asked
    finally:
        _CURRENT.reset(token)
