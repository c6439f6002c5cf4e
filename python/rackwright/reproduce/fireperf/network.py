"""What helps iperf3 between two Linux servers: table 5.4, and how full the ring of frames to send is, figure 5.5."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright.cluster import Cluster, Ethernet, Switch
from rackwright.errors import RackwrightError
from rackwright.linux.boot import boot
from rackwright.linux.features import NicFeatures
from rackwright.linux.image import Image, build_image, load_image
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.fireperf.copies import KERNEL_OPTIONS, MEMORY_BYTES, SERVER
from rackwright.reproduce.reference import compare
from rackwright.server import Server

SENDS, RECEIVES = "172.16.2.1", "172.16.2.2"
INTERVAL_SECONDS = 0.1
"""The least that iperf3 knows."""

RING = "send_ring_"
"""What the names of events begin with that count cycles by the buffers in the ring of frames to send."""

_INTERVAL = re.compile(r"([\d.]+)-([\d.]+) +sec.* ([\d.]+) Mbits/sec")


@dataclass(frozen=True)
class Step:
    """A system of the table: what its harts and interfaces do, and the longest packet."""

    name: str
    vector: bool = True
    features: NicFeatures = NicFeatures(checksums=True)
    mtu: int = 1500


_EACH_FRAME = NicFeatures(suppression=False)
STEPS = (
    Step("baseline", vector=False, features=_EACH_FRAME),
    Step("vector copies", features=_EACH_FRAME),
    Step("checksum offload", features=NicFeatures(suppression=False, checksums=True)),
    Step("interrupt mitigation"),
    Step("jumbo frames", features=NicFeatures(checksums=True, mergeable=True), mtu=9000),
)
"""Each has what those before it have."""

BASELINE, WITHOUT_MITIGATION, WITH_MITIGATION = STEPS[0], STEPS[2], STEPS[3]
HARTS = {1: "one hart", 2: "two harts"}


@dataclass(frozen=True)
class Transfer:
    """What iperf3 reached, and the share of cycles in which so many frames to send were in the ring."""

    gbps: float
    ring: Mapping[str, float]
    digest: str


@contextmanager
def booted(image: Image, harts: int, *, vector: bool) -> Iterator[Path]:
    """The checkpoint of a machine on which iperf3's server runs."""
    with TemporaryDirectory(prefix="rackwright-") as folder:
        path = Path(folder) / "booted"
        boot(
            image,
            harts=harts,
            memory_bytes=MEMORY_BYTES,
            vector=vector,
            kernel_options=KERNEL_OPTIONS,
            checkpoint=path,
            prepare=SERVER,
        )
        yield path


def transfer(checkpoint: Path, step: Step, *, intervals: int, cpu: str = "rocket") -> Transfer:
    """Has one of two servers send as fast as it can, for so many intervals, of which the last counts.

    Raises `RackwrightError` when iperf3 does not get so far.
    """
    end = f"-{intervals * INTERVAL_SECONDS:.2f} "
    # The other one has its address by then.
    command = (
        f"sleep 0.05; iperf3 -c {RECEIVES} -f m -i {INTERVAL_SECONDS} --forceflush >out &"
        f" while ! grep -q -e '{end}' out; do sleep 0.01; done; cat out"
    )
    common = {"checkpoint": checkpoint, "mtu": step.mtu, "nic_features": step.features}
    receives = Server(cpu, name="receives", ip=RECEIVES, **common)
    sends = Server(cpu, name="sends", ip=SENDS, run=command, **common)
    switch = Switch("tor0", switching_cycles=10)
    switch.add_downlinks([sends, receives])
    result = Cluster(switch, link=Ethernet(gbps=200, latency_us=2)).run(
        until_ms=1000 + 1000 * intervals * INTERVAL_SECONDS,
        ends_with=sends,
        sample_us=1000,
        sample_ports=["sends.port0"],
    )
    server = result.servers.set_index("name").loc["sends"]
    found = _INTERVAL.findall(server["stdout"])
    if len(found) < intervals:
        raise RackwrightError(f"iperf3 ended with status {server['exit_code']}: {server['stderr']}")
    sending = int((result.samples["sent_gbps"] > 0.01).sum()) * result.clock_hz // 1000
    return Transfer(float(found[intervals - 1][2]) / 1e3, shares(server["nic_events"], sending), result.digest)


def shares(events: Mapping[str, int], cycles: int) -> dict[str, float]:
    """Shares of the `cycles` of a transfer, by the buffers in the ring; it was empty in all others of the run."""
    filled = {
        name.removeprefix(RING).replace("_", " to "): count / cycles
        for name, count in events.items()
        if name.startswith(RING) and name != f"{RING}0"
    }
    return {"0": 1 - sum(filled.values())} | filled
