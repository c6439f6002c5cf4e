"""Suites: what is generated, from which distributions, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from rackwright import RackwrightError
from rackwright.protobuf import wire
from rackwright.protobuf.messages import read_messages, split
from rackwright.protobuf.suites import chosen_suite, save_suite
from rackwright.protobuf.suites.distributions import FLEET, draw_size, read_distributions
from rackwright.protobuf.suites.fields import fields_suite
from rackwright.protobuf.suites.services import services_suite


def test_micro_benchmarks_are_those_of_the_paper() -> None:
    suite = fields_suite(messages=4)
    sizes = {
        benchmark.name: {len(message) for message in benchmark.messages} for benchmark in suite.benchmarks
    }
    assert len(sizes) == 33
    assert sizes["varint-0"] == {10}
    assert sizes["varint-10"] == {55}
    assert sizes["varint-3-R"] == {100}
    assert sizes["double"] == {45}
    assert sizes["string-489"] == {492}
    assert sizes["bool-SUB"] == {4}
    groups = {benchmark.name: benchmark.group for benchmark in suite.benchmarks}
    assert groups["float"] == "inline"
    assert groups["float-R"] == groups["string-8"] == groups["bool-SUB"] == "allocated"


def test_messages_of_services_have_the_sizes_that_were_published() -> None:
    shapes = read_distributions(FLEET)
    many = services_suite(type(shapes)(**{**vars(shapes), "services": 4, "messages": 250}), "many")
    sizes = [len(message) for benchmark in many.benchmarks for message in benchmark.messages]
    shares = {bound: sum(size <= bound for size in sizes) / len(sizes) for bound in (8, 32, 512)}
    assert shares[8] == pytest.approx(0.24, abs=0.06)
    assert shares[32] == pytest.approx(0.56, abs=0.06)
    assert shares[512] == pytest.approx(0.93, abs=0.03)


def test_most_bytes_of_services_are_text() -> None:
    """More than 92 % are in strings and bytes; headers of messages count for neither."""
    suite = chosen_suite("services")
    text = other = 0
    for benchmark in suite.benchmarks:
        for message in benchmark.messages:
            counted = _count(message)
            text += counted[0]
            other += counted[1]
    assert text / (text + other) > 0.8


def _count(message: bytes) -> tuple[int, int]:
    """Bytes of text and of other values, as far as the wire tells: what parses as a message is one."""
    text = other = 0
    for _, value in wire.fields(message):
        if isinstance(value, int):
            other += len(wire.varint(value))
        elif len(value) in (4, 8):
            other += len(value)
        else:
            text += len(value)
    return text, other


def test_the_same_file_gives_the_same_suite() -> None:
    first, second = chosen_suite("services"), chosen_suite("services")
    assert first == second
    other = services_suite(type(shapes := read_distributions(FLEET))(**{**vars(shapes), "seed": 1}), "x")
    assert other.benchmarks[0].messages != first.benchmarks[0].messages


def test_sizes_are_drawn_from_their_buckets() -> None:
    draw = random.Random(3)
    drawn = [draw_size({8: 0.5, 64: 0.5}, draw) for _ in range(400)]
    assert min(drawn) == 1
    assert max(drawn) <= 64
    assert sum(size <= 8 for size in drawn) == pytest.approx(200, abs=40)


def test_a_suite_can_be_kept(tmp_path: Path) -> None:
    suite = fields_suite(messages=2)
    save_suite(suite, tmp_path)
    assert (tmp_path / "fields.proto").read_bytes() == suite.proto.read_bytes()
    assert "case_of<::rackwright::fields::Varint>" in (tmp_path / "main.cpp").read_text()
    kept = read_messages([tmp_path / "varint-5.bin"], is_delimited=True)
    assert kept == list(next(each for each in suite.benchmarks if each.name == "varint-5").messages)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": None}, "seed has to be a positive number"),
        ({"presence": {0.5: 0.7}}, "presence has to be shares that add up to 1"),
        ({"field_types": {"int31": 1.0}}, "field_types has to be shares"),
        ({"repeated": 2}, "repeated has to be a number from 0 to 1"),
        ({"colour": 1}, "missing, or not known: colour"),
    ],
)
def test_distributions_that_make_no_sense_are_refused(
    change: dict[str, object], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "shapes.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(FLEET.read_text()) | change))
    with pytest.raises(RackwrightError, match=reason):
        chosen_suite(str(path))


def test_unknown_suites_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match="no suite nothing"):
        chosen_suite("nothing")
    with pytest.raises(RackwrightError, match="No such file"):
        chosen_suite(str(tmp_path / "missing.yaml"))
    (tmp_path / "odd.yaml").write_text("a: [")
    with pytest.raises(RackwrightError, match=r"odd\.yaml"):
        chosen_suite(str(tmp_path / "odd.yaml"))


def test_streams_that_end_within_a_message_are_refused() -> None:
    assert split(wire.delimited([b"abc", b"", b"d"]), "x") == [b"abc", b"", b"d"]
    with pytest.raises(RackwrightError, match="the message at offset 1 has 5 bytes"):
        split(b"\x05abc", "x")
    with pytest.raises(RackwrightError, match="no varint at offset 0"):
        split(b"\x80", "x")
