"""DRX in RTL and its model in lockstep: kernels, random programs, broken programs, faults of memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from drx_random import Case, compiled_cases, of, same_numbers
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import long

from rackwright.drx import Configuration, Program, compile_kernel, xp
from rackwright.drx.instruction import Instruction
from rackwright.drx.isa import isa
from rackwright.drx.machine import DrxUnit, Ended
from rackwright.unit.commands import STATUS_NAMES, start, wait

SHAPE = {"lanes": 8, "scratchpad-kib": 4, "banks": 2, "instruction-kib": 4}
CONFIGURATION = Configuration.of(SHAPE)
SCRATCHPAD = CONFIGURATION.scratchpad_bytes
NOISE = random.Random(7).randbytes(SCRATCHPAD)
HUNG = 1_000_000
LARGEST = 10_000_000
"""The limit of cycles of random expressions: the largest take two million."""

GOOD = Program.from_text(
    """
    region calculator=1 region=1
    format calculator=2 type=i16 value=2
    format calculator=3 type=constant
    base calculator=3 value=-5
    load scratchpad=0 memory=1 size=100
    wait_loads
    length value=50
    multiply destination=2 first=2 second=3
    store scratchpad=0 memory=4 size=100
    end
    """
)


FIRST_ADDRESS = 0x1000_0000
"""Of the buffers of a unit."""


class Pair:
    """A small unit in RTL and its model, which must not touch what is not theirs and do the same."""

    def __init__(self, memory: dict[str, int] | None = None) -> None:
        self.rtl = DrxUnit(SHAPE, assertions=True, own_memory=False, memory=memory)
        self.model = DrxUnit(SHAPE, model=True, own_memory=False, memory=memory)
        self.units = (self.rtl, self.model)

    def run(
        self, program: Program | bytes, inputs: list[bytes], output_bytes: int, limit: int = HUNG
    ) -> Ended:
        """Runs a program in both, with the same end, bytes, cycles, stalls, and all else at the pins."""
        rtl, model = (unit.run(program, inputs, output_bytes, limit) for unit in self.units)
        assert rtl == model, program
        return rtl

    def warm(self, source: random.Random) -> None:
        """Puts some of what will be read into caches, so that memory answers late, soon, and out of order."""
        for _ in range(source.randint(0, 12)):
            place, length = FIRST_ADDRESS + 64 * source.randrange(400), 64 * source.randint(1, 20)
            level = source.choice(["l2", "llc"])
            for unit in self.units:
                unit.unit.bench.warm(place, length, level)

    @property
    def pins(self) -> set[str]:
        """Digests of what has crossed their pins: one if they agree."""
        return {unit.unit.digest for unit in self.units}


@pytest.fixture(scope="module")
def unit() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    assert [unit.unit.violations for unit in pair.units] == [0, 0]


def test_a_program(unit: Pair) -> None:
    ended = unit.run(GOOD, [NOISE[:100]], 100)
    numbers = np.frombuffer(NOISE[:100], np.int16)
    assert (ended.status, ended.output) == ("ok", (numbers * np.int16(-5)).tobytes())


def test_the_model_has_the_manifest_of_the_unit(unit: Pair) -> None:
    rtl, model = (each.unit.design for each in unit.units)
    assert (model.unit, model.top, model.opcodes) == (rtl.unit, rtl.top, rtl.opcodes)
    assert model.clock_hz == rtl.clock_hz
    assert (model.commands, model.events) == (rtl.commands, rtl.events)
    assert (model.memory_ports, model.parameters) == (rtl.memory_ports, rtl.parameters)


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(60), id="60"),
        *(
            long(range(first, first + 650), why="a minute of a processor", name=f"from {first}")
            for first in (60, 710, 1_360)
        ),
    ],
)
def test_random_expressions(unit: Pair, seeds: range) -> None:
    for seed, case, compiled in compiled_cases(seeds, CONFIGURATION):
        data = [np.ascontiguousarray(array).tobytes() for array in case.inputs]
        ended = unit.run(compiled.program, data, case.kernel.result.bytes, LARGEST)
        assert ended.status == "ok", seed
        same_numbers(ended.output, case)


KERNELS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "sound": (
        lambda x, bank: xp.astype(8 * xp.log10(xp.abs((x[..., 0] ** 2) @ bank) / 4 + 1), xp.uint8),
        [(6, 20, 2), (20, 16)],
    ),
    "sound in parts": (lambda x, bank: (x[..., 0] ** 2) @ bank, [(40, 60, 2), (60, 16)]),
    "brain": (lambda x: xp.astype(xp.clip(16 * (x**2 / 3.0), -128, 127), xp.int8), [(5, 8)]),
    "video": (
        lambda x: xp.permute_dims(xp.max(xp.reshape(x, (6, 2, 5, 2, 3)), axis=(1, 3)), (2, 1, 0)),
        [(12, 10, 3)],
    ),
    "once for several tiles": (lambda x, rest: x * xp.sqrt(xp.abs(rest)), [(12, 70), (70,)]),
    "functions": (lambda x: xp.sqrt(xp.abs(x)) + xp.exp(x), [(20,)]),
}


@pytest.mark.parametrize("name", KERNELS)
def test_what_takes_elements_together_and_functions_in_steps(unit: Pair, name: str) -> None:
    function, shapes = KERNELS[name]
    source = np.random.default_rng(8)
    case = of(function, [source.standard_normal(shape, np.float32) for shape in shapes])
    program = compile_kernel(case.kernel, CONFIGURATION).program
    data = [array.tobytes() for array in case.inputs]
    assert unit.run(program, data, case.kernel.result.bytes).status == "ok"


SIZES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "i32": 4, "f32": 4, "bf16": 2, "constant": 0}


def _operand(source: random.Random, calculator: int, *, stored: bool) -> list[Instruction]:
    """A calculator with an address, strides and a format."""
    names = [name for name in isa().types if not (stored and name == "constant")]
    name = source.choice(names)
    size = SIZES[name]
    lane = source.choice([size, size, size, 0, source.randint(-9, 9), size * source.randint(2, 8)])
    base = source.choice([source.randrange(SCRATCHPAD - 2000), 64 * source.randrange(SCRATCHPAD // 64 - 10)])
    found = [
        Instruction("base", {"calculator": calculator, "value": base}),
        Instruction("format", {"calculator": calculator, "type": isa().types[name], "value": lane}),
    ]
    for level in range(source.randrange(3)):
        values = {"calculator": calculator, "level": level, "value": source.randint(-40, 40)}
        found.append(Instruction("stride", values))
    return found


def _random_program(seed: int) -> Program:
    """Fills the scratchpad, computes here and there in it, within loops, and stores all of it."""
    source = random.Random(seed)
    transfer = {"scratchpad": 15, "memory": 14, "size": SCRATCHPAD}
    found = [Instruction("region", {"calculator": 14, "region": 1}), Instruction("load", transfer)]
    found.append(Instruction("wait_loads"))
    functions = [name for name, each in isa().functions.items() if each.operation == "compute"]
    for _ in range(source.randint(1, 8)):
        for calculator in range(4):
            found += _operand(source, calculator, stored=calculator == 0 or source.random() < 0.6)
        found.append(Instruction("length", {"value": source.choice([1, 7, 8, 9, source.randint(1, 60)])}))
        loops = source.randrange(3)
        found += [Instruction("loop", {"value": source.randint(1, 4)}) for _ in range(loops)]
        count = source.randint(1, 3)
        for place in range(count):
            first, second = source.randrange(4), source.randrange(4)
            values = {"destination": 0, "first": first, "second": second}
            values["ends"] = loops if place == count - 1 else 0
            found.append(Instruction(source.choice(functions), values))
    found.append(Instruction("region", {"calculator": 14, "region": 0}))
    found += [Instruction("store", transfer), Instruction("end")]
    return Program(found)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_random_programs(unit: Pair, seed: int) -> None:
    unit.warm(random.Random(seed))
    unit.run(_random_program(seed), [NOISE], SCRATCHPAD)


def _numbers(count: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Bit patterns of binary32: any, near 1 and near each other, subnormal, and those that are special."""
    source = np.random.default_rng(seed)
    anything = source.integers(0, 2**32, count, np.uint32)
    near = np.uint32(0x3F80_0000) + source.integers(-40, 40, count).astype(np.uint32)
    signs = source.integers(0, 2, count).astype(np.uint32) << 31
    subnormal = source.integers(0, 2**24, count, np.uint32)
    special = source.choice(
        np.array([0, 1, 0x7F_FFFF, 0x80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0001], np.uint32), count
    )
    whole = source.integers(-(2**20), 2**20, count).astype(np.float32).view(np.uint32) ^ signs
    chosen = source.integers(0, 5, count)
    patterns = np.choose(chosen, [anything, near | signs, subnormal | signs, special | signs, whole])
    return patterns.astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(
    "function", [name for name, each in isa().functions.items() if each.operation == "compute"]
)
def test_binary32(unit: Pair, function: str) -> None:
    """Every function of numbers of all kinds, in RTL as in the model, and sums and products as in NumPy."""
    count = 300
    text = f"""
        region calculator=1 region=1
        format calculator=2 type=f32 value=4
        format calculator=3 type=f32 value=4
        base calculator=3 value={4 * count}
        format calculator=4 type=f32 value=4
        base calculator=4 value={8 * count}
        load scratchpad=0 memory=1 size={12 * count}
        wait_loads
        length value={count}
        {function} destination=4 first=2 second=3
        {function} destination=2 first=2 second=3
        format calculator=3 type=i32 value=4
        {function} destination=3 first=2 second=4
        format calculator=2 type=bf16 value=2
        {function} destination=2 first=3 second=4
        store scratchpad=0 memory=5 size={12 * count}
        end
    """
    program = Program.from_text(text)
    known = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
    for seed in range(8):
        numbers = _numbers(3 * count, seed)
        ended = unit.run(program, [numbers.tobytes()], 12 * count)
        assert ended.status == "ok"
        if function in known:
            first, second, _ = numbers.reshape(3, count)
            with np.errstate(all="ignore"):
                expected = known[function](first, second)
            result = np.frombuffer(ended.output, np.float32)[2 * count :]
            assert np.array_equal(result, expected, equal_nan=True)
            assert np.array_equal(np.signbit(result[result == 0]), np.signbit(expected[expected == 0]))


@given(words=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=30))
def test_random_words(unit: Pair, words: list[int]) -> None:
    """Whatever a program says, it ends, in the same way, and the next one runs."""
    data = b"".join(word.to_bytes(4, "little") for word in words)
    ended = unit.run(data, [NOISE], 256, 20_000)
    assert ended.status in STATUS_NAMES
    assert ended.index <= len(words)
    assert unit.run(GOOD, [NOISE[:100]], 100).status == "ok"


@cache
def _compiled(name: str) -> tuple[Case, list[int]]:
    function, shapes = KERNELS[name]
    case = of(function, [np.ones(shape, np.float32) for shape in shapes])
    return case, compile_kernel(case.kernel, CONFIGURATION).program.words


def mutated(words: list[int], source: random.Random) -> list[int]:
    """A program of which some bits are turned, or instructions left out, exchanged or repeated."""
    found = list(words)
    for _ in range(source.randint(1, 4)):
        place, other = source.randrange(len(found)), source.randrange(len(found))
        kind = source.choice(["bit", "bit", "bit", "leave", "exchange", "repeat"])
        if kind == "bit":
            found[place] ^= 1 << source.randrange(32)
        elif kind == "exchange":
            found[place], found[other] = found[other], found[place]
        elif kind == "repeat":
            found.insert(place, found[other])
        elif len(found) > 1:
            del found[place]
    return found


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_mutated_programs_end_in_a_status(unit: Pair, seed: int) -> None:
    """Those of kernels that are almost right: they write where they may alone, and the next one runs."""
    run_mutated(unit, random.Random(seed), 30_000)


def run_mutated(unit: Pair, source: random.Random, limit: int) -> None:
    """Runs a kernel's program with mistakes, for so many cycles at most, and then a good one."""
    case, words = _compiled(source.choice(sorted(KERNELS)))
    data = b"".join(word.to_bytes(4, "little") for word in mutated(words, source))
    inputs = [array.tobytes() for array in case.inputs]
    unit.warm(source)
    ended = unit.run(data, inputs, case.kernel.result.bytes, limit)
    assert ended.status in ("ok", "malformed", "output_full", "unsupported")
    assert ended.index <= len(data) // 4
    assert unit.run(GOOD, [NOISE[:100]], 100).status == "ok"


LONGER_THAN_MEMORY = "length value=1\n" * (CONFIGURATION.instructions + 1)

BROKEN = {
    "no end": ("length value=3", "malformed", 1),
    "no elements": ("length value=0", "malformed", 0),
    "no iterations": ("loop value=0", "malformed", 0),
    "a type that there is not": ("format type=8", "malformed", 0),
    "a region that there is not": ("region region=6", "malformed", 0),
    "a level that there is not": ("stride level=6", "malformed", 0),
    "loops too deep": ("loop value=2\n" * 7, "malformed", 6),
    "the end of no loop": ("wait_loads ends=1", "malformed", 0),
    "outside the scratchpad": (
        "base value=4090\nlength value=7\nformat type=u8 value=1\nmove",
        "malformed",
        3,
    ),
    "before the scratchpad": ("base value=-1\nmove", "malformed", 1),
    "a constant as destination": ("format type=constant\nmove", "malformed", 1),
    "a store of nothing": ("store size=0", "malformed", 0),
    "a store to an input": ("region calculator=1 region=1\nstore memory=1 size=4", "malformed", 1),
    "a load from the destination": ("load size=4", "malformed", 0),
    "a load behind an input": (
        "region calculator=1 region=1\nbase calculator=1 value=4000\nload memory=1 size=97",
        "malformed",
        2,
    ),
    "a load from no input": ("region calculator=1 region=3\nload memory=1 size=1", "malformed", 1),
    "a load beyond the scratchpad": (
        "region calculator=1 region=1\nbase value=4000\nload memory=1 size=97",
        "malformed",
        2,
    ),
    "a store too large": ("base calculator=1 value=10\nstore memory=1 size=91", "output_full", 1),
    "without an end": ("loop value=4000000\nloop value=4000000\nwait_loads ends=2\nend", "unsupported", 2),
    "too long": (LONGER_THAN_MEMORY, "unsupported", 0),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_program_ends_in_a_status(unit: Pair, name: str) -> None:
    text, status, index = BROKEN[name]
    program = Program.from_text(text)
    ended = unit.run(program, [NOISE], 100, 5000)
    assert (ended.status, ended.index, ended.output) == (status, index, bytes(100))
    assert unit.run(GOOD, [NOISE[:100]], 100).status == "ok"


def test_a_program_that_is_stopped_between_two_operands(unit: Pair) -> None:
    """They are in one bank, and read in turn, so that a chunk may be given up when it has one of them."""
    program = Program.from_text(
        """
        format calculator=1 type=i32 value=4
        format calculator=2 type=i32 value=4
        base calculator=2 value=256
        format calculator=3 type=i32 value=4
        base calculator=3 value=3072
        length value=64
        loop value=4000000
        add destination=3 first=1 second=2 ends=1
        end
        """
    )
    for limit in range(600, 604):
        ended = unit.run(program, [], 100, limit)
        assert (ended.status, ended.index) == ("unsupported", 7)
        assert unit.run(GOOD, [NOISE[:100]], 100).status == "ok"


@pytest.mark.parametrize("data", [b"", b"abc", bytes(6)])
def test_what_is_no_program(unit: Pair, data: bytes) -> None:
    assert unit.run(data, [], 100).status == "malformed"
    assert unit.run(GOOD, [NOISE[:100]], 100).status == "ok"


def test_faults_of_memory_end_in_a_status(unit: Pair) -> None:
    for part, index in (("program", 0), ("input", 4), ("output", 8)):
        for each in unit.units:
            inner = each.unit
            inner.release_all()
            code, source, target = inner.load(GOOD.to_bytes()), inner.load(NOISE[:100]), inner.reserve(100)
            inner.command("input1_address", source.address)
            inner.command("input1_bytes", source.length)
            faulty = {"program": code, "input": source, "output": target}[part]
            inner.bench.fault(faulty.address + faulty.length - 1, 1)
            start(inner, code, target)
            ended = wait(inner, HUNG)
            assert (ended.status, ended.input_offset) == ("access_fault", index), part
        assert unit.run(GOOD, [NOISE[:100]], 100).status == "ok"


def test_an_input_that_wraps(unit: Pair) -> None:
    for each in unit.units:
        inner = each.unit
        inner.release_all()
        code, target = inner.load(GOOD.to_bytes()), inner.reserve(100)
        inner.command("input1_address", 2**64 - 10)
        inner.command("input1_bytes", 100)
        start(inner, code, target)
        assert wait(inner, HUNG).status == "access_fault"
    assert len(unit.pins) == 1


def test_several_programs_wait(unit: Pair) -> None:
    """Each with a flag and a record; one is refused, whose record is written while the next one runs."""
    expected = (np.frombuffer(NOISE[:100], np.int16) * np.int16(-5)).tobytes()
    for each in unit.units:
        inner = each.unit
        inner.release_all()
        code, source = inner.load(GOOD.to_bytes()), inner.load(NOISE[:100])
        targets = [inner.reserve(100, misalignment=3 * place) for place in range(6)]
        records, flags = inner.reserve(16 * len(targets)), inner.reserve(8 * len(targets))
        inner.command("input1_address", source.address)
        inner.command("input1_bytes", source.length)
        for place, target in enumerate(targets):
            # A record must be aligned to its size.
            record = records.address + 16 * place + 8 * (place == 2)
            start(inner, code, target, record, flags.address + 8 * place)
        assert wait(inner, HUNG).status == "ok"
        written = [inner.read(target) for place, target in enumerate(targets) if place != 2]
        assert written == [expected] * len(written)
        marks = np.frombuffer(inner.read(flags), np.uint64).tolist()
        assert marks == [1, 1, 5, 1, 1, 1]
        ended = np.frombuffer(inner.read(records), np.uint64).reshape(6, 2).tolist()
        assert {row[0] for place, row in enumerate(ended) if place != 2} == {1 | 100 << 8}
    assert len(unit.pins) == 1


def test_a_run_is_the_same_again() -> None:
    units = (DrxUnit(SHAPE, assertions=True), DrxUnit(SHAPE, model=True), DrxUnit(SHAPE, model=True))
    assert len({unit.run(GOOD, [NOISE[:100]], 100).digest for unit in units}) == 1
