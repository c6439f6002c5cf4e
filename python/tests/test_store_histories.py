"""Concurrent requests to the unit `store`: callers see of a key what one request after the other gives."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from store_histories import Call, History, Recorder, is_linearizable, judgements
from tiers import long

from rackwright.unit.store import StoreUnit

OUTCOMES = 16
"""Of eight operations: a compare and set has three, a set one, all others two."""

MANY = "minutes of simulation: 100,000 histories in four parts, and judges to compile"


FOR_ALL_JUDGES = 1000
"""Histories of a long test, which is worth it to compile the other judges."""


def recorded(count: int, seed: int) -> list[History]:
    return list(Recorder(StoreUnit(assertions=True), seed).histories(count))


def overlaps(history: Sequence[Call]) -> bool:
    """Whether two of its calls are under way at a time, of which one is a change."""
    pairs = [(one, other) for one in history for other in history if one.caller < other.caller]
    return any(
        one.begin <= other.end and other.begin <= one.end and {one.operation, other.operation} != {"get"}
        for one, other in pairs
    )


@pytest.mark.parametrize(
    ("seed", "count"),
    [(52, 250), *[long(seed, 25_000, why=MANY, name=f"part {seed}") for seed in (1, 2, 3, 4)]],
)
def test_histories_of_each_key_are_linearizable(seed: int, count: int) -> None:
    histories = recorded(count, seed)
    assert len(histories) == count
    assert [history for history in histories if not is_linearizable(history)] == []
    if count >= FOR_ALL_JUDGES:
        assert judgements(histories) == [f"{count} histories, 0 not linearizable\n"] * 2
    assert sum(map(overlaps, histories)) > count / 2
    outcomes = {(call.operation, call.outcome) for history in histories for call in history}
    assert len(outcomes) == OUTCOMES, sorted(outcomes)


CALLS = {
    "set": Call(0, "set", 10, 0, begin=1, end=2, outcome="ok"),
    "get": Call(1, "get", 0, 0, begin=3, end=4, outcome="ok", value=10),
    "version": Call(1, "get_version", 0, 0, begin=3, end=4, outcome="ok", value=10, version=7),
    "deletion": Call(1, "delete", 0, 0, begin=3, end=4, outcome="ok"),
    "swap": Call(2, "compare_and_set", 20, 7, begin=5, end=6, outcome="ok"),
}


WRONG: list[History] = [
    [CALLS["get"]],
    [CALLS["set"], replace(CALLS["get"], value=11)],
    [CALLS["set"], replace(CALLS["get"], outcome="missing", value=0)],
    [CALLS["set"], CALLS["version"], replace(CALLS["swap"], outcome="exists")],
    [CALLS["set"], CALLS["version"], CALLS["swap"], replace(CALLS["swap"], caller=3, begin=5, end=6)],
    [CALLS["set"], CALLS["version"], replace(CALLS["version"], begin=5, end=6, version=8)],
    [CALLS["set"], Call(1, "add", 9, 0, begin=3, end=4, outcome="ok")],
    [CALLS["set"], CALLS["deletion"], replace(CALLS["get"], begin=5, end=6)],
    [CALLS["set"], *[Call(n, "increment", 1, 0, begin=3, end=4, outcome="ok", value=11) for n in (1, 2)]],
]
"""No order explains them."""

RIGHT: list[History] = [
    [CALLS["set"], CALLS["get"]],
    [CALLS["set"], replace(CALLS["get"], begin=1, outcome="missing", value=0)],
    [CALLS["set"], CALLS["version"], CALLS["swap"]],
    [CALLS["set"], CALLS["version"], CALLS["swap"], replace(CALLS["swap"], caller=3, outcome="exists")],
]
"""What is wrong above is right where calls overlap, or with another response."""


@pytest.mark.parametrize("history", WRONG)
def test_a_history_that_no_order_explains_is_noticed(history: History) -> None:
    assert not is_linearizable(history)


@pytest.mark.parametrize("history", RIGHT)
def test_the_same_calls_in_another_order_of_time_are_explained(history: History) -> None:
    assert is_linearizable(history)


def spoiled(history: History, source: random.Random) -> History:
    """One value that a get, a get with version or an increment has returned is another."""
    chosen = source.choice([index for index, call in enumerate(history) if call.value])
    wrong = replace(history[chosen], value=history[chosen].value + 1)
    return [*history[:chosen], wrong, *history[chosen + 1 :]]


@cache
def spoiled_answers() -> list[History]:
    """Histories of the unit, in each of which one answer is another."""
    source = random.Random(7)
    histories = [history for history in recorded(100, seed=7) if any(call.value for call in history)]
    return [spoiled(history, source) for history in histories]


def test_a_spoiled_answer_of_the_unit_is_noticed() -> None:
    assert len(spoiled_answers()) > 30
    assert not any(map(is_linearizable, spoiled_answers()))


@pytest.mark.long("judges to compile")
def test_all_judges_notice_as_much() -> None:
    wrong = WRONG + spoiled_answers()
    said = f"{len(wrong + RIGHT)} histories, {len(wrong)} not linearizable\n"
    assert judgements(wrong + RIGHT) == [said, said]
