"""Figure 2.5 with servers that run Linux, as the paper's do."""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median_low

from rackwright.cluster import Cluster, Ethernet, Switch
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image
from rackwright.machine.server import Server
from rackwright.machine.workloads import Linux
from rackwright.reports.plots import line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.firesim.round_trips import HART_CYCLES_PER_US, ideal_us
from rackwright.reproduce.guests import PAPERS_TIME, later
from rackwright.reproduce.reference import compare

LATENCIES_US, QUICK_LATENCIES_US = (0.5, 2.0, 8.0, 16.0), (0.5, 16.0)
ROUND_TRIPS = 100
MEMORY_BYTES = 256 << 20
ASKS, ANSWERS = "172.16.1.1", "172.16.1.2"
REQUEST, REPLY = 8, 0
"""Types of the messages of a ping (RFC 792)."""

_PACKET = 6
_TYPE, _SEQUENCE = 14 + 20, 14 + 20 + 6
"""The offsets of the type and the number of such a message in an Ethernet frame with IPv4."""


@dataclass(frozen=True)
class Trip:
    """One round trip, in us, as printed by `ping`, and its part outside of the sending server."""

    us: float
    outside_us: float
    answering_us: float


def round_trips(checkpoint: Path, capture: Path, latency_us: float, seed: int = 0) -> tuple[list[Trip], str]:
    """The round trips but the first, and the digest of the run. `capture` is a file to write."""
    answers = Server(workload=Linux(checkpoint=checkpoint), name="answers", ip=ANSWERS)
    # The other one has its address by then.
    command = f"{later(0.05, seed)}ping -c {ROUND_TRIPS} -i 0.001 {ANSWERS}"
    asks = Server(workload=Linux(run=command, checkpoint=checkpoint), name="asks", ip=ASKS)
    switch = Switch(switching_cycles=10)
    switch.add_downlinks([asks, answers])
    result = Cluster(switch, link=Ethernet(latency_us=latency_us)).run(
        until_ms=2000, ends_with=asks, pcap=capture, pcap_ports=["asks.port0", "answers.port0"]
    )
    printed = result.servers.set_index("name")["stdout"]["asks"]
    found = re.findall(r"seq=(\d+) .* time=([\d.]+) ms", printed)
    if len(found) != ROUND_TRIPS:
        raise AssertionError(f"{len(found)} of {ROUND_TRIPS} round trips came back")
    seen = _messages(capture)
    trips = []
    for number, milliseconds in found[1:]:
        left, arrived = (seen[port, REQUEST, int(number)] for port in (0, 1))
        returned, came = (seen[port, REPLY, int(number)] for port in (1, 0))
        trips.append(Trip(1e3 * float(milliseconds), came - left, returned - arrived))
    return trips, result.digest


def _messages(capture: Path) -> dict[tuple[int, int, int], float]:
    """When a message passed a port, in us, by the port's place in the file, the type and the number."""
    messages = {}
    for port, picoseconds, frame in _packets(capture.read_bytes()):
        if frame[12:14] == b"\x08\x00" and frame[23] == 1:
            (number,) = struct.unpack_from(">H", frame, _SEQUENCE)
            messages[port, frame[_TYPE], number] = picoseconds / 1e6
    return messages


def _packets(capture: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Port, time in picoseconds, and frame of each packet of a pcapng file of ours."""
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == _PACKET:
            port, high, low, size = struct.unpack_from("<IIII", capture, at + 8)
            yield port, high << 32 | low, capture[at + 28 : at + 28 + size]
        at += length


def measure(settings: Settings) -> Outcome:
    """The slope, the offset, and in which server it arises.

    Medians, as for the bare-metal servers: occasionally a trip coincides with a tick of the kernel's timer.
    """
    latencies = QUICK_LATENCIES_US if settings.quick else LATENCIES_US
    usual, digests = {}, []
    with tempfile.TemporaryDirectory(prefix="rackwright-") as folder:
        checkpoint, capture = Path(folder) / "booted", Path(folder) / "capture.pcapng"
        settings.detail("firesim-2.5-linux: boot")
        image = load_image(default_image())
        boot(image, memory_bytes=MEMORY_BYTES, timing=PAPERS_TIME, checkpoint=checkpoint)
        for latency_us in latencies:
            settings.detail(f"firesim-2.5-linux: links of {latency_us:g} us")
            trips, digest = round_trips(checkpoint, capture, latency_us, settings.seed)
            middle = median_low(trip.us for trip in trips)
            usual[latency_us] = next(trip for trip in trips if trip.us == middle)
            digests.append(digest)
    first, last = latencies[0], latencies[-1]
    offset = fmean(trip.us - ideal_us(latency) for latency, trip in usual.items())
    answering = fmean(trip.answering_us for trip in usual.values())
    asking = fmean(trip.us - trip.outside_us for trip in usual.values())
    rows = compare(
        "firesim/figure_2_5_linux.csv",
        {
            "round trip per link latency": (usual[last].us - usual[first].us) / (last - first),
            "round trip above the ideal line": offset,
            "the same in cycles of the harts": offset * HART_CYCLES_PER_US,
            "of it, the server that asks, from ping's first look at the clock and to its second": asking,
            "of it, the server that answers, from the first flit in to the last flit out": answering,
            "of it, elsewhere": round(offset - asking - answering, 6),
        },
    )
    chart = line_chart(
        "round trip by link latency, Linux",
        "link latency, us",
        "us",
        {
            "ours": [(latency, trip.us) for latency, trip in usual.items()],
            "ideal": [(latency, ideal_us(latency)) for latency in latencies],
        },
    )
    return Outcome(rows, [chart], digests)


EXPERIMENT = Experiment(
    "firesim-2.5-linux",
    "Round trip by link latency, Linux",
    "Karandikar 2024, section 2.4, figure 2.5",
    "2 `rocket` servers that run Debian's Linux, with virtio NICs in RTL, under one switch; `ping` of one "
    "asks the other 100 times, links of 0.5 to 16 us.",
    measure,
    guests=True,
)
