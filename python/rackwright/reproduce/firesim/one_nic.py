"""Section 2.4: the bandwidth of one NIC, from node to node, on bare metal."""

from __future__ import annotations

from rackwright.cluster import Cluster, Ethernet, Switch
from rackwright.machine.server import Server
from rackwright.machine.workloads import BareMetal
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

HART_HZ = 2_000_000_000
FRAME_BYTES = 1500
FRAMES, QUICK_FRAMES = 5000, 1000
SLOW_FLITS, SLOW_PERIOD = 25, 256
"""10 Gbit/s at 1.6 GHz: slow enough for the receiver to check every byte."""


def transfer(frames: int, *limit: int, verify_every: int) -> tuple[float, int, str]:
    """Gbit/s from the first request to the last frame's end, frames lost or damaged, and the digest."""
    sink = Server("boom", name="sink", workload=BareMetal("bulk.elf", [str(frames), str(verify_every)]))
    source = Server(
        name="source", workload=BareMetal("bulk.elf", [sink, str(frames), str(FRAME_BYTES), *map(str, limit)])
    )
    switch = Switch(buffer_kib=4096)
    switch.add_downlinks([source, sink])
    ends = [source, sink] if limit else [source]
    result = Cluster(switch, link=Ethernet(latency_us=2)).run(until_ms=100, ends_with=ends)
    report = result.servers.set_index("name")
    seconds = int(report["stdout"]["source"]) / HART_HZ
    wrong = frames if limit and report["exit_code"]["sink"] != 0 else 0
    return frames * FRAME_BYTES * 8 / seconds / 1e9, wrong, result.digest


def measure(settings: Settings) -> Outcome:
    """The rate at which frames leave, and a check that they arrive complete."""
    frames = QUICK_FRAMES if settings.quick else FRAMES
    settings.detail("firesim-bw: as fast as possible")
    fast, _, first = transfer(frames, verify_every=frames)
    settings.detail("firesim-bw: verified")
    slow, wrong, second = transfer(frames // 10, SLOW_FLITS, SLOW_PERIOD, verify_every=1)
    rows = compare(
        "firesim/bandwidth.csv",
        {"one NIC": fast, "one NIC limited to 10 Gbit/s": slow, "frames lost or damaged there": wrong},
    )
    return Outcome(rows, digests=[first, second])


EXPERIMENT = Experiment(
    "firesim-bw",
    "Bandwidth of one NIC",
    "Karandikar 2024, section 2.4",
    "Two servers with NICs in RTL under one switch; a `rocket` core sends numbered frames of 1500 bytes.",
    measure,
)
