"""Random types and values: the unit's bytes are those of their encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protobuf_random import types, values
from protobuf_serializer import Serializer

from rackwright.verification.protobuf_schema import MapState


@pytest.fixture(scope="module")
def unit() -> Serializer:
    """A serializer as it is built by default."""
    return Serializer()


@given(data=st.data())
def test_random_messages(unit: Serializer, data: st.DataObject) -> None:
    message = data.draw(types())
    unit.use(message)
    for _ in range(3):
        unit.builder.map_state = data.draw(st.sampled_from([MapState.TABLE, MapState.BOTH]))
        unit.check(data.draw(values(message)))
