"""The speeds that `rw units` shows are those of the RTL as it is, and are measured again to the cycle."""

from __future__ import annotations

import json

import pytest
from command_line import rw

from rackwright.benchmarks.speeds import read_speeds
from rackwright.benchmarks.units import MEASUREMENTS, measure
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import Elaboration, elaborate_all

OF_PROGRAMS = {"protobuf-deserialize", "protobuf-serialize"}
"""Their cycles depend on the compiler of the program that gives the commands, too."""


def test_every_row_is_of_the_rtl_as_it_is() -> None:
    names = list(MEASUREMENTS)
    manifests = elaborate_all([Elaboration(name) for name in names])
    hashes = [json.loads(path.read_text(encoding="utf-8"))["hash"] for path in manifests]
    assert {row.unit: key for key, row in read_speeds().items()} == dict(zip(names, hashes, strict=True))


def again(name: str) -> None:
    (found,) = measure([name])
    assert found == read_speeds()[found.rtl_hash]


@pytest.mark.parametrize("name", ["stream-copy", "snappy-decompress"])
def test_a_speed_is_measured_again(name: str) -> None:
    again(name)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(MEASUREMENTS) - OF_PROGRAMS))
def test_every_speed_is_measured_again(name: str) -> None:
    again(name)


def test_units_show_frequency_area_and_speed() -> None:
    rows = {row["name"]: row for row in rw("units", "--json").json()["units"]}
    assert all(rows[name]["gigabytes_per_second"] > 0.1 for name in MEASUREMENTS)
    assert rows["daronpon"]["gigabytes_per_second"] is None
    assert "GB/s" in rw("units").stdout
    with pytest.raises(RackwrightError, match="no workload for daronpon; there are snappy-compress"):
        list(measure(["daronpon"]))
