"""Two cards share a port of a switch: the large transfer of one delays the small ones of the other."""

from __future__ import annotations

from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex, System
from rackwright.fabric.fabric import Beside, Fabric, Load, Measured
from rackwright.reports.plots import stacked_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

PUBLISHED_ALONE_US = 2.593
REQUEST_BYTES = 64
"""The network card's read for a write request: its descriptor, which contains the data."""

GPU = Beside("gpu", size=512, outstanding=137)
"""70 KB of outstanding reads: fitted to the published increase. The number for a GPU is not published."""

COUNT, QUICK_COUNT = 400, 60


def system() -> System:
    """A host with a switch below a link of generation 3 with 16 lanes, and two cards below the switch."""
    root, switch = RootComplex(), PcieSwitch(latency_ns=110)
    link = PcieLink(gen=3, lanes=16)
    root.connect(switch, link)
    switch.add_downlinks([Card("traffic", "nic"), Card("traffic", "gpu", parameters={"tags": 256})], link)
    return System.of(root)


def latency(beside: Beside | None, count: int) -> Measured:
    """Of the network card's reads, alone or while the other card copies from the host's memory."""
    return Fabric(system()).measure("latency", [REQUEST_BYTES], Load(count=count), beside)


def measure(settings: Settings) -> Outcome:
    """Some seconds: the copy is simulated for as long as the network card is measured."""
    count = QUICK_COUNT if settings.quick else COUNT
    settings.detail("aurelia-4.2: alone")
    alone = latency(None, count)
    settings.detail("aurelia-4.2: beside a copy")
    congested = latency(GPU, count)
    before, after = alone.rows[0], congested.rows[0]
    # The part of a request besides its read: both network cards, the cable, the other host. It is constant.
    elsewhere = PUBLISHED_ALONE_US - before["median_ns"] / 1e3
    rise = after["median_ns"] - before["median_ns"]
    measured = {
        "write latency, alone (calibrated)": elsewhere + before["median_ns"] / 1e3,
        "write latency, beside a copy to the GPU": elsewhere + after["median_ns"] / 1e3,
        "rise": rise / 1e3,
        "latency beside a copy over alone": (elsewhere * 1e3 + after["median_ns"])
        / (elsewhere * 1e3 + before["median_ns"]),
        "share of the rise in the queue of the shared port": (
            after["parts"]["queue"] - before["parts"]["queue"]
        )
        / rise,
    }
    parts = {name: [row["parts"][name] for row in (before, after)] for name in before["parts"]}
    chart = stacked_chart("A read of the network card, ns", "", ["alone", "beside a copy"], parts)
    return Outcome(compare("fabric/congestion.csv", measured), [chart], [alone.digest, congested.digest])


EXPERIMENT = Experiment(
    "aurelia-4.2",
    "Two cards share a port of a PCIe switch",
    "Wang 2025, section 4.2, figure 4.2",
    "Two units `traffic` in RTL below one switch; one reads the host's memory while the other is measured.",
    measure,
)
