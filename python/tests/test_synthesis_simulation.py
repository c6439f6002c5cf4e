"""Units in gates, as synthesis makes them, do in each cycle what their RTL does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from rackwright import Unit, elaborate, libsnappy
from rackwright.commands import Completion, operate
from rackwright.designs import ParameterValue
from rackwright.synthesis.flow import read_design
from rackwright.synthesis.library import DEFAULT_LIBERTY, load_library
from rackwright.synthesis.process import load_process
from rackwright.synthesis.simulation import write_gates

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not DEFAULT_LIBERTY.exists(), reason="the packages of synthesis are not installed"),
]

Pair = tuple[Unit, Unit, Callable[[bytes], bytes]]
"""A unit in RTL, the same one in gates, and what makes their input of their output."""

HUNG = 10_000_000
SOURCE = random.Random(5)
NOISE = SOURCE.randbytes(20_000)
TEXT = b" ".join(SOURCE.choices([b"rack", b"server", b"history window", b"of", b"credit"], k=4_000))
PLAIN = (b"", b"a", NOISE[:77], TEXT[:5_000], TEXT + NOISE[:3_000] + TEXT, bytes(70_000))


def same(data: bytes) -> bytes:
    """What a copy is."""
    return data


UNITS: dict[str, tuple[dict[str, ParameterValue], Callable[[bytes], bytes]]] = {
    "stream-copy": ({}, same),
    "snappy-decompress": ({"history-kib": 2}, libsnappy.compress),
}
"""Units, their parameters, and what makes their input of their output."""


@pytest.fixture(scope="module", params=UNITS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Each unit in both forms."""
    parameters, packed = UNITS[request.param]
    manifest = elaborate(request.param, parameters)
    folder = tmp_path_factory.mktemp("gates")
    in_gates = write_gates(read_design(manifest), load_library(), load_process(), folder)
    units = Unit(manifest), Unit(in_gates)
    yield *units, packed
    assert [unit.violations for unit in units] == [0, 0]


def run(unit: Unit, data: bytes, room: int, misalignment: tuple[int, int]) -> tuple[Completion, bytes]:
    """One operation, and what it wrote."""
    unit.release_all()
    source = unit.load(data, misalignment=misalignment[0])
    target = unit.reserve(room, "rw", misalignment[1])
    ended = operate(unit, source, target, max_cycles=HUNG)
    return ended, unit.read(target, min(ended.output_bytes, room))


@pytest.mark.parametrize("misalignment", [(0, 0), (7, 29)])
@pytest.mark.parametrize("plain", PLAIN, ids=[f"{len(plain)} bytes" for plain in PLAIN])
def test_cycles_and_results_are_those_of_the_rtl(
    pair: Pair, plain: bytes, misalignment: tuple[int, int]
) -> None:
    *units, packed = pair
    results = [run(unit, packed(plain), len(plain), misalignment) for unit in units]
    assert results[0] == results[1]
    assert results[1][0].status == "ok"
    assert results[1][1] == plain
    assert units[0].cycle == units[1].cycle
    assert units[0].digest == units[1].digest


def test_input_that_is_broken_ends_as_in_the_rtl(
    pair: Pair,
) -> None:
    *units, packed = pair
    for place in range(0, 400, 13):
        data = bytearray(packed(TEXT[:3_000]))
        data[place] ^= 1 << place % 8
        assert run(units[0], bytes(data), 3_000, (0, 0)) == run(units[1], bytes(data), 3_000, (0, 0))
    assert units[0].digest == units[1].digest


def test_too_little_room_ends_as_in_the_rtl(pair: Pair) -> None:
    *units, packed = pair
    for room in (0, 1, 100, 4_999):
        results = [run(unit, packed(TEXT[:5_000]), room, (3, 5)) for unit in units]
        assert results[0] == results[1]
        assert results[1][0].status == "output_full"
    assert units[0].digest == units[1].digest
