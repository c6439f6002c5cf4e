"""The unit `ordered-index` and its program, on trees that the header makes, against a sorted list."""

from __future__ import annotations

import ctypes
import random
import subprocess
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

import pytest
from command_line import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import long

from rackwright.unit.commands import operate
from rackwright.unit.ordered import END, NODE_BYTES, Answer, OrderedUnit, Pattern, encoded

SOFTWARE = REPOSITORY / "software"
SMALL: dict[str, int | str] = {"sets": 8, "walks": 8}
"""A cache of 32 nodes, so that some are replaced."""

WRAPPER = """
#include "rackwright/ordered.h"
int fill(rw_ordered *tree, size_t bytes, const uint64_t *keys, const uint32_t *values, size_t count)
{
    if (!rw_ordered_format(tree, bytes)) return 0;
    for (size_t i = 0; i < count; i++) if (!rw_ordered_insert(tree, keys[i], values[i])) return 0;
    return 1;
}
void ask(rw_ordered *tree, uint64_t low, uint64_t high, rw_ordered_answer *to)
{
    *to = rw_ordered_ask(tree, low, high);
}
void choose(const rw_ordered *tree, uint32_t nodes, unsigned *to)
{
    const rw_ordered_pattern found = rw_ordered_choose(tree, nodes, 0);
    to[0] = found.near_level, to[1] = found.near_shift, to[2] = found.wide_level, to[3] = found.wide_shift;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("ordered")
    (folder / "tree.c").write_text(WRAPPER, encoding="utf-8")
    made = folder / "tree.so"
    command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{SOFTWARE / 'include'}"]
    subprocess.run([*command, "-o", str(made), str(folder / "tree.c")], check=True)
    return ctypes.CDLL(str(made))


class Tree:
    """A tree on this machine, and what it holds."""

    def __init__(self, library: ctypes.CDLL, items: dict[int, int], order: list[int] | None = None) -> None:
        keys = order or list(items)
        size = NODE_BYTES * (len(keys) + 40)
        self.library = library
        self._memory = ctypes.create_string_buffer(size + 64)
        self._at = ctypes.addressof(self._memory) + -ctypes.addressof(self._memory) % 64
        given = (
            (ctypes.c_uint64 * len(keys))(*keys),
            (ctypes.c_uint32 * len(keys))(*(items[key] for key in keys)),
        )
        assert library.fill(
            ctypes.c_void_p(self._at), ctypes.c_size_t(size), *given, ctypes.c_size_t(len(keys))
        )
        self.data = ctypes.string_at(self._at, size)
        self.keys = sorted(items)
        self.values = [items[key] for key in self.keys]
        self._sums = [0, *accumulate(self.values)]

    def expected(self, query: tuple[int, int]) -> Answer:
        """The answer by the sorted list."""
        low = bisect_left(self.keys, query[0])
        high = max(low, bisect_right(self.keys, query[1]))
        return Answer(high - low, self.values[low] if high > low else 0, self._sums[high] - self._sums[low])

    def by_program(self, query: tuple[int, int]) -> Answer:
        """The answer by the header."""
        found = (ctypes.c_uint32 * 4)()
        self.library.ask(ctypes.c_void_p(self._at), *map(ctypes.c_uint64, query), found)
        return Answer(found[0], found[1], found[2] | found[3] << 32)

    def pattern(self, nodes: int) -> Pattern:
        """What the header chooses for a cache of so many nodes."""
        found = (ctypes.c_uint * 4)()
        self.library.choose(ctypes.c_void_p(self._at), ctypes.c_uint32(nodes), found)
        return Pattern(*found)


@pytest.fixture(
    scope="module",
    params=[
        ("range", False),
        long(("range", True), why="half a minute of a processor; another design, with its own assertions"),
        long(("address", True), why="half a minute of a processor; the cache that ours is compared with"),
    ],
)
def index(request: pytest.FixtureRequest) -> Iterator[OrderedUnit]:
    """A unit that must not have read what is not its."""
    cache, assertions = request.param
    index = OrderedUnit({**SMALL, "cache": cache}, assertions=assertions)
    yield index
    assert index.unit.violations == 0


def items_of(source: random.Random, count: int) -> dict[int, int]:
    """Keys that are close to each other or far apart, and both ends of what keys can be."""
    bits = source.choice([12, 20, 64])
    keys = {source.getrandbits(bits) for _ in range(count)} - {END} | {0, END - 1}
    ordered = sorted(keys, reverse=source.random() < 0.3)
    if source.random() < 0.5:
        source.shuffle(ordered)
    return {key: source.getrandbits(32) for key in ordered}


def queries_of(source: random.Random, keys: list[int], count: int) -> list[tuple[int, int]]:
    """Keys that there are and that there are not, ranges of a few keys and of none."""
    found = []
    for _ in range(count):
        at = source.randrange(len(keys))
        key = keys[at] if source.random() < 0.7 else source.getrandbits(64)
        if source.random() < 0.6:
            found.append((key, key))
        else:
            last = keys[min(at + source.randrange(40), len(keys) - 1)]
            found.append((key, source.choice([last, last - 1 if last else 0, key])))
    return [*found, (END, END), (0, 0), (5, 4)]


@settings(max_examples=12)
@given(seed=st.integers(0, 1 << 32), count=st.integers(1, 700), misalignment=st.integers(0, 63))
def test_any_tree_answers_as_a_sorted_list_does(
    library: ctypes.CDLL, index: OrderedUnit, seed: int, count: int, misalignment: int
) -> None:
    """The unit with any pattern, several times while its cache fills, and the program."""
    source = random.Random(seed)
    tree = Tree(library, items_of(source, count))
    any_pattern = Pattern(*(source.randrange(most) for most in (4, 64, 5, 64)))
    for pattern in (tree.pattern(32), any_pattern):
        index.open(tree.data, pattern, tree_version=source.getrandbits(31))
        for _ in range(2):
            queries = queries_of(source, tree.keys, 60)
            expected = [tree.expected(query) for query in queries]
            assert index.ask(queries, misalignment=misalignment) == expected
            assert [tree.by_program(query) for query in queries] == expected


@settings(max_examples=10)
@given(seed=st.integers(0, 1 << 32))
def test_whatever_memory_holds_every_operation_ends(
    library: ctypes.CDLL, index: OrderedUnit, seed: int
) -> None:
    """And reads nodes only, as the fixture says at its end."""
    source = random.Random(seed)
    tree = Tree(library, items_of(source, 200))
    used = int.from_bytes(tree.data[8:12], "little")
    data = bytearray(tree.data)
    for _ in range(source.choice([1, 10, 1000])):
        data[source.randrange(2 * NODE_BYTES, used * NODE_BYTES)] = source.getrandbits(8)
    index.open(bytes(data), tree.pattern(32), tree_version=source.getrandbits(31))
    queries = encoded(queries_of(source, tree.keys, 40))
    ended, found = index.run(queries, len(queries))
    assert ended.status in ("ok", "malformed")
    assert ended.input_offset == 16 * len(found)
    assert (len(found) == len(queries) // 16) == (ended.status == "ok")


def test_operations_that_cannot_be_done_end_with_a_status(library: ctypes.CDLL, index: OrderedUnit) -> None:
    tree = Tree(library, {key: key for key in range(0, 1000, 7)})
    known = encoded([(7, 7), (14, 70), (8, 9)])
    expected = [Answer(1, 7, 7), Answer(9, 14, sum(range(14, 71, 7))), Answer(0, 0, 0)]

    def ended(data: bytes, room: int, **changed: int) -> tuple[str, int, list[Answer]]:
        index.open(tree.data, tree.pattern(32), **changed)
        completion, found = index.run(data, room)
        return completion.status, completion.input_offset, found

    assert ended(known, 48) == ("ok", 48, expected)
    assert ended(known + b"12345678", 64) == ("malformed", 48, expected)
    assert ended(b"", 16) == ("ok", 0, [])
    assert ended(known, 32)[::2] == ("output_full", expected[:2])
    assert ended(known, 48, root=0)[0] == "unsupported"
    assert ended(known, 48, node_limit=2)[0] == "unsupported"
    assert ended(known, 48, nodes=8)[0] == "unsupported"
    # Every leaf but the first ones is behind the limit.
    assert ended(encoded([(0, 0), (994, END)]), 48, node_limit=3, root=2)[::2] == (
        "malformed",
        [Answer(1, 0, 0)],
    )


@pytest.mark.parametrize(
    "cache", ["range", long("address", why="half a minute of a processor for its design")]
)
def test_memory_that_refuses_a_node_ends_an_operation(library: ctypes.CDLL, cache: str) -> None:
    index = OrderedUnit({**SMALL, "cache": cache})
    tree = Tree(library, {key: key for key in range(0, 1000, 7)})
    used = int.from_bytes(tree.data[8:12], "little")
    index.open(tree.data, tree.pattern(32), root=used + 500, node_limit=used + 501)
    ended, found = index.run(encoded([(7, 7)]), 16)
    assert (ended.status, found) == ("access_fault", [])
    index.open(tree.data, tree.pattern(32))
    assert index.ask([(7, 7)]) == [Answer(1, 7, 7)]


@pytest.mark.long("half a minute of a processor for the design with a cache by address")
def test_a_cache_by_range_skips_the_levels_that_one_by_address_passes(library: ctypes.CDLL) -> None:
    tree = Tree(library, {key * 1000: key for key in range(700)})
    queries = [(key * 1000, key * 1000) for key in range(100, 108)] * 100
    cycles = {}
    for cache in ("range", "address"):
        index = OrderedUnit({**SMALL, "cache": cache})
        index.open(tree.data, tree.pattern(32))
        for _ in range(2):
            begin = index.unit.cycle
            assert index.ask(queries) == [tree.expected(query) for query in queries]
            cycles[cache] = index.unit.cycle - begin
    assert cycles["range"] < cycles["address"] / 2


@pytest.mark.long("a minute of a processor: 65,536 leaves, one after the other")
def test_leaves_that_lead_to_each_other_end(library: ctypes.CDLL, index: OrderedUnit) -> None:
    tree = Tree(library, {1: 1})
    data = bytearray(tree.data)
    data[3 * NODE_BYTES - 4 : 3 * NODE_BYTES] = (2).to_bytes(4, "little")
    index.open(bytes(data), Pattern())
    query = encoded([(0, END)])
    source, target = index.unit.load(query), index.unit.reserve(16)
    assert operate(index.unit, source, target, max_cycles=20_000_000).status == "malformed"
