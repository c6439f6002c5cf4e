"""The page-fault unit alone, with entries, frames, records and a ring in memory; the test plays the blade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rackwright.unit.alone import Unit
from rackwright.unit.config import UnitConfig

OPCODE = 3
PAGE_BYTES = 4096
ENTRIES = 0x7_0000
RING = 0x8_0000
RECORDS = 0x9_0000
FRAMES = 0x10_0000
TICKS_OF_AN_ATTEMPT = 5
ATTEMPTS = 12
HEADER_BYTES, PAGE_PLACE = 40, 40
UNIT_ADDRESS, BLADE_ADDRESS = bytes.fromhex("02000000000a"), bytes.fromhex("02000000000b")

READ, WRITE, EXECUTE, USER = 2, 4, 8, 16
SERVED, NO_FRAME, BUSY, NOT_REMOTE, EXECUTABLE, TIME_OUT, BLADE, ACCESS_FAULT = range(8)
FETCH, FETCHED, STORED = 1, 0x81, 0x82
DONE, UNKNOWN, OLDER = range(3)


@dataclass(frozen=True)
class Returned:
    """A frame that came back, and whether its page was stored."""

    frame: int
    stored: bool


def internet_checksum(data: bytes) -> bytes:
    """RFC 1071 over an even number of bytes, high byte first."""
    total = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF).to_bytes(2, "big")


def _answer(request: bytes, operation: int, status: int, content: bytes) -> bytes:
    header = request[6:12] + request[:6] + request[12:15] + bytes([operation]) + request[16:20]
    message = header + bytes([status, 1]) + request[22:HEADER_BYTES] + content
    return message + internet_checksum(message[14:]) + bytes(6)


def stored_answer(request: bytes) -> bytes:
    """What a blade says when it has stored the page of a request (software/remote-memory/PROTOCOL.md)."""
    return _answer(request, STORED, DONE, bytes(16))


def fetched_answer(request: bytes, content: bytes) -> bytes:
    """What a blade says that has the page, whose content that is."""
    return _answer(request, FETCHED, DONE, content)


def fetched_nothing(request: bytes, status: int) -> bytes:
    """What a blade says that has not got the page, or not that version."""
    return _answer(request, FETCHED, status, bytes(16))


def page_of(request: bytes) -> int:
    """The number of the page that a message is about."""
    return int.from_bytes(request[24:32], "little")


def version_of(request: bytes) -> int:
    """The version of the page that a message is about."""
    return int.from_bytes(request[22:24], "little")


def remote_entry(page: int, *, version: int = 1, rights: int = READ | WRITE | USER) -> int:
    """The entry of a page that is on the blade."""
    return rights | 1 << 8 | version << 10 | page << 26


def frame_address(frame: int) -> int:
    """Where the frame of that number is."""
    return FRAMES + frame * PAGE_BYTES


def frame_number(frame: int) -> int:
    """The physical page number of the frame of that number."""
    return frame_address(frame) // PAGE_BYTES


class PageFaultUnit:
    """A unit with a ring; entry `n` of the tables, frame `n` and record `n` are there for each of `pages`."""

    def __init__(self, parameters: Mapping[str, int] | None = None, pages: int = 16) -> None:
        self.unit = Unit(UnitConfig("page-fault", parameters or {}), assertions=True)
        self.bench = self.unit.bench
        self.bench.allow(ENTRIES, PAGE_BYTES, "rw")
        self.bench.allow(RING, PAGE_BYTES, "w")
        self.bench.allow(RECORDS, PAGE_BYTES, "w")
        self.bench.allow(FRAMES, pages * PAGE_BYTES, "rw")
        self.taken = 0
        self.tell(6, RING)
        self.tell(8, int.from_bytes(UNIT_ADDRESS, "little"))
        self.tell(9, int.from_bytes(BLADE_ADDRESS, "little"), 0)

    def tell(self, funct: int, first: int = 0, second: int = 0) -> None:
        """Gives a command that is not answered."""
        self.bench.command(OPCODE, funct, first, second)

    def asks(self, funct: int, first: int = 0) -> int:
        """Gives a command that is answered, and waits for that."""
        answer = self.bench.command(OPCODE, funct, first, 0, xd=True)
        assert answer is not None
        return answer

    def entry(self, index: int) -> int:
        """What is in entry `index`."""
        return int.from_bytes(self.bench.read_memory(ENTRIES + 8 * index, 8), "little")

    def set_entry(self, index: int, entry: int) -> None:
        """Puts that into it."""
        self.bench.write_memory(ENTRIES + 8 * index, entry.to_bytes(8, "little"))

    def record(self, index: int) -> tuple[int, int]:
        """The words of record `index`."""
        both = self.bench.read_memory(RECORDS + 16 * index, 16)
        return int.from_bytes(both[:8], "little"), int.from_bytes(both[8:], "little")

    def give_frame(self, frame: int) -> None:
        """Frame and record of that number are for a page that comes."""
        self.tell(3, frame_address(frame), RECORDS + 16 * frame)

    def walk(self, index: int) -> int:
        """The hart's walk has met entry `index`: the cause that it is told."""
        return self.asks(0, ENTRIES + 8 * index)

    def fetch(self, index: int) -> int:
        """The same, of software."""
        return self.asks(1, ENTRIES + 8 * index)

    def prefetch(self, index: int, *, hart: bool = False) -> None:
        """Requests the page of entry `index`; no hart waits for it."""
        self.tell(0 if hart else 1, ENTRIES + 8 * index)

    def evict(self, frame: int, remote: int) -> None:
        """Evicts the page in a frame, which is written to the remote page."""
        self.tell(4, frame_address(frame), remote)

    def tick(self, count: int) -> None:
        """Lets so much time pass for the unit, and what that makes it do happen."""
        for _ in range(count):
            self.tell(7)
            self.bench.run_until_idle()

    def deliver(self, *answers: bytes, after: int = 0) -> int:
        """Has messages arrive one behind the other, from so many cycles on; gives the end of the last."""
        at = self.bench.cycle + after
        for answer in answers:
            at = self.bench.deliver(answer, at)
        return at

    def sent(self) -> list[bytes]:
        """The messages that have left since the last time."""
        self.bench.run_until_idle()
        return [message for _, _, message in self.bench.sent_frames()]

    def new_pages(self) -> int:
        """How many pages have come so far."""
        return self.asks(5)

    def returned(self) -> list[Returned]:
        """The frames that have come back since the last time."""
        self.bench.run_until_idle()
        found: list[Returned] = []
        while True:
            turn, place = divmod(self.taken, 256)
            word = int.from_bytes(self.bench.read_memory(RING + 16 * place, 8), "little")
            if word & 1 != (turn + 1) & 1:
                return found
            found.append(Returned(word >> 12, bool(word & 2)))
            self.taken += 1
            self.tell(5, 1)
