"""iperf3 between two Linux servers: tables 5.1 and 5.4, and the fill of the ring of frames, figure 5.5."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cluster import Cluster, Ethernet, Switch
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import design, manifest_of
from rackwright.linux.features import NicFeatures
from rackwright.linux.image import build_image, load_image
from rackwright.machine.server import Server
from rackwright.machine.workloads import Linux
from rackwright.reports.plots import Bar, bar_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.fireperf import copies
from rackwright.reproduce.fireperf.copies import booted
from rackwright.reproduce.guests import later
from rackwright.reproduce.reference import compare

if TYPE_CHECKING:
    import pandas as pd

SENDS, RECEIVES = "172.16.2.1", "172.16.2.2"
INTERVAL_SECONDS = 0.1
"""The minimum of iperf3."""

LIMIT_MS = 260
"""By then the interval has passed in all runs, whether iperf3 has reported it or not."""

NIC = {"virtio": 1, "network-bytes": 16, "buffer-kib": 256}
"""Parameters of the interfaces: the usual buffer holds three packets of 9000 bytes, too few here."""

BUFFERS = (
    "echo '4096 4194304 6291456' >/proc/sys/net/ipv4/tcp_rmem;"
    " echo '4096 16384 1048576' >/proc/sys/net/ipv4/tcp_wmem"
)
"""The receive buffer of a socket has 4 MiB from the beginning, and at most 1 MiB is in flight.

By default the one begins with 128 KiB, and the other grows up to 4 MiB. With long packets, the receive buffer
is full before it has grown: the kernel compacts its contents, which takes half of the receiver's time. With 2
MiB, this happens later, for 20 ms each time. The limited data in flight never fill it.
"""

RING = "nic_send_ring_"
"""The prefix of columns that count cycles by the buffers in the ring of frames to send."""

_LEAST_GBPS = 0.01
"""A port that sends less than that does not send iperf3's data, but talks."""

_RATE = re.compile(r"([\d.]+) Mbits/sec")


@dataclass(frozen=True)
class Step:
    """A system of the table: features of its interfaces and harts, maximum packet, and mode of sending.

    One by one: the kernel passes each packet to the interface separately, instead of all those of a large
    segment at once.
    """

    name: str
    features: NicFeatures
    vector: bool = True
    mtu: int = 1500
    each_by_itself: bool = False

    @property
    def packages(self) -> list[str]:
        """Debian's, that the servers need."""
        return ["iperf3", *(["iproute2"] if self.each_by_itself else [])]


PLACES = {1: "", 2: "-A 1,1 "}
"""By number of harts: the hart of iperf3 on both servers. Of two it has the one that the interface does not
interrupt.

Left to the scheduler, which hart that is differs from run to run with the same buffers or nearly so, and with
it the rate of long packets, 5.5 to 7.7 Gbit/s.
"""

_EACH_FRAME = NicFeatures(suppression=False)
STEPS = (
    Step("baseline", _EACH_FRAME, vector=False),
    Step("vector copies", _EACH_FRAME),
    Step("checksum offload", NicFeatures(suppression=False, checksums=True)),
    Step("interrupt mitigation", NicFeatures(checksums=True)),
    Step("jumbo frames", NicFeatures(checksums=True, mergeable=True), mtu=9000),
)
"""Each step includes the previous ones."""

BASELINE, WITHOUT_MITIGATION, WITH_MITIGATION = STEPS[0], STEPS[2], STEPS[3]
EACH_BY_ITSELF = Step("each frame by itself", _EACH_FRAME, vector=False, each_by_itself=True)
"""The baseline with a driver like the paper's, which passes one frame at a time to the interface."""

_APART = "/usr/bin/ip link set dev eth0 gso_max_segs 1; "
"""Makes the kernel use segments of only one packet; busybox's `ip` does not support this."""

HARTS = {1: "one hart", 2: "two harts"}


@dataclass(frozen=True)
class Transfer:
    """The bandwidth, and the number of cycles by frames to send in the ring, from none on."""

    gbps: float
    ring: Mapping[str, int]
    digest: str


def transfer(checkpoint: Path, step: Step, place: str = "", cpu: str = "rocket", seed: int = 0) -> Transfer:
    """Lets one of two servers send as fast as possible, until iperf3 has reported the bandwidth.

    `place` is iperf3's option for its harts, of `PLACES`. If interrupts leave no time to the thread that
    reports it, the data sent by the server's port are used. Raises `RackwrightError` if that was nothing.
    """
    # The other one has its address by then. Interrupts may keep the shell from seeing that it may end.
    apart = _APART if step.each_by_itself else ""
    client = f"iperf3 -c {RECEIVES} {place}-f m -i {INTERVAL_SECONDS} --forceflush"
    begin = later(0.05, seed)
    command = f"{begin}{apart}{client} | tee out & while ! grep -q 'Mbits/sec' out; do sleep 0.01; done"
    nic = design(manifest_of("nic", NIC))
    server = partial(Server, cpu, mtu=step.mtu, nic=nic, nic_features=step.features)
    receives = server(name="receives", ip=RECEIVES, workload=Linux(checkpoint=checkpoint))
    sends = server(name="sends", ip=SENDS, workload=Linux(run=command, checkpoint=checkpoint))
    switch = Switch("tor0", switching_cycles=10)
    switch.add_downlinks([sends, receives])
    result = Cluster(switch, link=Ethernet(gbps=200, latency_us=2)).run(
        until_ms=LIMIT_MS,
        ends_with=sends,
        sample_us=1000,
        sample_ports=["sends.port0"],
    )
    row = next(row for row in result.record()["servers"] if row["name"] == "sends")
    found = _RATE.findall(row["stdout"])
    gbps = float(found[0]) / 1e3 if found else carried(result.samples, step.mtu)
    if gbps == 0:
        status = row["exit_code"]
        ended = f"has sent nothing in {LIMIT_MS} ms" if status is None else f"ended with status {status}"
        raise RackwrightError(f"{step.name}: iperf3 {ended}: {row['stderr']}")
    sending = int((result.samples["sent_gbps"] > _LEAST_GBPS).sum()) * result.clock_hz // 1000
    return Transfer(gbps, fills(row, sending), result.digest)


def carried(samples: pd.DataFrame, mtu: int) -> float:
    """The traffic of a port for iperf3 in the interval from its first millisecond of data on, in Gbit/s.

    `samples` are for each millisecond. Headers do not count: 14 bytes of Ethernet, 20 of IP, 32 of TCP.
    """
    sent = samples[samples["sent_gbps"] > _LEAST_GBPS]
    if sent.empty:
        return 0.0
    first = sent["time_us"].iloc[0]
    within = sent[sent["time_us"] < first + INTERVAL_SECONDS * 1e6]
    return float(within["sent_gbps"].sum()) / (INTERVAL_SECONDS * 1e3) * (mtu - 52) / (mtu + 14)


def fills(counts: Mapping[str, Any], cycles: int) -> dict[str, int]:
    """The `cycles` of a transfer by the buffers in the ring, which was empty in uncounted ones."""
    filled = {
        name.removeprefix(RING).replace("_", " to "): count
        for name, count in counts.items()
        if name.startswith(RING) and name != f"{RING}0"
    }
    return {"0": cycles - sum(filled.values())} | filled


_DONE: dict[tuple[int, int, Step], Transfer] = {}
"""By seed, harts and step: experiments that are run together share them, for each would be the same again."""


def transfers(settings: Settings, harts: int, steps: Sequence[Step], told: str) -> dict[str, Transfer]:
    """The bandwidth of each step, by its name."""
    seed = settings.seed
    missing = [step for step in steps if (seed, harts, step) not in _DONE]
    for (vector, packages), alike in groupby(missing, key=lambda step: (step.vector, step.packages)):
        settings.detail(f"{told}: image with {' and '.join(packages)}")
        image = load_image(build_image(packages, tell=settings.detail))
        settings.detail(f"{told}: boot, {HARTS[harts]}")
        with booted(image, harts, vector=vector, before=BUFFERS) as checkpoint:
            for step in alike:
                settings.detail(f"{told}: {step.name}, {HARTS[harts]}")
                _DONE[seed, harts, step] = transfer(checkpoint, step, PLACES[harts], seed=seed)
    return {step.name: _DONE[seed, harts, step] for step in steps}


def measure_steps(settings: Settings) -> Outcome:
    """Table 5.4; a quick run has one hart only."""
    measured: dict[str, float] = {}
    digests: list[str] = []
    for harts, called in list(HARTS.items())[: 1 if settings.quick else None]:
        done = transfers(settings, harts, STEPS, "fireperf-t5.4")
        rates = [done[step.name].gbps for step in STEPS]
        measured |= {f"{called}, {step.name}": rate for step, rate in zip(STEPS, rates, strict=True)}
        gains = zip(STEPS[1:], pairwise(rates), strict=True)
        measured |= {f"{called}, gain of {step.name}": now / before for step, (before, now) in gains}
        measured[f"{called}, all over baseline"] = rates[-1] / rates[0]
        digests += [one.digest for one in done.values()]
    return Outcome(compare("fireperf/network.csv", measured, partial=settings.quick), digests=digests)


def measure_ring(settings: Settings) -> Outcome:
    """Figure 5.5: cycles by the frames to send that are in the ring."""
    steps = {
        "baseline": EACH_BY_ITSELF,
        "optimized, no interrupt mitigation": WITHOUT_MITIGATION,
        "optimized, with interrupt mitigation": WITH_MITIGATION,
    }
    done = transfers(settings, 1, list(steps.values()), "fireperf-5.5")
    rings = {called: done[step.name].ring for called, step in steps.items()}
    measured = {
        f"{called}, {quantity}": value
        for called, ring in rings.items()
        for quantity, value in ring_quantities(ring).items()
    }
    rows = compare("fireperf/send_ring.csv", measured, partial=settings.quick)
    return Outcome(rows, [ring_chart(rings)], [one.digest for one in done.values()])


def ring_quantities(ring: Mapping[str, int]) -> dict[str, float]:
    """Statistics of one ring: how often it is not empty, its mean fill then, and the cycles at each fill."""
    filled = {fill: cycles for fill, cycles in ring.items() if fill != "0"}
    occupied = sum(filled.values())
    least = sum(int(fill.split()[0]) * cycles for fill, cycles in filled.items())
    return {
        "not empty": occupied / sum(ring.values()),
        "frames while not empty, at least": least / max(1, occupied),
        **{f"cycles at {fill}": cycles for fill, cycles in filled.items()},
    }


def ring_chart(rings: Mapping[str, Mapping[str, int]]) -> str:
    """Bars for each fill but none, as the paper's: one for each system, in the order of `rings`."""
    colours = ("host", "core", "unit")
    fills = [fill for fill in next(iter(rings.values())) if fill != "0"]
    bars = [
        Bar(fill if style == colours[0] else "", ring[fill], f"{ring[fill]:,} {called}", style)
        for fill in fills
        for style, (called, ring) in zip(colours, rings.items(), strict=True)
    ]
    return bar_chart("cycles by the frames to send in the ring", bars)


def measure_baseline(settings: Settings) -> Outcome:
    """Table 5.1, with the available kernel."""
    measured: dict[str, float] = {}
    digests: list[str] = []
    image = load_image(build_image(["iperf3"], tell=settings.detail))
    client = f"iperf3 -c 127.0.0.1 -J {copies.QUICK_LENGTH if settings.quick else copies.LENGTH}"
    command = f"{later(0, settings.seed)}{client}"
    for harts, called in HARTS.items():
        networked = transfers(settings, harts, [BASELINE], "fireperf-t5.1")[BASELINE.name]
        settings.detail(f"fireperf-t5.1: loopback, {called}")
        loopback = copies.transfer(image, command, vector=False, harts=harts)
        measured |= {
            f"networked, {called}": networked.gbps,
            f"loopback, {called}": copies.bandwidth(loopback) / 1e9,
        }
        digests += [networked.digest, loopback.digest]
    return Outcome(compare("fireperf/baseline.csv", measured, partial=settings.quick), digests=digests)


_RUNS = (
    "2 `rocket` servers that run Debian's Linux, from a checkpoint, with virtio NICs in RTL of 200 Gbit/s"
    " under one switch; iperf3 sends from one to the other for a tenth of a second."
)

EXPERIMENTS = (
    Experiment(
        "fireperf-t5.1",
        "iperf3 before anything is done for it",
        "Karandikar 2020 (ASPLOS), table 1; chapter 5 of his thesis, table 5.1",
        f"{_RUNS} And iperf3 through the loopback interface of one such server. One hart and two.",
        measure_baseline,
        guests=True,
    ),
    Experiment(
        "fireperf-t5.4",
        "What helps iperf3 between two servers",
        "Karandikar 2020 (ASPLOS), table 4; chapter 5 of his thesis, table 5.4",
        f"{_RUNS} One after the other come vector copies, checksums in the interface, interrupts only when"
        " the driver wants them, and packets of 9000 bytes; on one hart and on two.",
        measure_steps,
        guests=True,
    ),
    Experiment(
        "fireperf-5.5",
        "How full the ring of frames to send is",
        "Karandikar 2020 (ASPLOS), figure 5; chapter 5 of his thesis, figure 5.5",
        f"{_RUNS} Cycles are counted by the frames that the sending interface knows of and has not sent. In"
        " the baseline the kernel gives it each frame by itself, as the paper's driver does.",
        measure_ring,
        guests=True,
    ),
)
