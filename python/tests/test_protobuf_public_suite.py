"""The suite of schemas in the manner of public ones: what it has, and what the units make of it."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from rackwright.protobuf import measure
from rackwright.protobuf.schema import read_schema
from rackwright.protobuf.suites import PUBLIC_SCHEMAS
from rackwright.protobuf.suites.public import public_suite
from rackwright.protobuf.suites.public_schemas import Schema, draw_schema


def schemas(count: int) -> list[Schema]:
    return [draw_schema(f"world.s{index}", random.Random(f"11/{index}")) for index in range(count)]


def test_the_suite_is_the_same_each_time() -> None:
    assert public_suite(2) == public_suite(2)
    assert public_suite(2).benchmarks == public_suite(3).benchmarks[:2]
    assert public_suite(2, seed=5).benchmarks != public_suite(2).benchmarks


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


@pytest.mark.long
def test_the_units_do_nearly_all_of_it() -> None:
    rows = list(measure(public_suite(PUBLIC_SCHEMAS), ["deserialize"], ["boom+unit"]))
    assert all(row.verified and row.status == "ok" for row in rows)
    assert sum(row.fallbacks for row in rows) <= 0.02 * sum(row.messages for row in rows)
