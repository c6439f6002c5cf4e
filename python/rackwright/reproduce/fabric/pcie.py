"""pcie-bench: rates and latencies of DMA through a link of generation 3 with 8 lanes."""

from __future__ import annotations

from rackwright.fabric import Card, PcieLink, RootComplex, System
from rackwright.fabric.fabric import Fabric, Load, Measured
from rackwright.reports.plots import line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

SIZES = (64, 256, 512, 2048)

ROOT_NS = 244.0
"""Latency of the root complex in each direction: fitted to the latency of 64 bytes."""

COPY_CYCLES = 5
"""Cycles of 0.5 ns in which the card copies 16 bytes: fitted on the latency of 2048 bytes."""

READS = Load(outstanding=34, interval=35, copy=COPY_CYCLES)
WRITES = Load(outstanding=34, interval=42, copy=COPY_CYCLES)
"""The card's pattern of requests: fitted to the rates of 64 bytes."""

TESTS = {"read": READS, "write": WRITES, "latency": Load(copy=COPY_CYCLES)}
QUICK_COUNT = 256


def system() -> System:
    """The host and its card. Payloads have at most 256 bytes, read requests 512."""
    root = RootComplex(latency_ns=ROOT_NS, payload_bytes=256, read_request_bytes=512)
    root.connect(Card("traffic", "card"), PcieLink(gen=3, lanes=8))
    return System.of(root)


def measure(settings: Settings) -> Outcome:
    """A few seconds."""
    measured: dict[str, float] = {}
    series: dict[str, list[tuple[float, float]]] = {}
    digests = []
    for test, load in TESTS.items():
        settings.detail(f"fabric-pcie: {test}")
        # A fabric of its own for each, so that no test depends on the one before.
        count = QUICK_COUNT if settings.quick else None
        run = Fabric(system()).measure(test, SIZES, Load(**{**vars(load), "count": count}))
        digests.append(run.digest)
        series[test] = [(float(size), value) for size, value in values(test, run).items()]
        measured |= {f"{test}, {size} bytes": value for size, value in values(test, run).items()}
    rates = {test: series[test] for test in ("read", "write")}
    charts = [
        line_chart("DMA through Gen 3 x8, warm", "bytes of a request", "Gbit/s", rates),
        line_chart("One read at a time", "bytes", "ns", {"latency": series["latency"]}),
    ]
    return Outcome(compare("fabric/pcie.csv", measured), charts, digests)


def values(test: str, run: Measured) -> dict[int, float]:
    """The results of a test, by size: nanoseconds, or Gbit/s."""
    key = "median_ns" if test == "latency" else "gigabits_per_second"
    return {row["size_bytes"]: row[key] for row in run.rows}


EXPERIMENT = Experiment(
    "fabric-pcie",
    "DMA through a link of PCI Express",
    "Neugebauer 2018 (SIGCOMM), pcie-bench: NFP-6000 in a Xeon E5-2637 v3",
    "The unit `traffic` in RTL as a card at 2 GHz, below the root complex in front of a server's memory.",
    measure,
)
