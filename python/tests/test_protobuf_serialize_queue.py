"""Random requests in the queue of the serializer: all of its lanes, several types, some that fail."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protobuf_queue import FAILURES, RequestQueue
from protobuf_random import random_value, types
from protobuf_serializer import LARGEST, SMALLEST
from tiers import long

from rackwright._engine import Design
from rackwright.hardware.designs import design
from rackwright.unit.alone import Unit
from rackwright.verification.protobuf_schema import Field, Kind, Message

STEPS = st.lists(
    st.sampled_from([*["message"] * 16, *["failing"] * 2, "region", "fence", "check"]),
    min_size=30,
    max_size=60,
)
ROOMS = st.one_of(st.integers(0, 100), st.integers(0, 3000), st.just(1 << 20))


@pytest.fixture(
    scope="module",
    params=[
        long(SMALLEST, why="with one lane nothing overtakes"),
        long(LARGEST, why="forty seconds of a processor, and on two lanes requests overtake each other, too"),
        {},
    ],
    ids=["one lane", "four lanes", "two lanes"],
)
def built(request: pytest.FixtureRequest) -> Design:
    """A serializer with each number of lanes."""
    return design("protobuf-serialize", request.param, assertions=True)


@given(steps=STEPS, source=st.integers(0, 2**64 - 1).map(random.Random), data=st.data())
def test_queued_requests(built: Design, steps: list[str], source: random.Random, data: st.DataObject) -> None:
    queue = RequestQueue(Unit(built))
    for step in ["fence", "region", *steps]:
        if step == "fence":
            chosen = [
                data.draw(types(depth=2)),
                data.draw(types(depth=1, least=8)),
                data.draw(types(depth=0)),
            ]
            queue.use(chosen)
        elif step == "region":
            queue.region(data.draw(ROOMS), source.randrange(64), source.choice((None, 0, 8, 24)))
        elif step == "check":
            queue.check(wait=source.random() < 0.5)
        elif step == "failing":
            queue.start_failing(source.choice(sorted(FAILURES)), source.random() < 0.5)
        else:
            message = source.choice(chosen)
            value = random_value(source, message)
            queue.start(message, value, source.random() < 0.5, source.random() < 0.5)
        queue.unit.bench.run(source.choice((0, 0, 1, 8, 40, 200)))
    queue.check(wait=True)


def test_what_a_failed_request_wrote_is_written_over(built: Design) -> None:
    """Two requests write the same bytes: that of the one that failed is never the later write."""
    message = Message("Text", (Field(1, Kind.STRING),))
    unit = Unit(built)
    for misalignment in range(64):
        queue = RequestQueue(unit)
        queue.use([message])
        queue.region(4096, misalignment, 24)
        for index, length in enumerate((22, 13, 10)):
            if index:
                queue.start_failing("null", with_record=index == 1)
            queue.start(message, {1: b"a" * length}, is_warm=True, with_record=index == 1)
        queue.check(wait=True)
