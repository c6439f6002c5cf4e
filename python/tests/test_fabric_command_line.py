"""`./rw fabric` as users call it."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import REPOSITORY, rw

EXAMPLES = REPOSITORY / "examples" / "fabric"


def test_a_measurement_as_json_with_its_packets(tmp_path: Path) -> None:
    capture = tmp_path / "packets.jsonl"
    options = ["--size", 64, "--size", 1024, "--count", 40, "--capture", capture]
    ended = rw("fabric", "bench", EXAMPLES / "one_link.py", "--test", "read", *options, "--json")
    assert ended.status == 0, ended.stderr
    record = ended.json()
    assert [row["size_bytes"] for row in record["rows"]] == [64, 1024]
    assert record["rows"][0].keys() == {
        *("test", "path", "size_bytes", "median_ns", "p95_ns", "p99_ns", "gigabits_per_second", "parts")
    }
    assert {port["port"] for port in record["ports"]} == {"root->traffic0", "traffic0->root"}
    packets = [json.loads(line) for line in capture.read_text(encoding="utf-8").splitlines()]
    # What the measurement counts begins after software has found the card.
    assert len(packets) > record["packet_hops"]
    assert packets[0]["fields"]["kind"] == "configuration_read_0"


def test_registers_are_read_by_the_host() -> None:
    ended = rw("fabric", "bench", EXAMPLES / "one_link.py", "--test", "registers", "--count", 20, "--json")
    (row,) = ended.json()["rows"]
    assert (row["path"], row["size_bytes"]) == ("root -> traffic0", 8)
    assert row["parts"]["root"] == 120


def test_a_fabric_is_shown_and_drawn(tmp_path: Path) -> None:
    drawing = tmp_path / "tree.svg"
    record = rw("fabric", "show", EXAMPLES / "switch.py", "-o", drawing, "--json").json()
    assert [card["id"] for card in record["cards"]] == ["03:00.0", "04:00.0"]
    assert [window["bytes"] for window in record["cards"][0]["windows"]] == [1 << 12, 1 << 20]
    assert [(each["id"], each["kind"], each["secondary_bus"]) for each in record["bridges"]] == [
        ("00:00.0", "root port", 1),
        ("01:00.0", "upstream port", 2),
        ("02:00.0", "downstream port", 3),
        ("02:01.0", "downstream port", 4),
    ]
    assert "Gen 4 x16" in drawing.read_text(encoding="utf-8")


def test_what_is_illegal_is_one_line_and_status_1(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(
        "from rackwright.fabric import *\nroot, a = RootComplex(), PcieSwitch('a')\n"
        "root.connect(a, PcieLink(3, 8))\na.connect(a, PcieLink(3, 8))\n"
    )
    ended = rw("fabric", "check", script)
    assert (ended.status, ended.stdout) == (1, "")
    assert ended.stderr == f"rw: {script}: the fabric has a loop: a - a\n"
    assert rw("fabric", "check", EXAMPLES / "switch.py").stdout == "cards: 2, switches: 1, links: 3\n"
