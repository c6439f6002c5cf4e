"""Every reproducible experiment, by its name."""

from __future__ import annotations

from collections.abc import Iterable

from rackwright.errors import RackwrightError
from rackwright.reproduce import daronpon, drx_lanes, drx_stalls, protobuf, protobuf_asic, queueing
from rackwright.reproduce.cdpu import call_sizes, sweeps
from rackwright.reproduce.experiment import Experiment
from rackwright.reproduce.fabric import congestion, pcie, placement
from rackwright.reproduce.fireperf import copies, copying, network, rate, stacks
from rackwright.reproduce.firesim import (
    linux_round_trips,
    memcached_threads,
    one_nic,
    remote_paging,
    round_trips,
    simulation_rate,
    streams,
    thousand_nodes,
)
from rackwright.reproduce.hyperscale import area
from rackwright.reproduce.pengwing import lookups, prototype, secure, sizes

EXPERIMENTS = (
    round_trips.EXPERIMENT,
    linux_round_trips.EXPERIMENT,
    one_nic.EXPERIMENT,
    streams.EXPERIMENT,
    memcached_threads.EXPERIMENT,
    simulation_rate.BY_NODES,
    simulation_rate.BY_LATENCY,
    thousand_nodes.EXPERIMENT,
    remote_paging.EXPERIMENT,
    queueing.EXPERIMENT,
    *protobuf.EXPERIMENTS,
    protobuf_asic.EXPERIMENT,
    call_sizes.EXPERIMENT,
    *sweeps.EXPERIMENTS,
    *daronpon.EXPERIMENTS,
    rate.EXPERIMENT,
    stacks.EXPERIMENT,
    copies.EXPERIMENT,
    copying.EXPERIMENT,
    *network.EXPERIMENTS,
    pcie.EXPERIMENT,
    congestion.EXPERIMENT,
    placement.EXPERIMENT,
    prototype.EXPERIMENT,
    secure.EXPERIMENT,
    lookups.EXPERIMENT,
    *sizes.EXPERIMENTS,
    drx_lanes.EXPERIMENT,
    drx_stalls.EXPERIMENT,
    area.AREA,
    area.CHIP,
)
"""In the order in which they are listed and run."""


def chosen(ids: Iterable[str]) -> list[Experiment]:
    """The experiments with these names, each once; all of them if no name is given.

    Raises `RackwrightError` for an unknown name.
    """
    known = {experiment.id: experiment for experiment in EXPERIMENTS}
    wanted = list(dict.fromkeys(ids)) or list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise RackwrightError(f"no experiment is called {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in wanted]
