"""Suites: what is generated, from which distributions, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright import RackwrightError
from rackwright.protobuf import Suite, measure, wire
from rackwright.protobuf.messages import read_messages, split
from rackwright.protobuf.schema import read_schema
from rackwright.protobuf.suites import chosen_suite, save_suite
from rackwright.protobuf.suites.distributions import FLEET, draw_size, read_distributions
from rackwright.protobuf.suites.fields import fields_suite
from rackwright.protobuf.suites.schemas import KINDS, Field
from rackwright.protobuf.suites.services import services_suite
from rackwright.protobuf.suites.values import draw_values

pytestmark = pytest.mark.usefixtures("made_fast")


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


def suite_with(**changes: Any) -> Suite:
    """A suite like the fleet's but for these values."""
    return services_suite(replace(read_distributions(FLEET), **changes), "changed")


@pytest.mark.parametrize("proto3", [0, 1])
def test_messages_of_services_have_the_sizes_that_were_published(proto3: float) -> None:
    many = suite_with(services=4, messages=250, proto3=proto3)
    sizes = [len(message) for benchmark in many.benchmarks for message in benchmark.messages]
    shares = {bound: sum(size <= bound for size in sizes) / len(sizes) for bound in (8, 32, 512)}
    assert shares[8] == pytest.approx(0.24, abs=0.06)
    assert shares[32] == pytest.approx(0.56, abs=0.06)
    assert shares[512] == pytest.approx(0.93, abs=0.03)


@pytest.mark.parametrize("proto3", [0, 1])
def test_most_bytes_of_services_are_text(proto3: float) -> None:
    """More than 92 % are in strings and bytes; headers of messages count for neither."""
    suite = suite_with(proto3=proto3)
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
    assert suite_with(seed=1).benchmarks[0].messages != first.benchmarks[0].messages


@pytest.mark.parametrize("name", ["services", "public"])
def test_fewer_messages_are_the_first_of_more(name: str) -> None:
    few, more = chosen_suite(name, messages=3), chosen_suite(name, messages=9)
    for small, large in zip(few.benchmarks, more.benchmarks, strict=True):
        assert list(small.messages) == list(large.messages)[:3]
        assert len(large.messages) == 9


def syntaxes(suite: Suite) -> list[bool]:
    """Which services of a suite are in proto3."""
    return [".proto3." in benchmark.message for benchmark in suite.benchmarks]


def test_as_many_services_are_in_proto3_as_the_file_says() -> None:
    assert not any(syntaxes(chosen_suite("services")))
    assert all(syntaxes(suite_with(proto3=1)))
    assert sum(syntaxes(suite_with(services=400, messages=1, proto3=0.25))) == pytest.approx(100, abs=25)


def test_the_syntax_of_services_can_be_chosen() -> None:
    assert chosen_suite("services", "proto2") == chosen_suite("services")
    assert chosen_suite("services", "proto3").benchmarks == suite_with(proto3=1).benchmarks
    with pytest.raises(RackwrightError, match="syntax of its own"):
        chosen_suite("fields", "proto3")


def test_services_in_proto2_do_not_depend_on_the_share_of_proto3() -> None:
    mixed, fleet = suite_with(proto3=0.5), chosen_suite("services")
    kept = [each for each in mixed.benchmarks if each in fleet.benchmarks]
    assert len(kept) == syntaxes(mixed).count(False)
    assert 0 < len(kept) < len(fleet.benchmarks)


def test_schemas_in_proto3_use_what_proto3_has() -> None:
    suite = suite_with(proto3=1)
    text = (suite.proto.parent / "services_proto3.proto").read_text()
    assert 'syntax = "proto3"' in text
    assert "packed" not in text  # without being told
    labels = Counter(line.split()[0] for line in text.splitlines() if " field_" in line)
    singular = sum(labels.values()) - labels["repeated"]
    assert labels["optional"] / singular == pytest.approx(0.1, abs=0.05)


def test_values_of_proto3_are_such_as_proto3_has() -> None:
    shapes, draw = read_distributions(FLEET), random.Random(7)

    def recorded(kind: str) -> list[int | bytes]:
        field = Field(1, kind, implicit=True)
        return [
            value
            for _ in range(400)
            for _, value in wire.fields(draw_values(field, "proto3", 99, shapes, draw))
        ]

    assert set(recorded("enum")) == set(range(1, KINDS + 1))  # open: the last one is not declared
    assert set(recorded("bool")) == {1}
    strings = [value.decode() for value in recorded("string") if isinstance(value, bytes)]
    assert min(map(len, strings)) > 0
    assert sum(not text.isascii() for text in strings) == pytest.approx(400 / 8, abs=25)


def test_both_syntaxes_are_verified_and_left_to_nobody() -> None:
    """What was recorded is what the library writes: no zeros of implicit presence, the same packing."""
    suite = suite_with(services=4, messages=24, proto3=0.5)
    assert len(set(syntaxes(suite))) == 2
    sizes = {each.name: sum(map(len, each.messages)) for each in suite.benchmarks}
    rows = list(measure(suite, targets=("host", "boom+unit")))
    assert len(rows) == 2 * 2 * 4
    for row in rows:
        assert row.verified
        assert (row.status, row.fallbacks, row.wire_bytes) == ("ok", 0, sizes[row.benchmark])


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


def test_all_files_of_a_suite_are_kept(tmp_path: Path) -> None:
    suite = suite_with(services=4, messages=2, proto3=0.5)
    save_suite(suite, tmp_path)
    schema = read_schema(tmp_path / "services.proto")
    assert set(schema.files) == {"services.proto", "services_proto3.proto"}
    assert {each.message for each in suite.benchmarks} <= set(schema.classes)
    assert '#include "services_proto3.pb.h"' in (tmp_path / "main.cpp").read_text()


def test_what_a_file_leaves_out_is_as_in_the_fleet(repository: Path) -> None:
    suite = chosen_suite(str(repository / "examples" / "protobuf" / "proto3.yaml"))
    assert suite.benchmarks == suite_with(proto3=1).benchmarks


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": None}, "seed has to be a positive number"),
        ({"presence": {0.5: 0.7}}, "presence has to be shares that add up to 1"),
        ({"field_types": {"int31": 1.0}}, "field_types has to be shares"),
        ({"repeated": 2}, "repeated has to be a number from 0 to 1"),
        ({"proto3": -1}, "proto3 has to be a number from 0 to 1"),
        ({"colour": 1}, "not known: colour"),
    ],
)
def test_distributions_that_make_no_sense_are_refused(
    change: dict[str, object], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "shapes.yaml"
    path.write_text(yaml.safe_dump(change))
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
    (tmp_path / "odd.yaml").write_text("seed: 2026-13-01")
    with pytest.raises(RackwrightError, match=r"odd\.yaml: not YAML: month must be in"):
        chosen_suite(str(tmp_path / "odd.yaml"))
    (tmp_path / "odd.yaml").write_text("[proto3]")
    with pytest.raises(RackwrightError, match="has to say which distributions differ"):
        chosen_suite(str(tmp_path / "odd.yaml"))


def test_streams_that_end_within_a_message_are_refused() -> None:
    assert split(wire.delimited([b"abc", b"", b"d"]), "x") == [b"abc", b"", b"d"]
    with pytest.raises(RackwrightError, match="the message at offset 1 has 5 bytes"):
        split(b"\x05abc", "x")
    with pytest.raises(RackwrightError, match="no varint at offset 0"):
        split(b"\x80", "x")
