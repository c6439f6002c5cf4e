"""Checkpoints: the position of a run, and how to return to it.

A checkpoint holds no state. Runs are deterministic, RTL included, so that repeating the run restores any
point; the digest verifies that it is the same point.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rackwright.cluster.runners import Runner
from rackwright.errors import RackwrightError
from rackwright.whole import write_whole


@dataclass(frozen=True)
class Checkpoint:
    """A run of the cluster whose description has the hash `cluster` had the `digest` at `cycle`."""

    cluster: str
    cycle: int
    digest: str

    @classmethod
    def read(cls, path: Path, description: str) -> Checkpoint:
        """Raises `RackwrightError` when the file is none, or of another cluster."""
        try:
            checkpoint = cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise RackwrightError(f"{path} is not a checkpoint: {error}") from None
        if checkpoint.cluster != hash_of(description):
            raise RackwrightError(f"{path} is a checkpoint of another cluster")
        return checkpoint

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


class Checkpoints:
    """Writes a checkpoint at a fixed interval of cycles, which replaces the previous one."""

    def __init__(self, path: Path, every: int, description: str) -> None:
        self._path = path
        self._every = every
        self._cluster = hash_of(description)

    def next_after(self, cycle: int) -> int:
        """The next cycle at which one is due."""
        return (cycle // self._every + 1) * self._every

    def reach(self, runner: Runner) -> None:
        """Writes one, if this is the time."""
        if runner.machine.cycle % self._every == 0:
            self.write(runner)

    def write(self, runner: Runner) -> None:
        """Writes one. A reader finds either the previous checkpoint or this one, never a partial one."""
        checkpoint = Checkpoint(self._cluster, runner.machine.cycle, json.loads(runner.report())["digest"])
        if not runner.leads:
            return
        write_whole(self._path, json.dumps(asdict(checkpoint)) + "\n")


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
