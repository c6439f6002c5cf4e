"""The unit `store` alone, and what its contract page says in Python: layout, hash, requests, responses.

A region of memory holds a table of buckets and the items that they lead to; places are counted in grains of
32 bytes from its beginning.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from rackwright.unit.alone import Buffer, Unit
from rackwright.unit.commands import Completion, operate, start, wait
from rackwright.unit.config import UnitConfig

Operation = Literal[
    "get",
    "set",
    "delete",
    "add",
    "replace",
    "compare_and_set",
    "get_version",
    "touch",
    "increment",
    "decrement",
    "append",
    "prepend",
    "flush",
    "count",
]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
"""In the order of their numbers."""
_JOINING = ("append", "prepend")
_STORING = ("set", "add", "replace", "compare_and_set", *_JOINING)
_COUNTING = ("increment", "decrement")
_FOR_ALL = ("flush", "count")
_NUMBER = re.compile(rb"[ \t-\r]*(\d+)(?:[ \t-\r\0]|$)", re.DOTALL)

OUTCOMES = ("ok", "missing", "too_long", "no_memory", "broken", "unknown", "access_fault", "exists")
"""How a request may end, in the order of their numbers."""

GRAIN = 32
KEY_BYTES = 250
VALUE_BYTES = 1 << 20
HEADER_BYTES = 16
"""Of a request, and of a response."""

_MAGIC = b"RWS\x02"
_TABLE = 16
_FREE_HEADS = 2
_CLASSES = 64
_MOST_ITEMS = 4095
_USED, _FREE = 0x4B56, 0x4656
_REGION = struct.Struct("<4sI16sIB3x")
_USAGE = struct.Struct("<I4xQQ8x")
_ITEM = struct.Struct("<IIIIIBBHII")
_EXPIRES = 0x8000
"""A bit beside the operation of a request with an expiry."""
_REQUEST = _RESPONSE = struct.Struct("<HHIII")
_WORD = 0xFFFF_FFFF_FFFF_FFFF


def sip_hash(key: bytes, data: bytes) -> int:
    """SipHash-2-4 of `data` under a key of 16 bytes (Aumasson and Bernstein 2012)."""
    k0, k1 = struct.unpack("<2Q", key)
    v: list[int] = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def turned(value: int, by: int) -> int:
        return (value << by | value >> (64 - by)) & _WORD

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0], v[2] = (v[0] + v[1]) & _WORD, (v[2] + v[3]) & _WORD
            v[1], v[3] = turned(v[1], 13) ^ v[0], turned(v[3], 16) ^ v[2]
            v[0], v[2] = (turned(v[0], 32) + v[3]) & _WORD, (v[2] + v[1]) & _WORD
            v[1], v[3] = turned(v[1], 17) ^ v[2], turned(v[3], 21) ^ v[0]
            v[2] = turned(v[2], 32)

    whole = len(data) // 8 * 8
    last = int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56
    for word in (*struct.unpack(f"<{whole // 8}Q", data[:whole]), last):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def size_class(grains: int) -> tuple[int, int]:
    """The least class in which so many grains find room, and the grains of its items."""
    most = grains - 1
    shift = max(0, most.bit_length() - 3)
    lead = most >> shift
    return (lead if shift == 0 else 4 * shift + lead), (lead + 1) << shift


def item_grains(key_bytes: int, value_bytes: int) -> int:
    """The grains that an item needs: header, key, value."""
    return 1 + -(-key_bytes // GRAIN) - (-value_bytes // GRAIN)


def padded(data: bytes, to: int = 8) -> bytes:
    """`data`, and zeros up to a multiple of `to` bytes."""
    return data + bytes(-len(data) % to)


def empty_region(total_bytes: int, bucket_bits: int, hash_key: bytes, time: int = 1) -> bytes:
    """A region without an item, its table of `2 ** bucket_bits` buckets, at a time in seconds."""
    region = bytearray(total_bytes // GRAIN * GRAIN)
    region[:GRAIN] = _REGION.pack(_MAGIC, time, hash_key, len(region) // GRAIN, bucket_bits)
    region[GRAIN : 2 * GRAIN] = _USAGE.pack(_TABLE + (1 << bucket_bits) // 8, 0, 0)
    return bytes(region)


@dataclass(frozen=True)
class Item:
    """An item as it stands in memory."""

    place: int
    key: bytes
    value: bytes
    flags: int
    version: int
    expiry: int = 0


@dataclass(frozen=True)
class Response:
    """What a store says to a request.

    `version` is of the item that a get with version has found, or the number after an increment or decrement,
    or the number of items.
    """

    outcome: str
    value: bytes = b""
    flags: int = 0
    tag: int = 0
    version: int = 0


@dataclass(frozen=True)
class RegionView:
    """What a region holds, read by the contract page.

    Raises `ValueError` where it is not as the page says: a chain that ends nowhere, two items in one place, a
    grain that is neither an item's nor free.
    """

    data: bytes

    def _word(self, offset: int) -> int:
        return int(struct.unpack_from("<I", self.data, offset)[0])

    @property
    def bucket_bits(self) -> int:
        """The logarithm of the buckets."""
        return self.data[28]

    @property
    def first_item(self) -> int:
        """The first grain behind the table."""
        return _TABLE + (1 << self.bucket_bits) // 8

    @property
    def usage(self) -> tuple[int, int, int]:
        """The first grain that no item ever had, the items, and the items ever stored."""
        used, items, version = _USAGE.unpack_from(self.data, GRAIN)
        return used, items, version

    def chain(self, bucket: int) -> Iterator[Item]:
        """The items of a bucket."""
        place = self._word(_TABLE * GRAIN + 4 * bucket)
        while place:
            following, _, value_bytes, _, flags, key_bytes, high, seal, low, expiry = self._header(place)
            if seal != _USED:
                raise ValueError(f"bucket {bucket} leads to grain {place}, which is no item")
            at = (place + 1) * GRAIN
            value_at = at + len(padded(bytes(key_bytes), GRAIN))
            key, value = self.data[at : at + key_bytes], self.data[value_at : value_at + value_bytes]
            yield Item(place, key, value, flags, high << 32 | low, expiry)
            place = following

    def _header(self, place: int) -> tuple[int, ...]:
        return _ITEM.unpack_from(self.data, place * GRAIN)

    def find(self, key: bytes) -> Response:
        """What a get of `key` is answered with, whatever the region holds."""
        time, total = self._word(4), self._word(24)
        hashed = sip_hash(self.data[8:24], key)
        place = self._word(_TABLE * GRAIN + 4 * (hashed & (1 << self.bucket_bits) - 1))
        for _ in range(_MOST_ITEMS):
            if not place:
                return Response("missing")
            if not self.first_item <= place < total:
                return Response("broken")
            following, upper, value_bytes, grains, flags, key_bytes, _, seal, _, expiry = self._header(place)
            fits = value_bytes <= VALUE_BYTES and item_grains(key_bytes, value_bytes) <= grains
            if seal != _USED or not fits or place + grains > total:
                return Response("broken")
            at = (place + 1) * GRAIN
            if (
                upper == hashed >> 32
                and self.data[at : at + len(padded(key))] == padded(key)
                and key_bytes == len(key)
            ):
                if 0 < expiry <= time:
                    return Response("missing")
                value_at = at + len(padded(key, GRAIN))
                return Response("ok", self.data[value_at : value_at + value_bytes], flags)
            place = following
        return Response("broken" if place else "missing")

    def items(self) -> dict[bytes, Item]:
        """All items by their keys, each in the bucket where its hash has it."""
        found: dict[bytes, Item] = {}
        hash_key, mask = self.data[8:24], (1 << self.bucket_bits) - 1
        for bucket in range(mask + 1):
            for item in self.chain(bucket):
                hashed = sip_hash(hash_key, item.key)
                if hashed & mask != bucket or self._header(item.place)[1] != hashed >> 32:
                    raise ValueError(f"{item.key!r} is in bucket {bucket} with another hash")
                if item.key in found:
                    raise ValueError(f"{item.key!r} appears twice")
                found[item.key] = item
        return found

    def free(self) -> list[tuple[int, int]]:
        """Place and grains of what is in the free lists."""
        found = []
        for number in range(_CLASSES):
            place = self._word(_FREE_HEADS * GRAIN + 4 * number)
            while place:
                following, _, _, grains, _, _, _, seal, _, _ = self._header(place)
                if seal != _FREE or size_class(grains) != (number, grains):
                    raise ValueError(f"free list {number} leads to grain {place}, which is not of it")
                found.append((place, grains))
                place = following
        return found

    def check(self) -> None:
        """Every grain behind the table is of one item, free, or never used; the count of items is right."""
        used, count, _ = self.usage
        items = self.items()
        if len(items) != count:
            raise ValueError(f"{count} items, and {len(items)} in the chains")
        places = [(item.place, self._header(item.place)[3]) for item in items.values()] + self.free()
        at = self.first_item
        for place, grains in sorted(places):
            if place != at:
                raise ValueError(f"grain {at} belongs to no item or to two")
            at += grains
        if at != used:
            raise ValueError(f"items end at grain {at}, but the header has {used}")


@dataclass(frozen=True)
class Request:
    """What is asked of a store.

    `version` is what a compare and set expects, or the number to add or subtract; `lengths` are those of key
    and value that the header says in their place; `expiry` is when an item that it stores or touches expires,
    in seconds, and None is left out.
    """

    operation: Operation | int
    key: bytes
    value: bytes = b""
    flags: int = 0
    tag: int = 0
    version: int = 0
    lengths: tuple[int, int] | None = None
    expiry: int | None = None

    def encoded(self) -> bytes:
        """As the unit reads it."""
        number = self.operation if isinstance(self.operation, int) else OPERATIONS.index(self.operation)
        key_bytes, value_bytes = self.lengths or (len(self.key), len(self.value))
        number |= 0 if self.expiry is None else _EXPIRES
        header = _REQUEST.pack(number, key_bytes, value_bytes, self.flags, self.tag)
        leads = self.operation == "compare_and_set" or self.operation in _COUNTING
        expected = struct.pack("<Q", self.version) if leads else b""
        expiry = b"" if self.expiry is None else struct.pack("<Q", self.expiry)
        return header + expected + expiry + padded(self.key) + padded(self.value)


def responses(data: bytes) -> list[Response]:
    """All that stand in `data`; raises `ValueError` where a pad is not zero."""
    found = []
    at = 0
    while at < len(data):
        status, operation, value_bytes, flags, tag = _RESPONSE.unpack_from(data, at)
        at += HEADER_BYTES
        version = 0
        if OUTCOMES[status] == "ok" and OPERATIONS[operation] in ("get_version", "count", *_COUNTING):
            (version,) = struct.unpack_from("<Q", data, at)
            at += 8
        whole = data[at : at + value_bytes + -value_bytes % 8]
        if any(whole[value_bytes:]):
            raise ValueError("a value is followed by extra bytes")
        found.append(Response(OUTCOMES[status], whole[:value_bytes], flags, tag, version))
        at += len(whole)
    return found


@dataclass
class Oracle:
    """A dictionary that answers as a store with memory for everything does.

    `items` are values, flags, versions and expiries, those of expired items too; `version` is the latest that
    was given, `time` the present one, `flush_time` that of a pending flush, or 0.
    """

    items: dict[bytes, tuple[bytes, int, int, int]] = field(default_factory=dict)
    version: int = 0
    time: int = 1
    flush_time: int = 0

    def answer(self, request: Request) -> Response:
        """The response, and what the request changes."""
        outcome = self._outcome(request)
        return self._done(request) if outcome == "ok" else Response(outcome, tag=request.tag)

    def _outcome(self, request: Request) -> str:
        if request.operation not in OPERATIONS:
            return "unknown"
        stores = request.operation in _STORING
        if request.operation in _FOR_ALL:
            return "too_long" if request.key else "ok"
        if not 1 <= len(request.key) <= KEY_BYTES or (stores and len(request.value) > VALUE_BYTES):
            return "too_long"
        known = self.items.get(request.key)
        if known is None or 0 < known[3] <= self.time:
            return "ok" if request.operation in ("set", "add") else "missing"
        other = request.operation == "compare_and_set" and known[2] != request.version
        if request.operation in _COUNTING:
            return "exists" if number_of(known[0]) is None else "ok"
        if request.operation in _JOINING and len(known[0]) + len(request.value) > VALUE_BYTES:
            return "too_long"
        return "exists" if request.operation == "add" or other else "ok"

    def _done(self, request: Request) -> Response:
        if request.operation in _STORING or request.operation in _COUNTING:
            return self._stored(request)
        if request.operation == "count":
            return Response("ok", tag=request.tag, version=len(self.items))
        if request.operation == "flush":
            self._flush(request.expiry or 0)
            return Response("ok", tag=request.tag)
        if request.operation == "delete":
            del self.items[request.key]
            return Response("ok", tag=request.tag)
        value, flags, version, _ = self.items[request.key]
        if request.operation == "touch":
            self.items[request.key] = (value, flags, version, request.expiry or 0)
            return Response("ok", tag=request.tag)
        return Response("ok", value, flags, request.tag, version if request.operation == "get_version" else 0)

    def _flush(self, time: int) -> None:
        if time > self.time:
            self.flush_time = time
        else:
            self.items.clear()
            self.flush_time = 0
            self.version += 1

    def pass_to(self, time: int) -> None:
        """Another time, before which no request is answered any more; a flush that is due is executed."""
        self.time = time
        if 0 < self.flush_time <= time:
            self.items.clear()
            self.flush_time = 0

    def _stored(self, request: Request) -> Response:
        self.version += 1
        before, flags, _, expiry = self.items.get(request.key, (b"", request.flags, 0, 0))
        value, number = request.value, 0
        if request.operation == "append":
            value = before + request.value
        elif request.operation == "prepend":
            value = request.value + before
        elif request.operation in _COUNTING:
            number = counted(request.operation == "increment", number_of(before) or 0, request.version)
            value = (b"%d" % number).ljust(len(before))
        else:
            flags, expiry = request.flags, request.expiry or 0
        self.items[request.key] = (value, flags, self.version, expiry)
        return Response("ok", tag=request.tag, version=number)


def number_of(value: bytes) -> int | None:
    """The decimal number that a value of up to 32 bytes begins with; None if it is not one below 2^64."""
    found = _NUMBER.match(value) if len(value) <= GRAIN else None
    number = None if found is None else int(found[1])
    return number if number is not None and number <= _WORD else None


def counted(up: bool, number: int, by: int) -> int:
    """The sum, modulo 2^64, or the difference, which is not below 0."""
    return (number + by) & _WORD if up else max(0, number - by)


class StoreUnit:
    """The unit, and a region in its memory."""

    def __init__(
        self,
        region_bytes: int = 1 << 20,
        bucket_bits: int = 8,
        *,
        hash_key: bytes = bytes(range(16)),
        parameters: Mapping[str, int | str] | None = None,
        assertions: bool = False,
    ) -> None:
        """Elaborates and compiles it, and gives it an empty region."""
        self.unit = Unit(UnitConfig("store", parameters or {}), assertions=assertions)
        self.renew(empty_region(region_bytes, bucket_bits, hash_key))

    def renew(self, region: bytes) -> None:
        """Another region in the place of the one there is; all buffers are forgotten."""
        self.unit.release_all()
        self.region = self.unit.load(region, "rw")
        self.unit.command("region", self.region.address)
        self._next = self.unit.reserve(0, "").address

    def view(self) -> RegionView:
        """What the region holds now."""
        return RegionView(self.unit.read(self.region))

    def run(self, data: bytes, room: int, *, misalignment: int = 0) -> tuple[Completion, bytes]:
        """One operation over requests; how it ended and what it wrote."""
        source = self.unit.load(data, misalignment=misalignment)
        target = self.unit.reserve(room, misalignment=3 * misalignment % 64)
        ended = operate(self.unit, source, target, max_cycles=100_000 + 1000 * len(data))
        return ended, self.unit.read(target, ended.output_bytes)

    def ask(
        self, requests: Iterable[Request], *, room: int = 1 << 16, misalignment: int = 0
    ) -> list[Response]:
        """The responses to requests in one operation, which must end well."""
        data = b"".join(request.encoded() for request in requests)
        ended, output = self.run(data, room, misalignment=misalignment)
        if (ended.status, ended.input_offset) != ("ok", len(data)):
            raise ValueError(f"{ended} for {len(data)} bytes of requests")
        return responses(output)

    def cycles(self, batches: list[bytes], room: int) -> int:
        """The cycles from the start of the first operation to the end of the last, with buffers in L2."""
        places: list[tuple[Buffer, Buffer]] = []
        for batch in batches:
            source, target = self.unit.load(batch), self.unit.reserve(room)
            self.unit.bench.warm(source.address, source.length, "l2")
            places.append((source, target))
        begin = self.unit.cycle
        for source, target in places:
            start(self.unit, source, target)
        wait(self.unit)
        return self.unit.cycle - begin
