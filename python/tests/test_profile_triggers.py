"""Profiles of a part of a run, by triggers; and the counters that they keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rw

from rackwright import EngineError, Server, compile_program
from rackwright.profiling import Profile, Watching, profile

HINTS = """
#include <stdio.h>
#define ALONE __attribute__((noipa))
static volatile unsigned long work;
ALONE void before(void) { for (int i = 0; i < 300; i++) work += i; }
ALONE void inner(void) { for (int i = 0; i < 500; i++) work *= 3; }
ALONE void outer(void) { inner(); inner(); }
ALONE void after(void) { for (int i = 0; i < 700; i++) work ^= i; }
int main(void) {
    before();
    for (int i = 0; i < 3; i++) {
        __asm__ volatile("slti x0, x0, 1");
        outer();
        __asm__ volatile("slti x0, x0, 2");
        after();
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that says by hints which part of it is of interest."""
    folder = tmp_path_factory.mktemp("hints")
    source = folder / "hints.c"
    source.write_text(HINTS)
    return compile_program([source], folder / "hints.elf", ["-O2"])


@pytest.fixture(scope="module")
def sources() -> Path:
    """Programs to look into."""
    return Path(__file__).resolve().parents[2] / "software" / "tests" / "profile"


@pytest.fixture(scope="module")
def whole(program: Path) -> Profile:
    """All of it."""
    return profile(Server("rocket"), program)


def part(program: Path, start: str | None, stop: str | None = None, **more: object) -> Profile:
    """What is seen between two triggers."""
    return profile(Server("rocket"), program, watching=Watching(start, stop, **more))  # type: ignore[arg-type]


def counts(seen: Profile) -> dict[str, int]:
    """The calls of each function."""
    calls = seen.calls()
    return dict(zip(calls["function"], map(int, calls["count"]), strict=True)) if len(calls) else {}


def test_hints_of_a_program_frame_what_is_observed(program: Path, whole: Profile) -> None:
    seen = part(program, "hint:1", "hint:2")
    assert seen.digest == whole.digest
    assert seen.fired == (3, 3)
    (hart,) = seen.harts
    assert len(hart.windows) == 3
    assert sum(end - begin for begin, end in hart.windows) == hart.cycles == sum(hart.tree.cycles)
    calls = counts(seen)
    assert calls["outer"] == 3
    assert calls["inner"] == 6
    assert not {"before", "after"} & set(calls)
    counted = seen.window_counters()
    assert list(zip(counted["cycle"], counted["cycle"] + counted["cycles"], strict=True)) == hart.windows
    assert counted["instructions"].sum() == pytest.approx(hart.instructions, abs=3 * 32)
    # `inner` goes round 500 times, twice.
    assert counted["retired.branch"].between(1000, 1010).all()
    # A hint is an instruction like any other.
    again = part(program, "word:0x00102013", "word:0x00202013")
    assert again.harts[0].windows == hart.windows


@pytest.mark.parametrize(
    ("start", "stop", "fired"),
    [
        ("function:outer", "function:after", (3, 3)),
        ("instructions:20000", "instructions:30000", (1, 1)),
        ("cycle:30_000", None, (1, 0)),
        (None, "cycle:30000", (0, 1)),
        ("counter:retired.load>=1000", None, (1, 0)),
        ("event:retired.multiply", "event:retired.branch", None),
    ],
)
def test_triggers_begin_and_end_an_observation(
    start: str | None, stop: str | None, fired: tuple[int, int] | None, program: Path, whole: Profile
) -> None:
    seen = part(program, start, stop, every=100)
    assert seen.digest == whole.digest
    assert fired is None or seen.fired == fired
    (hart,) = seen.harts
    assert 0 < hart.cycles < whole.cycles[0]
    assert sum(end - begin for begin, end in hart.windows) == hart.cycles == sum(hart.tree.cycles)
    assert Watching(start, stop).unmet(seen) == []
    samples = seen.counter_samples()
    inside = [(samples["cycle"] >= begin) & (samples["cycle"] <= end) for begin, end in hart.windows]
    assert sum(map(int, (row.sum() for row in inside))) == len(samples)


def test_a_cycle_and_a_count_are_met_to_the_block(program: Path, whole: Profile) -> None:
    (window,) = part(program, "cycle:30000", "cycle:50000").harts[0].windows
    # The longest blocks are those that wait for DRAM.
    assert 30_000 <= window[0] < 31_000
    assert 50_000 <= window[1] < 51_000

    def begin(cycle: int) -> int:
        return part(program, f"cycle:{cycle}").harts[0].windows[0][0]

    # What begins at a cycle begins with the block in which another ends there, and not a block later.
    assert begin(50_000) == window[1]
    assert [begin(window[0] - 1), begin(window[0])] == [window[0], window[0]]
    assert begin(window[0] + 1) > window[0]
    seen = part(program, "instructions:20000", "instructions:30000")
    assert abs(seen.instructions - 10_000) < 64
    everything = part(program, "cycle:0")
    assert everything.cycles[0] >= whole.cycles[0] - 300


def test_a_trigger_that_never_happens_is_said(program: Path, whole: Profile) -> None:
    never = Watching("cycle:1_000_000_000")
    seen = profile(Server("rocket"), program, watching=never)
    assert seen.digest == whole.digest
    assert (seen.cycles, seen.instructions) == ([0], 0)
    assert never.unmet(seen) == ["cycle:1_000_000_000 never happened: nothing was observed"]
    endless = Watching("function:main", "function:abort")
    seen = profile(Server("rocket"), program, watching=endless)
    assert endless.unmet(seen) == ["function:abort never happened: the observation went on to the end"]


@pytest.mark.parametrize(
    ("watching", "complaint"),
    [
        (
            Watching("function:outter"),
            "no function of hints.elf is called `outter`; the nearest names are outer",
        ),
        (Watching("counter:l2_mises>=3"), "no counter is called `l2_mises`; the nearest names are l2_misses"),
        (Watching(counters=["stall.l3"]), "no counter is called `stall.l3`; the nearest names are stall.l2"),
        (Watching("function:libc.so.6!write"), "no file of the program is called `libc.so.6`"),
        (Watching("moon:1"), "`moon:1` is no trigger; there are cycle:N"),
        (Watching("hint:4000"), "`hint:4000` is no trigger"),
        (Watching("process:sh"), "process:sh is for machines that boot Linux"),
    ],
)
def test_what_does_not_exist_is_said(watching: Watching, complaint: str, program: Path) -> None:
    with pytest.raises(EngineError, match=complaint):
        profile(Server("rocket"), program, watching=watching)


def test_every_cycle_has_a_reason(whole: Profile) -> None:
    calls = whole.calls()
    stalled = calls[list(whole.stalls)].sum(axis=1)
    assert list(calls["exclusive_cycles"]) == list(calls["instructions"] + stalled)
    (inner,) = whole.cycle_stacks().query("function == 'inner'").to_dict("records")
    # A multiplication of 64 bits, which the next one waits for.
    assert inner["stall.dependency"] > 0.2
    assert inner["retiring"] == pytest.approx(1)


def test_a_model_without_reasons_gives_none(program: Path) -> None:
    seen = profile(Server("functional"), program)
    assert seen.stalls == ()
    assert len(seen.cycle_stacks()) == 0


def test_counters_are_counted_to_the_block(program: Path, whole: Profile) -> None:
    classes = [name for name in whole.counters if name.startswith("retired.")]
    samples = whole.counter_samples()
    assert (samples[classes].sum(axis=1) == samples["instructions"]).all()
    chosen = part(program, None, counters=["retired.branch", "l1d_misses"], every=500, samples=64)
    assert chosen.counters == ("retired.branch", "l1d_misses")
    rows = chosen.counter_samples()
    assert list(rows.columns) == ["hart", "cycle", "instructions", "retired.branch", "l1d_misses"]
    assert 16 <= len(rows) <= 64
    assert rows["retired.branch"].is_monotonic_increasing
    assert chosen.digest == whole.digest


def test_only_the_harts_that_are_asked_for_are_observed(sources: Path) -> None:
    threads = compile_program([sources / "threads.c"], options=["-O2", "-fno-inline", "-pthread"])
    server = Server("functional", harts=2)
    every = profile(server, threads)
    one = profile(server, threads, watching=Watching(harts=[1]))
    assert one.digest == every.digest
    assert [hart.hart for hart in one.harts] == [1]
    assert one.cycles == [every.cycles[1]]
    assert [sum(hart.tree.cycles) for hart in one.harts] == one.cycles


def test_the_verb_takes_triggers_and_counters(program: Path, tmp_path: Path) -> None:
    ended = rw(
        *(
            "profile",
            "-o",
            tmp_path / "made",
            "--json",
            "--from",
            "hint:1",
            "--to",
            "hint:99",
            "--harts",
            "0",
        ),
        *("--counters", "l2_hits,l2_misses", "--every", "200", "--samples", "100", "--", "run", program),
    )
    assert ended.status == 0, ended.stderr
    assert "hint:99 never happened: the observation went on to the end" in ended.stderr
    record = ended.json()
    assert record["triggers_fired"] == {"from": 1, "to": 0}
    assert len(record["windows"][0]) == 1
    ended = rw("profile", "--from", "function:mian", "--", "run", program)
    assert ended.status == 1
    assert "the nearest names are main" in ended.stderr
    ended = rw("profile", "--harts", "one", "--", "run", program)
    assert ended.status == 1
    assert "--harts one: not numbers with commas between them" in ended.stderr
