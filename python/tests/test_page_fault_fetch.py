"""The page-fault unit alone: pages that come, and why others do not."""

from __future__ import annotations

from itertools import product

import pytest
from page_fault_unit import (
    ACCESS_FAULT,
    ATTEMPTS,
    BLADE,
    BUSY,
    DONE,
    ENTRIES,
    EXECUTABLE,
    EXECUTE,
    FETCH,
    FRAMES,
    NO_FRAME,
    NOT_REMOTE,
    OLDER,
    PAGE_BYTES,
    READ,
    SERVED,
    TICKS_OF_AN_ATTEMPT,
    TIME_OUT,
    UNKNOWN,
    USER,
    WRITE,
    PageFaultUnit,
    Returned,
    fetched_answer,
    fetched_nothing,
    frame_address,
    frame_number,
    page_of,
    remote_entry,
    version_of,
)

from rackwright import EngineError

SLOTS = 4
VALID, ACCESSED = 1, 64
SOON = 3000
"""Cycles in which a page comes that is already on its way."""


@pytest.fixture
def pages() -> PageFaultUnit:
    """The unit as servers have it."""
    return PageFaultUnit()


def content(page: int) -> bytes:
    """What is in a page."""
    return bytes((page * 37 + at * 11 + at // 256) & 255 for at in range(PAGE_BYTES))


def installed(frame: int, rights: int) -> int:
    """The entry of a page that has come."""
    return frame_number(frame) << 10 | ACCESSED | rights | VALID


@pytest.mark.parametrize(
    ("place", "rights"),
    list(enumerate(READ * r | WRITE * w | USER * u for r, w, u in product((0, 1), (0, 1), (0, 1)))),
)
def test_a_page_comes_with_its_rights_and_a_record(pages: PageFaultUnit, place: int, rights: int) -> None:
    """Accessed and not dirty, whatever its rights; the entry beside it stays."""
    remote = remote_entry(77, version=9, rights=rights)
    pages.set_entry(place, remote)
    pages.set_entry(place ^ 1, 0x1234)
    pages.give_frame(3)
    pages.prefetch(place)
    (request,) = pages.sent()
    assert (request[15], page_of(request), version_of(request)) == (FETCH, 77, 9)
    assert pages.new_pages() == 0
    pages.deliver(fetched_answer(request, content(77)))
    pages.bench.run_until_idle()
    assert pages.bench.read_memory(frame_address(3), PAGE_BYTES) == content(77)
    assert pages.entry(place) == installed(3, rights)
    assert pages.entry(place ^ 1) == 0x1234
    assert pages.record(3) == (ENTRIES + 8 * place | 1, remote)
    assert (pages.new_pages(), pages.returned(), pages.unit.violations) == (1, [], 0)


def test_a_walk_joins_a_page_that_is_on_its_way(pages: PageFaultUnit) -> None:
    """It is told when the page is there, which is asked for once; a later walk finds a valid entry."""
    pages.set_entry(0, remote_entry(5))
    pages.give_frame(0)
    pages.give_frame(1)
    pages.prefetch(0, hart=True)
    (request,) = pages.sent()
    there = pages.deliver(fetched_answer(request, content(5)), after=SOON)
    assert pages.walk(0) == SERVED
    assert pages.bench.cycle > there
    assert pages.entry(0) == installed(0, READ | WRITE | USER)
    assert pages.walk(0) == SERVED
    assert (pages.sent(), pages.new_pages()) == ([], 1)


def test_several_pages_come_in_any_order_and_each_once(pages: PageFaultUnit) -> None:
    """Their answers come backwards, and each of them twice."""
    for index in range(SLOTS):
        pages.set_entry(index, remote_entry(10 + index))
        pages.give_frame(index)
        pages.prefetch(index)
    requests = pages.sent()
    assert [page_of(request) for request in requests] == [10, 11, 12, 13]
    answers = [fetched_answer(request, content(page_of(request))) for request in reversed(requests)]
    pages.deliver(*(copy for answer in answers for copy in (answer, answer)))
    pages.bench.run_until_idle()
    for index in range(SLOTS):
        assert pages.bench.read_memory(frame_address(index), PAGE_BYTES) == content(10 + index)
        assert pages.entry(index) == installed(index, READ | WRITE | USER)
    assert (pages.new_pages(), pages.returned()) == (SLOTS, [])


def test_prefetches_of_the_hart_leave_a_slot_for_a_walk(pages: PageFaultUnit) -> None:
    """One that would take it is dropped; a walk that finds none is told that the unit is busy."""
    for index in range(SLOTS + 1):
        pages.set_entry(index, remote_entry(20 + index))
        pages.give_frame(index)
    for index in range(SLOTS):
        pages.prefetch(index, hart=True)
    assert [page_of(request) for request in pages.sent()] == [20, 21, 22]
    pages.prefetch(SLOTS)
    assert [page_of(request) for request in pages.sent()] == [20 + SLOTS]
    assert pages.walk(SLOTS - 1) == BUSY
    assert pages.asks(2) == 1


def test_without_a_free_frame_software_is_told(pages: PageFaultUnit) -> None:
    """And a frame that it gives then serves the walk."""
    pages.set_entry(0, remote_entry(1))
    assert pages.walk(0) == NO_FRAME
    assert (pages.sent(), pages.entry(0)) == ([], remote_entry(1))
    pages.give_frame(2)
    pages.prefetch(0)
    (request,) = pages.sent()
    pages.deliver(fetched_answer(request, content(1)), after=SOON)
    assert pages.walk(0) == SERVED


@pytest.mark.parametrize("entry", [0, 2 << 8 | READ, remote_entry(1) ^ 3 << 8])
def test_an_entry_of_no_remote_page_is_left_to_software(pages: PageFaultUnit, entry: int) -> None:
    """Nothing yet, or nothing any more."""
    pages.set_entry(1, entry)
    pages.give_frame(0)
    assert pages.walk(1) == NOT_REMOTE
    assert (pages.sent(), pages.entry(1)) == ([], entry)


def test_pages_of_instructions_are_for_software_alone(pages: PageFaultUnit) -> None:
    """The hart has to fence them."""
    pages.set_entry(0, remote_entry(1, rights=READ | EXECUTE | USER))
    pages.give_frame(0)
    assert pages.walk(0) == EXECUTABLE
    pages.prefetch(0)
    (request,) = pages.sent()
    pages.deliver(fetched_answer(request, content(1)), after=SOON)
    assert pages.fetch(0) == SERVED
    assert pages.entry(0) == installed(0, READ | EXECUTE | USER)


def test_an_entry_that_memory_refuses_is_an_access_fault(pages: PageFaultUnit) -> None:
    """No frame is used for it."""
    pages.bench.fault(ENTRIES, 16)
    pages.give_frame(0)
    assert pages.walk(0) == ACCESS_FAULT
    assert pages.returned() == []


def test_a_page_that_memory_refuses_is_an_access_fault(pages: PageFaultUnit) -> None:
    """The frame comes back, and the entry is as it was."""
    pages.set_entry(0, remote_entry(6))
    pages.bench.fault(frame_address(0) + 2048, 16)
    pages.give_frame(0)
    pages.prefetch(0)
    (request,) = pages.sent()
    pages.deliver(fetched_answer(request, content(6)), after=SOON)
    assert pages.walk(0) == ACCESS_FAULT
    assert (pages.returned(), pages.entry(0)) == ([Returned(frame_number(0), True)], remote_entry(6))
    assert pages.new_pages() == 0


@pytest.mark.parametrize(
    ("status", "cause"),
    [(None, TIME_OUT), (UNKNOWN, BLADE), (OLDER, BLADE)],
    ids=["none", "unknown", "older"],
)
def test_a_blade_without_the_page_is_told_after_all_attempts(
    pages: PageFaultUnit, status: int | None, cause: int
) -> None:
    """Whether it says nothing, or that it has not got it; the frame comes back."""
    pages.set_entry(0, remote_entry(6))
    pages.give_frame(0)
    with pytest.raises(EngineError):
        pages.walk(0)  # nothing moves before time passes, and the bench has no time base
    sent = 0
    for _ in range(ATTEMPTS):
        for request in pages.sent():
            sent += 1
            if status is not None:
                pages.deliver(fetched_nothing(request, status))
        pages.tick(TICKS_OF_AN_ATTEMPT)
    assert sent == ATTEMPTS
    # The answer to the walk is the first that waits, before that to this question.
    assert pages.asks(2) == cause
    assert pages.returned() == [Returned(frame_number(0), True)]
    assert pages.entry(0) == remote_entry(6)


def test_a_lost_request_is_sent_again_and_two_answers_count_once(pages: PageFaultUnit) -> None:
    """The same message, after five ticks."""
    pages.set_entry(0, remote_entry(6))
    pages.give_frame(0)
    pages.prefetch(0)
    first = pages.sent()
    pages.tick(TICKS_OF_AN_ATTEMPT - 1)
    assert pages.sent() == []
    pages.tick(1)
    assert pages.sent() == first
    answer = fetched_answer(first[0], content(6))
    pages.deliver(answer, answer)
    pages.bench.run_until_idle()
    assert (pages.new_pages(), pages.entry(0)) == (1, installed(0, READ | WRITE | USER))


@pytest.mark.parametrize("at", [15, 16, 19, 24, 31, 40, 4095, 4135, 4136, 4137])
def test_an_answer_that_was_damaged_is_not_one(pages: PageFaultUnit, at: int) -> None:
    """In operation, tag, page number, page or checksum; the right one counts, when it comes again."""
    pages.set_entry(0, remote_entry(6))
    pages.give_frame(0)
    pages.prefetch(0)
    (request,) = pages.sent()
    right = fetched_answer(request, content(6))
    damaged = bytearray(right)
    damaged[at] ^= 0x40
    pages.deliver(bytes(damaged))
    pages.bench.run_until_idle()
    assert (pages.entry(0), pages.new_pages()) == (remote_entry(6), 0)
    pages.deliver(right)
    pages.bench.run_until_idle()
    assert (pages.entry(0), pages.new_pages()) == (installed(0, READ | WRITE | USER), 1)
    assert pages.bench.read_memory(frame_address(0), PAGE_BYTES) == content(6)


@pytest.mark.parametrize("length", [40, 64, 2048, PAGE_BYTES + 40])
def test_an_answer_that_was_cut_is_not_one(pages: PageFaultUnit, length: int) -> None:
    """Or one that says that it has the page, and hasn't."""
    pages.set_entry(0, remote_entry(6))
    pages.give_frame(0)
    pages.prefetch(0)
    (request,) = pages.sent()
    cut = fetched_nothing(request, DONE) if length == 64 else fetched_answer(request, content(6))[:length]
    pages.deliver(cut)
    pages.bench.run_until_idle()
    assert (pages.entry(0), pages.new_pages()) == (remote_entry(6), 0)
    pages.deliver(fetched_answer(request, content(6)))
    pages.bench.run_until_idle()
    assert pages.bench.read_memory(FRAMES, PAGE_BYTES) == content(6)


def test_an_answer_to_an_earlier_page_of_the_slot_is_not_one(pages: PageFaultUnit) -> None:
    """Although it is of the same page."""
    pages.set_entry(0, remote_entry(6))
    pages.give_frame(0)
    pages.prefetch(0)
    (early,) = pages.sent()
    pages.tick(TICKS_OF_AN_ATTEMPT * ATTEMPTS)
    assert pages.returned() == [Returned(frame_number(0), True)]
    pages.sent()
    pages.give_frame(0)
    pages.prefetch(0)
    (late,) = pages.sent()
    assert early[16:20] != late[16:20]
    pages.deliver(fetched_answer(early, content(1)))
    pages.bench.run_until_idle()
    assert (pages.entry(0), pages.new_pages()) == (remote_entry(6), 0)
    pages.deliver(fetched_answer(late, content(6)))
    pages.bench.run_until_idle()
    assert pages.entry(0) == installed(0, READ | WRITE | USER)
