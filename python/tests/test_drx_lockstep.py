"""DRX in RTL and its model in lockstep: millions of random instructions, thousands of broken programs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from test_drx_unit import NOISE, SCRATCHPAD, SIZES, Pair, run_mutated
from tiers import long

from rackwright.drx import Program
from rackwright.drx.isa import isa
from rackwright.drx.program import Builder

OPERANDS = 4
"""Calculators of operands: the first one is that of destinations."""

PLACE, INPUT, OUTPUT = 13, 14, 15
"""Calculators of transfers: in the scratchpad, in the input, in the destination, each of one size."""

FUNCTIONS = [name for name, each in isa().functions.items() if each.operation == "compute"]

PROGRAMS = 20
"""Programs that run with the same memory."""


def random_memory(source: random.Random) -> dict[str, int]:
    """Latencies from none to hundreds of cycles, and caches that hold all that is accessed, or part of it."""
    l2, llc = sorted(source.choice((16_384, 65_536, 1 << 20)) for _ in range(2))
    times = ("controller", "column", "activate", "precharge", "write-to-read")
    return {
        "l2-bytes": l2,
        "llc-bytes": llc,
        "l2-latency": source.randint(1, 30),
        "llc-latency": source.randint(1, 120),
        "coherence-unit": source.randint(0, 40),
        "dram-channels": source.choice((1, 2)),
        "dram-write-batch": source.choice((1, 4, 16)),
        **{f"dram-{name}-ps": source.randint(0, 40_000) for name in times},
    }


def random_program(source: random.Random) -> Program:
    """Computes and moves bytes here and there, in loops; hardly any of it ends the program before its end."""
    builder = Builder()
    builder.add("region", calculator=INPUT, region=1)
    for _ in range(source.randint(1, 14)):
        _add_loops(builder, source)
    builder.add("end")
    return builder.program


def _add_loops(builder: Builder, source: random.Random) -> None:
    """A few instructions in up to three loops, whose operands have strides of their own."""
    counts = [source.randint(2, 9) for _ in range(source.randrange(4))]
    length = source.choice([1, 7, 8, 9, 16, source.randint(1, 30)])
    for calculator in range(OPERANDS):
        _add_operand(builder, source, calculator, counts, length)
    size = source.choice([1, 31, 32, 33, source.randint(1, 200)])
    for calculator in (PLACE, INPUT, OUTPUT):
        _add_address(builder, source, calculator, counts, (0, size))
    builder.add("length", value=length)
    for count in counts:
        builder.add("loop", value=count)
    steps = source.randint(1, 6)
    for step in range(steps):
        name, values = _step(source, size)
        builder.add(name, **values, ends=len(counts) if step == steps - 1 else 0)


def _step(source: random.Random, size: int) -> tuple[str, dict[str, int]]:
    """A computation, now and then a transfer or a wait."""
    kind = source.randrange(8)
    if kind == 0:
        name, memory = source.choice([("load", INPUT), ("store", OUTPUT)])
        return name, {"scratchpad": PLACE, "memory": memory, "size": size}
    if kind == 1:
        return source.choice(["wait_loads", "wait_stores"]), {"count": source.randrange(4)}
    operands = {name: source.randrange(OPERANDS) for name in ("first", "second")}
    return source.choice(FUNCTIONS), {"destination": 0, **operands}


def _add_operand(
    builder: Builder, source: random.Random, calculator: int, counts: Sequence[int], length: int
) -> None:
    """A calculator of elements of any type; that of destinations has no constants.

    Most elements are side by side, or the same one, as those of any other distance take a cycle each.
    """
    names = [name for name in SIZES if calculator or name != "constant"]
    name = source.choice(names)
    size = SIZES[name]
    lane = source.choice([size, 0]) if calculator else size
    if source.randrange(8) == 0:
        lane = source.choice([source.randint(-9, 9), size * source.randint(2, 8)])
    reach = lane * (length - 1)
    _add_address(builder, source, calculator, counts, (min(0, reach), max(0, reach) + size))
    builder.add("format", calculator=calculator, type=isa().types[name], value=lane)


def _add_address(
    builder: Builder,
    source: random.Random,
    calculator: int,
    counts: Sequence[int],
    span: tuple[int, int],
) -> None:
    """A base and strides that keep bytes of this span within a scratchpad's size; one in 500 may not."""
    strides = [source.choice([0, source.randint(-20, 20)]) for _ in counts]
    steps = [stride * (count - 1) for stride, count in zip(strides, counts, strict=True)]
    least = -span[0] - sum(step for step in steps if step < 0)
    most = SCRATCHPAD - span[1] - sum(step for step in steps if step > 0)
    base = source.randint(least, most) if source.randrange(500) else source.randint(-40, SCRATCHPAD + 40)
    builder.set("base", base, calculator=calculator)
    for level, stride in enumerate(strides):
        builder.stride(calculator, level, stride)


@pytest.mark.parametrize(
    ("seed", "least"),
    [
        pytest.param(48, 4_000, id="4000"),
        *(
            long(seed, 1_000_000, why="half a minute of a processor", name=f"million of {seed}")
            for seed in range(48, 58)
        ),
    ],
)
def test_random_instructions(seed: int, least: int, record_property: Callable[[str, object], None]) -> None:
    """Programs with memories of random latencies, until so many instructions have been executed."""
    source = random.Random(seed)
    instructions, cycles, programs, whole = 0, 0, 0, 0
    while instructions < least:
        pair = Pair(random_memory(source))
        for _ in range(PROGRAMS):
            ended = pair.run(random_program(source), [NOISE], SCRATCHPAD)
            instructions, cycles = instructions + ended.instructions, cycles + ended.cycles
            programs, whole = programs + 1, whole + (ended.status == "ok")
        assert len(pair.pins) == 1
        assert [unit.unit.violations for unit in pair.units] == [0, 0]
    assert whole > programs // 2
    for name, count in (("instructions", instructions), ("cycles", cycles), ("programs", programs)):
        record_property(name, count)


@pytest.mark.long("eight minutes of a processor, all ten")
@pytest.mark.parametrize("seed", range(49, 59))
def test_a_thousand_broken_programs(seed: int) -> None:
    """Each ends in a status, stores where it may alone, and a good one runs after it."""
    source = random.Random(seed)
    pair = Pair()
    for _ in range(1_000):
        run_mutated(pair, source, 4_000)
    assert [unit.unit.violations for unit in pair.units] == [0, 0]
