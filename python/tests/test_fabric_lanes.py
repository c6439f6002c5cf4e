"""Ports and cards of a fabric on the time line of a profile."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw

from rackwright import Server, compile_bare_metal
from rackwright.fabric import AttachedFabric, Card, PcieLink, PcieSwitch, RootComplex, System
from rackwright.profiling import Profile, profile
from rackwright.profiling.lanes import Lane
from rackwright.profiling.perfetto import perfetto
from rackwright.profiling.report import report_data

SYSTEM = REPOSITORY / "examples" / "fabric" / "switch.py"
LINK = PcieLink(gen=4, lanes=8, delay_ns=25)


@pytest.fixture(scope="module")
def program() -> Path:
    """Each of two cards reads 64 times 512 bytes, and writes as much."""
    return compile_bare_metal([REPOSITORY / "examples" / "fabric" / "dma.c"])


@pytest.fixture(scope="module")
def seen(program: Path) -> Profile:
    """A profile of it, with cards below a switch."""
    root, switch = RootComplex(), PcieSwitch()
    root.connect(switch, LINK)
    switch.add_downlinks([Card("traffic", "a", model=True), Card("traffic", "b", model=True)], LINK)
    system = System.of(root)
    made = profile(Server("rocket", fabric=AttachedFabric(system, capture=system.ports)), program)
    plain = Server("rocket", fabric=AttachedFabric(system)).run(program)
    assert (made.exit_code, made.digest) == (0, plain.digest)
    return made


def lane(profile: Profile, title: str) -> Lane:
    [found] = [each for each in profile.fabric if each.title == title]
    return found


def test_a_lane_of_a_port_has_each_packet_as_long_as_it_takes(seen: Profile) -> None:
    sent = lane(seen, "a->switch0").events
    writes = [(begin, end) for name, begin, end in sent if name == "memory_write"]
    assert len(writes) == 64 * 4, "512 bytes are four payloads as long as after reset"
    # 128 bytes with a header of three words and 8 bytes around them.
    expected = (128 + 12 + 8) / LINK.bytes_per_ns * seen.clock_hz / 1e9
    assert all(abs(end - begin - expected) <= 1 for begin, end in writes)
    for port in ("a->switch0", "switch0->a", "switch0->root", "root->switch0"):
        events = lane(seen, port).events
        assert all(one[2] <= other[1] or one[1] == other[1] for one, other in pairwise(events)), port
        assert 0 < events[0][1] < events[-1][2] <= seen.cycles[0]


def test_a_lane_of_a_card_has_the_times_in_which_reads_are_outstanding(seen: Profile) -> None:
    waits = lane(seen, "card a").events
    reads = [event for event in lane(seen, "a->switch0").events if event[0] == "memory_read"]
    assert len(reads) == 64
    # All reads of the run are outstanding together, and the first one waits for the way to memory and back.
    assert {name for name, _, _ in waits} == {"waits"}
    assert waits[0][1] == reads[0][1]
    assert all(any(begin <= read[1] < end for _, begin, end in waits) for read in reads)
    least = 2 * (2 * LINK.delay_ns + 110) * seen.clock_hz / 1e9
    assert all(end - begin > least for _, begin, end in waits)
    last = [end for name, _, end in lane(seen, "switch0->a").events if name == "completion_with_data"][-1]
    assert abs(waits[-1][2] - last - LINK.delay_ns * seen.clock_hz / 1e9) <= 1
    # The hart waits for each register that it reads.
    serves = lane(seen, "card a, for others").events
    asked = [
        event
        for event in lane(seen, "switch0->a").events
        if event[0] in ("memory_read", "configuration_read_0")
    ]
    assert serves[0][1] <= asked[0][1]
    assert len(serves) >= len(asked) > 0


def test_the_files_of_a_profile_have_these_lanes(seen: Profile) -> None:
    titles = [each.title for each in seen.fabric]
    assert titles[:2] == ["root->switch0", "switch0->root"]
    assert {"card a", "card b", "card a, for others"} <= set(titles)
    assert [each["title"] for each in report_data(seen)["fabric"]] == titles
    trace = perfetto(seen)
    assert all(title.encode() in trace for title in titles)


def test_the_verb_takes_a_fabric(program: Path, tmp_path: Path) -> None:
    ended = rw("profile", "-o", tmp_path, "--json", "--", "run", "--fabric", SYSTEM, program)
    assert ended.status == 0, ended.stderr
    page = (tmp_path / "report.html").read_text()
    data = json.loads(page.split("id='data'>")[1].split("</script>")[0])
    assert "card traffic1" in [each["title"] for each in data["fabric"]]
