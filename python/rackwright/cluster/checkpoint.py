"""Checkpoints: the state of a cluster in the middle of a run, and how to return to it.

The file begins with a line of JSON: the position of the run. The state of all nodes and links follows, if
every node can be saved. If not, a run returns to the position by repeating it: runs are deterministic, RTL
included. In both cases the digest shows whether it is the same point.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright import _engine
from rackwright.cluster.runners import Runner
from rackwright.errors import RackwrightError
from rackwright.files.whole import make_whole
from rackwright.hardware.toolchain import toolchain

if TYPE_CHECKING:
    from rackwright._engine import Design
    from rackwright.cluster.topology import Topology

_SAVED = ("linux", "program", "server")
"""The kinds of servers whose state is saved."""

_WAIT_US = 1
"""After this time, a state is saved that could not be because a server waited for its network interface."""


@dataclass(frozen=True)
class Checkpoint:
    """A run of the cluster whose description has the hash `cluster` had the `digest` at `cycle`.

    `unsaved` is the reason why the file does not hold the state, or empty.
    """

    cluster: str
    cycle: int
    digest: str
    unsaved: str

    @classmethod
    def read(cls, path: Path, description: str) -> Checkpoint:
        """Raises `RackwrightError` when the file is none, or of another cluster."""
        try:
            with path.open("rb") as file:
                checkpoint = cls(**json.loads(file.readline()))
        except (OSError, ValueError, TypeError) as error:
            raise RackwrightError(f"{path} is not a checkpoint: {error}") from None
        if checkpoint.cluster != hash_of(description):
            raise RackwrightError(f"{path} is a checkpoint of another cluster")
        return checkpoint

    @property
    def line(self) -> bytes:
        """Its first line."""
        return (json.dumps(asdict(self)) + "\n").encode()

    def enter(self, runner: Runner, path: Path) -> None:
        """Lets a run that has not begun continue from the state in the file, if there is one.

        Raises `RackwrightError` for a damaged file, and for a state with another digest.
        """
        if self.unsaved or not runner.saves:
            return
        try:
            runner.machine.restore(str(path), len(self.line))
        except _engine.EngineError as error:
            raise RackwrightError(str(error)) from None
        self.check(runner)

    def check(self, runner: Runner) -> None:
        """Raises `RackwrightError` if the run's state differs from the checkpoint."""
        digest = json.loads(runner.report())["digest"]
        if digest != self.digest:
            raise RackwrightError(
                f"at cycle {self.cycle} the run has the digest {digest}, and not that of the checkpoint, "
                f"{self.digest}: a program, a unit or Rackwright itself has changed since"
            )


def hash_of(description: str) -> str:
    """The representation of a description in a checkpoint."""
    return hashlib.sha256(description.encode()).hexdigest()


def with_state(topology: Topology) -> Mapping[str, Design]:
    """The designs of a topology, with those of servers that can be saved compiled for that."""
    nodes: list[dict[str, Any]] = topology.description["nodes"]
    servers = [node for node in nodes if node["kind"] in _SAVED]
    nics = {node["nic"] for node in servers if "nic" in node}
    saved = nics | {unit["design"] for node in servers for unit in node["units"]}
    return {
        name: toolchain().with_state(design) if name in saved else design
        for name, design in topology.designs.items()
    }


class Checkpoints:
    """Writes a checkpoint at a fixed interval of cycles, which replaces the previous one."""

    def __init__(self, path: Path, every: int, description: str) -> None:
        self._path = path
        self._every = every
        self._cluster = hash_of(description)
        self._wait = max(1, round(json.loads(description)["clock_hz"] * _WAIT_US / 1e6))
        self._is_due = False

    def next_after(self, cycle: int) -> int:
        """The next cycle at which one is due."""
        due = (cycle // self._every + 1) * self._every
        return min(due, cycle + self._wait) if self._is_due else due

    def reach(self, runner: Runner) -> None:
        """Writes one, if this is the time."""
        if self._is_due or runner.machine.cycle % self._every == 0:
            self._is_due = not self._write(runner)

    def write(self, runner: Runner) -> None:
        """Writes one at the end of a run: without the state, if it cannot be saved at this time."""
        if not self._write(runner):
            self._put(runner, "an access to a network interface was under way at the end of the run")

    def _write(self, runner: Runner) -> bool:
        """Returns whether the state can be saved at this time, if at all."""
        if not runner.saves:
            self._put(runner, "several processes have simulated it")
            return True
        try:
            return self._put(runner, "")
        except _engine.EngineError as error:
            self._put(runner, str(error))
            return True

    def _put(self, runner: Runner, unsaved: str) -> bool:
        """Writes the file. A reader finds either the previous checkpoint or this one, never a partial one."""
        machine = runner.machine
        digest = json.loads(runner.report())["digest"]
        if not runner.leads:
            return True
        checkpoint = Checkpoint(self._cluster, machine.cycle, digest, unsaved)

        def make(file: Path) -> None:
            file.write_bytes(checkpoint.line)
            if not unsaved and not machine.save(str(file)):
                raise _BusyError

        try:
            make_whole(self._path, make)
        except _BusyError:
            return False
        return True


class _BusyError(Exception):
    """The state cannot be saved at this time."""


class Return:
    """Checks the run when it is back at a checkpoint."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def next_after(self, cycle: int) -> int:
        """The cycle of the checkpoint, unless it has passed."""
        return self._checkpoint.cycle if cycle < self._checkpoint.cycle else 1 << 62

    def reach(self, runner: Runner) -> None:
        """Checks the run, if this is the cycle."""
        if runner.machine.cycle == self._checkpoint.cycle:
            self._checkpoint.check(runner)
