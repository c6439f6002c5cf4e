"""Captures as Wireshark's own reader sees them."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from cluster_shapes import rack

from rackwright import Cluster, Ethernet, Switch, Traffic
from rackwright.cluster import Constant, Trace

LATENCY = 6400
FLITS = 14
SWITCHING = 10


def cycle_of(picoseconds: int) -> int:
    """The cycle of 3.2 GHz that begins at a stamp, which is rounded down."""
    return -(-picoseconds * 32 // 10_000)


def stamps(capture: Path) -> list[int]:
    """The time stamps of all packets, in the units of the file."""
    data, at, found = capture.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low = struct.unpack_from("<II", data, at + 12)
            found.append(high << 32 | low)
        at += length
    return found


def one_request(tmp_path: Path) -> Path:
    """A request sent in cycle 3200, captured at the server's port of the switch."""
    server = Traffic("server", service=Constant(5))
    client = Traffic("client", sends=Trace([1.0]), to=server)
    switch = Switch("s", switching_cycles=SWITCHING)
    switch.add_downlinks([server, client])
    capture = tmp_path / "one.pcapng"
    Cluster(switch, link=Ethernet(latency_us=2)).run(until_ms=1, pcap=capture, pcap_ports=["s.port0"])
    return capture


def test_stamps_equal_the_computed_cycles(tmp_path: Path) -> None:
    leaves = 3200 + (FLITS - 1) + LATENCY + SWITCHING + (FLITS - 1)
    answered = leaves + LATENCY + 5 * 3200 + (FLITS - 1) + LATENCY
    assert [cycle_of(stamp) for stamp in stamps(one_request(tmp_path))] == [leaves, answered]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_every_frame_and_finds_every_checksum_right(tmp_path: Path) -> None:
    capture = tmp_path / "rack.pcapng"
    result = rack().run(until_ms=1, pcap=capture, pcap_ports=["tor.port0", "tor.port1"])
    fields = [
        "ip.checksum.status",
        "udp.checksum.status",
        "frame.time_epoch",
        "eth.src",
        "frame.interface_name",
    ]
    command = ["tshark", "-r", str(capture), "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    command += ["-T", "fields", *(part for field in fields for part in ("-e", field))]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    ports = result.ports.set_index("name").loc[["tor.port0", "tor.port1"]]
    # A frame counts as sent when it begins to leave, and is captured when it has left.
    assert 0 <= ports[["sent", "received"]].to_numpy().sum() - len(rows) <= 2
    assert {(row[0], row[1]) for row in rows} == {("1", "1")}
    assert {row[4] for row in rows} == {"tor.port0", "tor.port1"}
    assert all(row[3].startswith("00:12:6d:") for row in rows)
    told = [round(float(row[2]) * 1e9) for row in rows]
    assert told == [stamp // 1000 for stamp in stamps(capture)]
