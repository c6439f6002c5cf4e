"""The page-fault unit alone: pages that leave, and answers that come too late for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_fault_unit import (
    ATTEMPTS,
    PAGE_BYTES,
    PAGE_PLACE,
    TICKS_OF_AN_ATTEMPT,
    PageFaultUnit,
    Returned,
    frame_address,
    frame_number,
    page_of,
    remote_entry,
    stored_answer,
)

SLOTS = 2


@pytest.fixture(scope="module")
def pages() -> Iterator[PageFaultUnit]:
    """One unit for all tests: each leaves it with nothing on its way, and touches only what is its."""
    made = PageFaultUnit({"evictions": SLOTS})
    yield made
    assert made.unit.violations == 0


def evict(pages: PageFaultUnit, page: int) -> None:
    """Has page `page`, which is in the frame of that number, leave in its first version."""
    pages.evict(page, remote_entry(page))


def requests(pages: PageFaultUnit) -> dict[int, bytes]:
    """The messages that have left since the last time, by the numbers of their pages."""
    return {page_of(message): message for message in pages.sent()}


def test_a_page_that_left_comes_back_as_a_frame(pages: PageFaultUnit) -> None:
    content = bytes(range(256)) * 16
    pages.bench.write_memory(frame_address(1), content)
    evict(pages, 1)
    request = requests(pages)[1]
    assert request[PAGE_PLACE : PAGE_PLACE + PAGE_BYTES] == content
    assert pages.returned() == []
    pages.bench.deliver(stored_answer(request))
    assert pages.returned() == [Returned(frame_number(1), stored=True)]


def test_a_page_that_no_blade_answers_for_comes_back_as_not_stored(pages: PageFaultUnit) -> None:
    evict(pages, 1)
    assert list(requests(pages)) == [1]
    pages.tick(TICKS_OF_AN_ATTEMPT * ATTEMPTS)
    assert len(pages.bench.sent_frames()) == ATTEMPTS - 1
    assert pages.returned() == [Returned(frame_number(1), stored=False)]


@pytest.mark.parametrize("early", range(0, 24, 2))
def test_an_answer_that_comes_while_its_page_gives_up_is_not_that_of_the_next(
    pages: PageFaultUnit, early: int
) -> None:
    """The page that takes the slot over waits for its own answer, whenever the late one ends."""
    for page in (1, 2, 3):
        evict(pages, page)
    late = stored_answer(requests(pages)[1])
    pages.tick(TICKS_OF_AN_ATTEMPT * ATTEMPTS - 1)
    assert pages.returned() == []
    begins = pages.bench.cycle
    pages.bench.deliver(late, begins + 24)
    pages.bench.run(24 + 24 - early)
    pages.tell(7)
    come_back = {each.frame: each.stored for each in pages.returned()}
    assert frame_number(3) not in come_back
    assert come_back[frame_number(2)] is False
    pages.bench.deliver(stored_answer(requests(pages)[3]))
    assert pages.returned() == [Returned(frame_number(3), stored=True)]
