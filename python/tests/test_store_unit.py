"""The unit `store` against a dictionary, and the memory that it leaves against its contract page."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.unit.store import (
    GRAIN,
    KEY_BYTES,
    OPERATIONS,
    Operation,
    Oracle,
    Request,
    Response,
    StoreUnit,
    empty_region,
    responses,
    sip_hash,
    size_class,
)

HASH_KEY = bytes(range(16))


@pytest.fixture(scope="module")
def store() -> Iterator[StoreUnit]:
    """A unit that must not have touched what is not its."""
    store = StoreUnit(assertions=True)
    yield store
    assert store.unit.violations == 0


def history(source: random.Random, length: int, keys: int) -> list[Request]:
    """Requests for a few keys of any length, so that they meet each other."""
    names = [source.randbytes(source.choice([1, 7, 8, 16, 31, 32, 33, KEY_BYTES])) for _ in range(keys)]
    names[0] = b"k"
    found = []
    for number in range(length):
        operation: Operation = source.choices(OPERATIONS, [6, 4, 2, 2, 2, 3, 3, 1, 3, 3, 2, 2, 0.3, 1])[0]
        stores = operation in ("set", "add", "replace", "compare_and_set", "append", "prepend")
        value = source.randbytes(source.choice([0, 1, 31, 32, 64, 65, 300])) if stores else b""
        if stores and source.random() < 0.4:
            value = source.choice([b"0", b"9", b" 98", b"7 x", b"%d" % (2**64 - 1), b"%d" % 2**64])
        version = source.choice([source.randrange(length // 4), source.getrandbits(64)])
        # Of the time 1: without an expiry, expired, and not yet.
        expiry = source.choice([None, None, None, 0, 1, 2, 2**32 - 1])
        flags = source.getrandbits(32)
        name = key_of(operation, source.choice(names))
        found.append(Request(operation, name, value, flags, number, version, expiry=expiry))
    return found


def key_of(operation: Operation, key: bytes) -> bytes:
    """What is for all items has no key."""
    return b"" if operation in ("flush", "count") else key


def test_the_hash_of_its_authors() -> None:
    """The vector in appendix A of Aumasson and Bernstein 2012."""
    assert sip_hash(HASH_KEY, bytes(range(15))) == 0xA129CA6149BE45E5


def test_classes_of_sizes_follow_each_other() -> None:
    sizes = sorted({size_class(grains) for grains in range(1, 40_000)})
    assert [number for number, _ in sizes] == list(range(len(sizes)))
    assert all(size_class(grains) == (number, grains) for number, grains in sizes)
    for (_, less), (_, more) in pairwise(sizes[8:]):
        assert less < more <= less * 5 // 4


def test_a_flush_removes_all_items_when_its_time_has_come(store: StoreUnit) -> None:
    """Memory is as after formatting, so that there is room for as much as before."""
    store.renew(empty_region(1 << 16, 3, HASH_KEY, time=100))
    oracle = Oracle(time=100)

    def ask(*requests: Request) -> None:
        assert store.ask(requests) == [oracle.answer(request) for request in requests]
        store.view().check()

    def fill() -> None:
        ask(*[Request("set", b"key%d" % number, bytes(900)) for number in range(60)], Request("count", b""))

    fill()
    ask(Request("flush", b""), Request("get", b"key1"), Request("count", b""), Request("set", b"a", b"b"))
    for due in (None, 0, 100):
        fill()
        ask(Request("flush", b"", expiry=due), Request("count", b""))
    ask(Request("set", b"key0", b"a"), Request("flush", b"", expiry=103), Request("get", b"key0"))
    fill()
    for time in (102, 103, 104):
        oracle.pass_to(time)
        store.unit.bench.write_memory(store.region.address + 4, struct.pack("<I", time))
        ask(Request("get", b"key0"), Request("set", b"key1", b"1"), Request("count", b""))
    fill()
    ask(Request("flush", b"", expiry=2**32 - 1), Request("flush", b""), Request("count", b""))
    assert store.view().find(b"key0") == Response("missing")


@settings(max_examples=12)
@given(
    seed=st.integers(0, 1 << 32),
    keys=st.integers(1, 40),
    bucket_bits=st.integers(3, 6),
    misalignment=st.integers(0, 63),
)
def test_any_history(store: StoreUnit, seed: int, keys: int, bucket_bits: int, misalignment: int) -> None:
    """Answers are those of a dictionary, and so are the items that are in memory afterwards."""
    store.renew(empty_region(1 << 19, bucket_bits, HASH_KEY))
    oracle, source = Oracle(), random.Random(seed)
    requests = history(source, 120, keys)
    while requests:
        count = source.choice([1, 5, 50])
        batch, requests = requests[:count], requests[count:]
        assert store.ask(batch, misalignment=misalignment) == [oracle.answer(request) for request in batch]
    view = store.view()
    view.check()
    items = {key: (item.value, item.flags, item.version, item.expiry) for key, item in view.items().items()}
    assert items == oracle.items
    assert view.usage[1:] == (len(oracle.items), oracle.version)


def test_many_gets_at_a_time(store: StoreUnit) -> None:
    store.renew(empty_region(1 << 20, 12, HASH_KEY))
    oracle, source = Oracle(), random.Random(4)
    names = [source.randbytes(16) for _ in range(300)]
    for batch in (names[:150], names[150:]):
        requests = [Request("set", name, source.randbytes(64)) for name in batch]
        assert store.ask(requests) == [oracle.answer(request) for request in requests]
    gets = [Request("get", source.choice(names), tag=number) for number in range(400)]
    assert store.ask(gets) == [oracle.answer(request) for request in gets]
    data = b"".join(request.encoded() for request in gets)
    one = store.cycles([gets[0].encoded()] * 40, 128) / 40
    many = store.cycles([data], 1 << 16) / 400
    assert many < one / 4


def test_a_version_is_of_one_item(store: StoreUnit) -> None:
    """Who has read it may replace that item, and nobody may do so twice."""
    store.renew(empty_region(1 << 16, 3, HASH_KEY))
    store.ask([Request("set", b"key", b"one"), Request("set", b"other", b"")])
    (got,) = store.ask([Request("get_version", b"key")])
    assert (got.value, got.version) == (b"one", 1)
    change = Request("compare_and_set", b"key", b"two", version=got.version)
    elsewhere = Request("compare_and_set", b"nobody", b"two", version=got.version)
    assert [answer.outcome for answer in store.ask([change, change, elsewhere])] == [
        "ok",
        "exists",
        "missing",
    ]
    assert store.ask([Request("get_version", b"key")]) == [Response("ok", b"two", version=3)]


def test_items_expire_when_their_time_has_come(store: StoreUnit) -> None:
    """The time is a word of the region, which a program advances."""
    store.renew(empty_region(1 << 16, 3, HASH_KEY, time=100))
    oracle = Oracle(time=100)
    asked = [
        Request("set", b"soon", b"5", expiry=101),
        Request("add", b"later", b"b", expiry=102),
        Request("set", b"touched", b"c", expiry=101),
        Request("touch", b"touched", expiry=200),
        Request("set", b"untouched", b"d", expiry=200),
        Request("touch", b"untouched"),
        Request("set", b"past", b"e", expiry=100),
    ]
    assert store.ask(asked) == [oracle.answer(request) for request in asked]
    names = [b"soon", b"later", b"touched", b"untouched", b"past"]
    gets = [Request("get", name) for name in names]
    alive = []
    for time in (100, 101, 102, 200):
        oracle.time = time
        store.unit.bench.write_memory(store.region.address + 4, struct.pack("<I", time))
        found = store.ask(gets)
        assert found == [oracle.answer(request) for request in gets]
        assert found == [store.view().find(name) for name in names]
        alive.append([name for name, response in zip(names, found, strict=True) if response.outcome == "ok"])
    assert alive == [names[:4], names[1:4], names[2:4], names[3:4]]
    again = [Request(each, b"soon", b"x") for each in OPERATIONS if each not in ("set", "add")]
    again += [Request("add", b"soon", b"new"), Request("get", b"soon"), Request("append", b"soon", b"er")]
    assert store.ask(again) == [oracle.answer(request) for request in again]
    store.view().check()


@pytest.mark.parametrize(
    ("request_", "outcome"),
    [
        (Request("get", b""), "too_long"),
        (Request("get", bytes(KEY_BYTES + 1)), "too_long"),
        (Request("set", bytes(3000), b"value"), "too_long"),
        (Request("set", b"key", bytes((1 << 20) + 1)), "too_long"),
        (Request("compare_and_set", b"", b"value", version=1), "too_long"),
        (Request(14, b"key", b"value"), "unknown"),
        (Request(15, b"key", b"value", expiry=7), "unknown"),
        (Request("flush", b"key", b"value", expiry=7), "too_long"),
        (Request("count", b"key"), "too_long"),
        (Request("set", b"", b"value", expiry=7), "too_long"),
        (Request(0x101, b"key"), "unknown"),
    ],
)
def test_requests_that_make_no_sense(store: StoreUnit, request_: Request, outcome: str) -> None:
    """Each is answered, and those around it are obeyed."""
    store.renew(empty_region(1 << 16, 3, HASH_KEY))
    around = [Request("set", b"key", b"here"), request_, Request("get", b"key", b"ignored")]
    assert store.ask(around) == [Response("ok"), Response(outcome), Response("ok", b"here")]


def test_no_memory_for_an_item(store: StoreUnit) -> None:
    """What was there stays, and what becomes free is used again."""
    store.renew(empty_region(GRAIN * (17 + 12), 3, HASH_KEY))
    small, large = bytes(range(60)), bytes(1 << 12)
    assert store.ask([Request("set", b"a", small), Request("set", b"b", small)]) == [Response("ok")] * 2
    asked = [Request("set", b"c", large), Request("set", b"a", large), Request("get", b"a")]
    assert store.ask(asked) == [Response("no_memory"), Response("no_memory"), Response("ok", small)]
    # A replacement stands beside what it replaces.
    assert store.ask([Request("set", b"a", b"1" * 60), Request("set", b"d", small)]) == [Response("ok")] * 2
    assert store.ask([Request("set", b"e", small), Request("delete", b"b"), Request("set", b"e", small)]) == [
        Response("no_memory"),
        Response("ok"),
        Response("ok"),
    ]
    store.view().check()


@pytest.mark.parametrize("cut", [1, 15, 17, 30, 34, 40])
def test_requests_that_are_cut_off(store: StoreUnit, cut: int) -> None:
    """What is whole is obeyed; of the rest nothing is stored."""
    store.renew(empty_region(1 << 16, 3, HASH_KEY))
    first, second = Request("set", b"first", b"1"), Request("set", b"a key", b"some value")
    ended, output = store.run((first.encoded() + second.encoded())[: len(first.encoded()) + cut - 1], 64)
    assert (ended.status, ended.input_offset) == ("ok" if cut == 1 else "malformed", len(first.encoded()))
    assert responses(output) == [Response("ok")]
    store.view().check()
    assert set(store.view().items()) == {b"first"}


def test_too_little_room(store: StoreUnit) -> None:
    store.renew(empty_region(1 << 16, 3, HASH_KEY))
    store.ask([Request("set", b"key", bytes(range(100)))])
    ended, output = store.run(Request("get", b"key").encoded() * 30, 200)
    assert (ended.status, ended.output_bytes) == ("output_full", 200)
    assert responses(output[:120]) == [Response("ok", bytes(range(100)))]


@pytest.mark.parametrize("change", ["magic", "buckets", "too many buckets", "size"])
def test_what_is_no_region(store: StoreUnit, change: str) -> None:
    region = bytearray(empty_region(1 << 12, 3, HASH_KEY))
    at, value = {"magic": (3, 0), "buckets": (28, 2), "too many buckets": (28, 29), "size": (24, 1)}[change]
    region[at] = value
    if change == "size":
        region[25:28] = bytes(3)
    store.renew(bytes(region))
    ended, output = store.run(Request("get", b"key").encoded(), 64)
    assert (ended.status, output) == ("unsupported", b"")


def test_a_key_with_the_hash_of_another_is_not_that_one(store: StoreUnit) -> None:
    """Behind it in the chain, the right one is found."""
    store.renew(empty_region(1 << 14, 3, HASH_KEY))
    names = [b"key number %02d, of which some meet" % number for number in range(30)]
    store.ask([Request("set", name, name) for name in names])
    view = store.view()
    first, second = list(view.chain(sip_hash(HASH_KEY, names[0]) & 7))[:2]
    for at in (0, len(names[0]) - 1):
        data = bytearray(view.data)
        data[(first.place + 1) * GRAIN + at] ^= 1
        store.renew(bytes(data))
        asked = store.ask([Request("get", first.key), Request("get", second.key)])
        assert asked == [Response("missing"), Response("ok", second.key)]


def mutated(region: bytes, source: random.Random) -> bytes:
    """Some of its words behind the header changed: to nonsense, to other places, to other words of it."""
    data = bytearray(region)
    for _ in range(source.choice([1, 3, 30])):
        at = 4 * source.randrange(GRAIN // 4, len(data) // 4)
        value = source.choice(
            [source.getrandbits(32), source.randrange(len(data) // GRAIN), 1 << source.randrange(32)]
        )
        struct.pack_into("<I", data, at, value & 0xFFFF_FFFF)
    return bytes(data)


@settings(max_examples=25)
@given(seed=st.integers(0, 1 << 32))
def test_memory_that_somebody_has_written_over(store: StoreUnit, seed: int) -> None:
    """A get is answered as the page says, every request ends, nothing outside of the region is touched."""
    source = random.Random(seed)
    store.renew(empty_region(1 << 13, 3, HASH_KEY))
    names = [source.randbytes(source.choice([3, 16, 40])) for _ in range(12)]
    store.ask([Request("set", name, name * source.choice([1, 3])) for name in names])
    store.renew(mutated(store.unit.read(store.region), source))
    view = store.view()
    assert store.ask([Request("get", name) for name in names]) == [view.find(name) for name in names]
    operations = [source.choice(OPERATIONS) for _ in names + names]
    asked = [
        Request(operation, key_of(operation, name), name)
        for operation, name in zip(operations, names + names, strict=True)
    ]
    assert {response.outcome for response in store.ask(asked)} <= {
        "ok",
        "missing",
        "no_memory",
        "broken",
        "exists",
    }


def test_a_region_of_which_memory_refuses_a_part() -> None:
    store = StoreUnit(1 << 13, 3, assertions=True)
    store.ask([Request("set", b"key", bytes(100))])
    # The table is there, items are not.
    store.unit.bench.forbid_all()
    store.unit.bench.allow(store.region.address, 17 * GRAIN, "rw")
    assert (
        store.ask([Request("get", b"key"), Request("set", b"key", b"v"), Request("delete", b"key")])
        == [Response("access_fault")] * 3
    )
