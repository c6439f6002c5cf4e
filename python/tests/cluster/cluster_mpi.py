"""Runs scripts with clusters under `mpirun`, as on one machine and as on two."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun here")

_ENVIRONMENT = {
    **os.environ,
    # Processes of tests outnumber processors, and tests may run as root in a container.
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    # How many seconds after a loss mpirun kills the others: more than 1 where the machine is busy.
    "OMPI_MCA_odls_base_sigkill_timeout": "4",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


@dataclass(frozen=True)
class Ended:
    """How all ranks ended."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Hosts:
    """Where ranks run: the command that gets `mpirun` to the first host, and options that name all."""

    command: Sequence[str] = ()
    options: Sequence[str] = ()


def mpirun(ranks: int, arguments: Sequence[object], hosts: Hosts | None = None) -> Ended:
    """Runs `rw run ARGUMENTS` on so many ranks."""
    where = hosts or Hosts()
    command = [
        *where.command,
        "mpirun",
        "-n",
        ranks,
        *where.options,
        sys.executable,
        "-m",
        "rackwright.cli",
        "run",
        *arguments,
    ]
    result = subprocess.run(
        [str(word) for word in command],
        env=_ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Ended(result.returncode, result.stdout, result.stderr)


def script(folder: Path, body: str = "") -> Path:
    """Two racks of busy servers, run for 2 ms; `body` comes before, and may use `ranks`."""
    path = folder / "cluster.py"
    path.write_text(_SCRIPT.replace("BODY", body), encoding="utf-8")
    return path


_SCRIPT = """
from rackwright import Cluster, Switch, Traffic
from rackwright.cluster import Exponential, Poisson
from rackwright.cluster.ranks import world

ranks = world()
BODY
root, tors = Switch("root"), [Switch("tor0"), Switch("tor1"), Switch("tor2")]
root.add_downlinks(tors)
servers = [Traffic(f"server{n}", service=Exponential(20), cores=4, queue=3) for n in range(6)]
for n, tor in enumerate(tors):
    clients = [Traffic(f"client{n}-{k}", sends=Poisson(rate=200_000), to=servers) for k in range(3)]
    tor.add_downlinks([*clients, *servers[2 * n : 2 * n + 2]])
Cluster(root, seed=5).run(until_ms=2)
"""
