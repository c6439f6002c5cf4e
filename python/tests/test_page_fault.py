"""The page-fault unit alone: pages that leave, and answers that come too late for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rackwright.unit import Unit

OPCODE = 3
PAGE_BYTES = 4096
FRAMES = 0x10_0000
RING = 0x8_0000
TICKS_OF_AN_ATTEMPT = 5
ATTEMPTS = 12
SLOTS = 2
HEADER_BYTES, PAGE_PLACE = 40, 40
UNIT_ADDRESS, BLADE_ADDRESS = bytes.fromhex("02000000000a"), bytes.fromhex("02000000000b")


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


def stored_answer(request: bytes) -> bytes:
    """What a blade says when it has stored the page of a request (software/remote-memory/PROTOCOL.md)."""
    header = request[6:12] + request[:6] + request[12:15] + bytes([0x82]) + request[16:20]
    message = header + bytes([0, 1]) + request[22:HEADER_BYTES] + bytes(16)
    return message + internet_checksum(message[14:]) + bytes(6)


class Pages:
    """The unit with a ring and a blade that the test plays; page `n` is in frame `n`."""

    def __init__(self) -> None:
        self.unit = Unit("page-fault", {"evictions": SLOTS})
        self.bench = self.unit.bench
        self.bench.allow(RING, PAGE_BYTES, "w")
        self.bench.allow(FRAMES, 4 * PAGE_BYTES, "r")
        self.taken = 0
        self.tell(6, RING)
        self.tell(8, int.from_bytes(UNIT_ADDRESS, "little"))
        self.tell(9, int.from_bytes(BLADE_ADDRESS, "little"), 0)

    def tell(self, funct: int, first: int = 0, second: int = 0) -> None:
        """Gives a command that is not answered."""
        self.bench.command(OPCODE, funct, first, second)

    def evict(self, page: int) -> None:
        """Has page `page` leave, in its first version."""
        remote = 1 << 8 | 1 << 10 | page << 26
        self.tell(4, FRAMES + page * PAGE_BYTES, remote)

    def tick(self, count: int) -> None:
        """Lets so much time pass for the unit, and what that makes it do happen."""
        for _ in range(count):
            self.tell(7)
            self.bench.run_until_quiescent()

    def requests(self) -> dict[int, bytes]:
        """The messages that have left since the last time, by the numbers of their pages."""
        self.bench.run_until_quiescent()
        return {int.from_bytes(sent[24:32], "little"): sent for _, _, sent in self.bench.sent_frames()}

    def returned(self) -> list[Returned]:
        """The frames that have come back since the last time."""
        self.bench.run_until_quiescent()
        found: list[Returned] = []
        while True:
            turn, place = divmod(self.taken, 256)
            word = int.from_bytes(self.bench.read_memory(RING + 16 * place, 8), "little")
            if word & 1 != (turn + 1) & 1:
                return found
            found.append(Returned(word >> 12, bool(word & 2)))
            self.taken += 1
            self.tell(5, self.taken)


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    """One unit for all tests: each leaves it with nothing on its way, and touches only what is its."""
    made = Pages()
    yield made
    assert made.unit.violations == 0


def frame_of(page: int) -> int:
    """The number of the frame that page `page` is in."""
    return FRAMES // PAGE_BYTES + page


def test_a_page_that_left_comes_back_as_a_frame(pages: Pages) -> None:
    content = bytes(range(256)) * 16
    pages.bench.write_memory(FRAMES + PAGE_BYTES, content)
    pages.evict(1)
    request = pages.requests()[1]
    assert request[PAGE_PLACE : PAGE_PLACE + PAGE_BYTES] == content
    assert pages.returned() == []
    pages.bench.deliver(stored_answer(request))
    assert pages.returned() == [Returned(frame_of(1), stored=True)]


def test_a_page_that_no_blade_answers_for_comes_back_as_not_stored(pages: Pages) -> None:
    pages.evict(1)
    assert list(pages.requests()) == [1]
    pages.tick(TICKS_OF_AN_ATTEMPT * ATTEMPTS)
    assert len(pages.bench.sent_frames()) == ATTEMPTS - 1
    assert pages.returned() == [Returned(frame_of(1), stored=False)]


@pytest.mark.parametrize("early", range(0, 24, 2))
def test_an_answer_that_comes_while_its_page_gives_up_is_not_that_of_the_next(
    pages: Pages, early: int
) -> None:
    """The page that takes the slot over waits for its own answer, whenever the late one ends."""
    for page in (1, 2, 3):
        pages.evict(page)
    late = stored_answer(pages.requests()[1])
    pages.tick(TICKS_OF_AN_ATTEMPT * ATTEMPTS - 1)
    assert pages.returned() == []
    begins = pages.bench.cycle
    pages.bench.deliver(late, begins + 24)
    pages.bench.run(24 + 24 - early)
    pages.tell(7)
    come_back = {each.frame: each.stored for each in pages.returned()}
    assert frame_of(3) not in come_back
    assert come_back[frame_of(2)] is False
    pages.bench.deliver(stored_answer(pages.requests()[3]))
    assert pages.returned() == [Returned(frame_of(3), stored=True)]
