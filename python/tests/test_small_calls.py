"""Small calls: each unit is measured again at one size, bounds hold, and break-even is where lines cross."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import rw

from rackwright.benchmarks import beside_library, break_even, small
from rackwright.benchmarks.small import SIZES, UNITS, Bound, Call
from rackwright.hardware.designs import Elaboration, elaborate_all
from rackwright.protobuf.suites.small import EMPTY, FIVE_FIELDS, small_suite
from rackwright.reports.records import read_records

CODECS = [unit for unit in UNITS if not unit.startswith("protobuf")]
MESSAGES = [unit for unit in UNITS if unit.startswith("protobuf")]


def committed(unit: str, size: int) -> small.CommittedCall:
    [row] = [row for row in small.read_table() if (row.unit, row.bytes) == (unit, size)]
    return row


def test_every_row_is_of_the_rtl_as_it_is() -> None:
    manifests = elaborate_all([Elaboration(name) for name in UNITS])
    hashes = {
        name: json.loads(path.read_text(encoding="utf-8"))["hash"]
        for name, path in zip(UNITS, manifests, strict=True)
    }
    assert {(row.unit, row.rtl_hash) for row in small.read_table()} == set(hashes.items())
    assert {row.unit for row in read_records(small.BOUNDS, Bound)} == set(UNITS)


def again(unit: str, size: int) -> None:
    [call] = small.measure(unit, [size])
    assert call.parts is not None
    assert sum(vars(call.parts).values()) == call.later
    row = committed(unit, size)
    assert {name: getattr(call, name) for name in vars(row)} == vars(row)


@pytest.mark.parametrize("unit", CODECS)
def test_a_small_call_takes_as_long_as_committed(unit: str) -> None:
    again(unit, 1024)


@pytest.mark.long("thirty calls; one of each unit is measured above")
@pytest.mark.parametrize("size", [size for size in SIZES if size != 1024])
@pytest.mark.parametrize("unit", CODECS)
def test_every_small_call_takes_as_long_as_committed(unit: str, size: int) -> None:
    again(unit, size)


@pytest.mark.parametrize("unit", MESSAGES)
def test_small_messages_keep_their_bounds(unit: str) -> None:
    """Their cycles depend on the compiler of the program, too."""
    calls = list(small.measure(unit, [1024]))
    assert len(calls) == 3
    assert small.exceeded(calls) == []


def test_no_committed_call_exceeds_its_bound() -> None:
    calls = [Call(**vars(row)) for row in small.read_table()]
    assert small.exceeded(calls) == []
    known = {(row.unit, row.bytes) for row in calls}
    assert {(bound.unit, bound.bytes) for bound in read_records(small.BOUNDS, Bound)} <= known
    [bound, *_] = [bound for bound in read_records(small.BOUNDS, Bound) if bound.kind == "later"]
    [call] = [call for call in calls if (call.unit, call.bytes) == (bound.unit, bound.bytes)]
    slow = replace(call, later=int(bound.cycles) + 1)
    assert small.exceeded([slow]) == [
        f"{bound.unit}, {bound.bytes} bytes: later takes {slow.later:,} cycles, at most {bound.cycles:,}"
    ]


@pytest.mark.parametrize(
    ("points", "size"),
    [
        ([(16, 5.0, 4.0), (32, 6.0, 8.0)], 22),
        ([(16, 5.0, 5.0), (32, 6.0, 8.0)], 16),
        ([(16, 4.0, 5.0), (32, 9.0, 8.0), (64, 9.0, 12.0)], 40),
        ([(16, 5.0, 4.0), (32, 9.0, 8.0)], None),
        ([(0, 1.0, 1.0)], 0),
    ],
)
def test_a_unit_breaks_even_where_lines_cross(
    points: list[tuple[int, float, float]], size: int | None
) -> None:
    assert break_even.crossing(points) == size


def test_a_unit_and_the_library_break_even() -> None:
    [found] = beside_library.measure("snappy-compress", ["boom"])
    assert found.bytes == break_even.read_table()["snappy-compress"]
    assert set(break_even.read_table()) == set(UNITS)


def test_lists_of_records_are_as_large_as_fits() -> None:
    suite = small_suite([64, 256], 3)
    assert [benchmark.name for benchmark in suite.benchmarks] == [EMPTY, FIVE_FIELDS, "64", "256"]
    for benchmark in suite.benchmarks[2:]:
        assert len(benchmark.messages) == 3
        assert all(int(benchmark.name) - 24 < len(one) <= int(benchmark.name) for one in benchmark.messages)


def test_calls_are_printed_and_drawn(tmp_path: Path) -> None:
    chart = tmp_path / "small.svg"
    options = ("--unit", "snappy-decompress", "--size", "64", "--over", "none")
    ended = rw("bench", "small", *options, "--chart", chart, "--json")
    assert ended.status == 0
    [row] = ended.json()["rows"]
    assert row["first_nanoseconds"] == pytest.approx(row["first"] / row["clock_hz"] * 1e9)
    assert list(row["parts"]) == list(small.PARTS)
    assert ended.json()["break_even"] == []
    drawn = chart.read_text(encoding="utf-8")
    assert "snappy-decompress, 64 B" in drawn
    assert "var(--" not in drawn


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--unit", "nic"), "no small calls of nic; there are snappy-compress"),
        (("--size", "0"), "sizes are from 1 to 1,048,576 bytes, not 0"),
    ],
)
def test_what_cannot_be_measured_is_named(options: tuple[str, str], complaint: str) -> None:
    ended = rw("bench", "small", *options)
    assert ended.status == 1
    assert complaint in ended.stderr
