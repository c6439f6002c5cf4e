"""Why cycles pass: each reason where a program is made for it, and all cycles in the sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright import Server, compile_program
from rackwright.profiling import Profile, profile

PROGRAM = """
#include <stdint.h>
#include <stdlib.h>
#define ALONE __attribute__((noipa))
enum { LINE = 64, APART = 64 << 10, LINES = 1 << 10, FAR = 256 };
static uint64_t seed = 1;
static uint64_t draw(void) { seed = seed * 6364136223846793005u + 1442695040888963407u; return seed >> 33; }

// Lines so far apart, each of which leads to another one, in an order that no prefetcher guesses.
static void **circle(size_t lines, size_t apart) {
    char *memory = aligned_alloc(LINE, lines * apart);
    size_t *order = malloc(lines * sizeof *order);
    for (size_t i = 0; i < lines; i++) order[i] = i;
    for (size_t i = lines - 1; i > 0; i--) {
        size_t j = draw() % i, other = order[i];
        order[i] = order[j], order[j] = other;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(memory + order[i] * apart) = memory + order[(i + 1) % lines] * apart;
    free(order);
    return (void **)memory;
}

ALONE void **chase_near(void **at, int steps) { while (steps-- > 0) at = *at; return at; }
ALONE void **chase_far(void **at, int steps) { while (steps-- > 0) at = *at; return at; }
// Zeros that nobody has read yet.
ALONE char *chase_new(char *at, int steps) { while (steps-- > 0) at += APART + *at; return at; }
ALONE uint64_t divide(uint64_t value, int steps) {
    while (steps-- > 0) value = UINT64_MAX / (value | 3);
    return value;
}
ALONE uint64_t guess(int steps) {
    uint64_t taken = 0, state = 7;
    while (steps-- > 0) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        if (state & 1) __asm__ volatile("addi %0, %0, 1" : "+r"(taken));
    }
    return taken;
}
ALONE uint64_t stay_busy(int steps) {
    uint64_t a = 0, b = 0, c = 0;
    while (steps-- > 0)
        __asm__ volatile("addi %0, %0, 1\\n addi %1, %1, 1\\n addi %2, %2, 1" : "+r"(a), "+r"(b), "+r"(c));
    return a + b + c;
}

int main(void) {
    void **near = circle(LINES, LINE), **far = circle(FAR, APART);
    near = chase_near(near, 20 * LINES);
    far = chase_far(far, 4 * FAR);
    char *fresh = chase_new(calloc(FAR, APART), FAR - 1);
    return near == far || fresh == NULL || divide(5, 2000) + guess(4000) + stay_busy(5000) == 1;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a function for each of some reasons."""
    folder = tmp_path_factory.mktemp("reasons")
    (folder / "reasons.c").write_text(PROGRAM)
    return compile_program([folder / "reasons.c"], folder / "reasons.elf", ["-O2"])


@pytest.fixture(scope="module", params=["rocket", "boom"])
def seen(request: pytest.FixtureRequest, program: Path) -> Profile:
    """Its profile, on a core that explains itself."""
    return profile(Server(request.param), program, every=1000)


def stacks_of(seen: Profile) -> dict[str, dict[str, float]]:
    """Cycles per instruction by reason, of each function."""
    stacks = seen.cycle_stacks().drop(columns=["module"])
    rows = stacks.to_dict("records")
    return {str(row.pop("function")): {str(name): float(each) for name, each in row.items()} for row in rows}


def test_each_reason_is_where_it_has_to_be(seen: Profile) -> None:
    stacks = stacks_of(seen)
    for function, reason, least in [
        ("chase_near", "stall.l2", 0.7),
        ("chase_far", "stall.llc", 0.9),
        ("chase_new", "stall.memory", 0.8),
        ("divide", "stall.dependency", 0.8),
        ("guess", "stall.branch", 0.1),
    ]:
        row = stacks[function]
        assert max(seen.stalls, key=row.__getitem__) == reason
        assert row[reason] > least * row["cycles_per_instruction"]
    busy = stacks["stay_busy"]
    assert sum(busy[reason] for reason in seen.stalls) < 0.1 * busy["cycles_per_instruction"]


def test_reasons_and_retiring_are_all_cycles(seen: Profile, program: Path) -> None:
    samples = seen.counter_samples()
    explained = samples[list(seen.stalls)].sum(axis=1)
    if seen.cpu == "rocket":
        # Nothing retires in its cycle 0.
        assert (explained + samples["instructions"] == samples["cycle"] - 1).all()
    else:
        assert (explained + samples["retiring_cycles"] == samples["cycle"]).all()
    calls = seen.calls()
    stalled = calls[list(seen.stalls)].sum(axis=1)
    assert (stalled <= calls["exclusive_cycles"]).all()
    assert (calls["exclusive_cycles"] - stalled <= calls["instructions"]).all()
    assert seen.digest == Server(seen.cpu).run(program).digest


def test_a_wide_core_retires_several_instructions_in_a_cycle(program: Path) -> None:
    stacks = stacks_of(profile(Server("boom"), program))
    assert 1 / 3 <= stacks["stay_busy"]["retiring"] < 0.5
