"""Network interfaces as they may be built: sizes, AXI4 masters, errors."""

from __future__ import annotations

import json

import pytest
from nic_echo import echo
from tiers import long

from rackwright import RackwrightError
from rackwright.hardware.designs import design, elaborate
from rackwright.synthesis.table import known_clock
from rackwright.unit.alone import Unit
from rackwright.unit.config import UnitConfig
from rackwright.unit.nic import NicUnit


@pytest.mark.long("a design for nothing else; its elaboration is tested in Scala")
def test_the_smallest() -> None:
    echo(NicUnit({"port-bytes": 32, "outstanding": 16, "queue-entries": 2, "buffer-kib": 16}))


def test_with_axi4_masters() -> None:
    echo(NicUnit(design=elaborate("nic", memory="axi4")))


def test_the_clock_is_that_of_the_network() -> None:
    assert design("nic").clock_hz == 3_200_000_000


@pytest.mark.parametrize("virtio", [0, long(1, why="a design for nothing else")])
def test_a_wide_one_needs_half_of_it_which_synthesis_supports(virtio: int) -> None:
    manifest = elaborate("nic", {"network-bytes": 16, "virtio": virtio})
    assert design(manifest).clock_hz == 1_600_000_000
    known = known_clock(json.loads(manifest.read_text(encoding="utf-8"))["hash"])
    assert known is not None
    assert known >= 1_600_000_000


def test_sizes_out_of_range_are_refused() -> None:
    with pytest.raises(RackwrightError, match="buffer-kib: 8 is not allowed; a power of two from 16 to 1024"):
        Unit(UnitConfig("nic", {"buffer-kib": 8}))
