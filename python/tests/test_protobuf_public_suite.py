"""The suite of schemas in the manner of public ones: what it has, and what the units make of it."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from tiers import long

from rackwright.errors import RackwrightError
from rackwright.protobuf import Suite, measure
from rackwright.protobuf.schema import read_schema
from rackwright.protobuf.suites import PUBLIC_SCHEMAS, chosen_suite
from rackwright.protobuf.suites.public import public_suite
from rackwright.protobuf.suites.public_schemas import Schema, draw_schema

pytestmark = pytest.mark.usefixtures("made_fast")

SMALL = (0, 5)
"""Schemas of few and small types, so that their programs are compiled fast."""


def schemas(count: int) -> list[Schema]:
    return [draw_schema(f"world.s{index}", random.Random(f"11/{index}")) for index in range(count)]


def sent(suite: Suite) -> list[tuple[str, list[bytes]]]:
    """What is measured, wherever the suite's files are kept."""
    return [(benchmark.message, list(benchmark.messages)) for benchmark in suite.benchmarks]


def test_the_suite_is_the_same_each_time() -> None:
    assert public_suite(2) == public_suite(2)
    assert sent(public_suite(2)) == sent(public_suite(3))[:2]
    assert sent(public_suite(2, seed=5)) != sent(public_suite(2))


def test_schemas_are_as_wide_as_public_ones() -> None:
    many = schemas(200)
    enums = [enum for schema in many for enum in schema.enums]
    sizes = [len(enum.values) for enum in enums]
    assert min(sizes) < 6
    assert max(sizes) > 250
    for enum in enums:
        values = sorted(enum.values)
        assert len(set(values)) == len(values)
        assert any(later - earlier > 1 for earlier, later in pairwise(values)) or len(values) < 4
    tops = [len(schema.messages[0].fields) for schema in many]
    assert min(tops) < 8
    assert max(tops) > 300
    messages = [message for schema in many for message in schema.messages]
    labels = {field.label for message in messages for field in message.fields}
    assert labels == {"optional", "repeated", "packed", "oneof", "map"}
    assert 0.1 < sum(message.extends for message in messages) / len(messages) < 0.3


@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.long)])
def test_schemas_are_what_protoc_takes(count: int) -> None:
    suite = public_suite(count)
    schema = read_schema(suite.proto)
    assert all(benchmark.message in schema.classes for benchmark in suite.benchmarks)


def units_do(suite: Suite, share: float) -> None:
    rows = list(measure(suite, targets=["boom+unit"]))
    assert len(rows) == 2 * len(suite.benchmarks)
    assert all(row.verified and row.status == "ok" for row in rows)
    assert sum(row.fallbacks for row in rows) <= (1 - share) * sum(row.messages for row in rows)


@pytest.mark.parametrize(
    "index", [SMALL[0], *(long(n, why="half a minute of g++; one does") for n in SMALL[1:])]
)
def test_the_units_do_small_schemas(index: int) -> None:
    suite = public_suite(index + 1)
    units_do(replace(suite, benchmarks=[suite.benchmarks[index]]), share=1)


@pytest.mark.long
def test_the_units_do_nearly_all_of_it() -> None:
    units_do(public_suite(PUBLIC_SCHEMAS), share=0.98)


def test_each_schema_is_a_program() -> None:
    suite = public_suite(2)
    parts = list(suite.parts())
    assert [part.name for part in parts] == ["schema-0", "schema-1"]
    for part in parts:
        schema = read_schema(part.proto, [suite.proto.parent])
        assert part.benchmarks[0].message in schema.classes
        assert len({name.split(".")[1] for name in schema.classes if name.startswith("world.")}) == 1


def test_a_seed_is_for_this_suite() -> None:
    assert chosen_suite("public", schemas=2, seed=5) == public_suite(2, seed=5)
    with pytest.raises(RackwrightError, match="--seed is for public"):
        chosen_suite("services", seed=5)
