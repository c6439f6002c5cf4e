"""How often each wire of a netlist changes: what was counted in the RTL, and what follows for the others."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

from rackwright.errors import RackwrightError
from rackwright.power.saif import Activity, Signal
from rackwright.power.wires import ONE, ZERO, Gate, Wire, Wires
from rackwright.synthesis.functions import inputs_of, table_of
from rackwright.synthesis.liberty import Liberty

_ROUNDS = 3
"""How often flops that were not counted get the activity of their inputs."""

_NEXT = re.compile(r"\bnext_state\s*:\s*\"\s*\(?(\w+)\)?\s*\"")


@dataclass(frozen=True)
class Propagated:
    """What each wire does, and the share of the flops that were counted in the RTL."""

    signals: dict[Wire, Signal]
    counted_share: float


def propagate(wires: Wires, activity: Activity, liberty: Liberty) -> Propagated:
    """What the wires of a netlist do in a run in which the signals of the source have this `activity`.

    Wires that the source has a name for do what was counted. The output of any other gate follows from its
    inputs as if these were independent of each other, and from one cycle to the next; a flop that is not
    counted holds what its input was.
    """
    known = {ZERO: Signal(0.0, 0.0), ONE: Signal(0.0, 1.0)}
    for wire, names in wires.names.items():
        found = next((activity.signals[name] for name in names if name in activity.signals), None)
        if found is not None:
            known.setdefault(wire, found)
    flops = [gate for gate in wires.gates if liberty.cells[gate.cell].is_flop]
    ordered = _in_order([gate for gate in wires.gates if not liberty.cells[gate.cell].is_flop], liberty)
    unknown = [gate for gate in flops if _output(gate, liberty) not in known]
    signals = known | {_output(gate, liberty): Signal(0.0, 0.5) for gate in unknown}
    for _ in range(_ROUNDS if unknown else 1):
        for gate in ordered:
            output = _output(gate, liberty)
            if output not in known:
                signals[output] = _through(gate, signals, liberty)
        for gate in unknown:
            signals[_output(gate, liberty)] = _held(_data(gate, signals, liberty))
    return Propagated(signals, 1 - len(unknown) / len(flops) if flops else 1.0)


_STILL = Signal(0.0, 0.0)


def _output(gate: Gate, liberty: Liberty) -> Wire:
    """What a gate drives; ZERO for a cell whose output leads nowhere."""
    outputs = liberty.cells[gate.cell].functions
    return next((gate.pins[pin] for pin in outputs if pin in gate.pins), ZERO)


def _data(gate: Gate, signals: Mapping[Wire, Signal], liberty: Liberty) -> Signal:
    """What a flop is to hold next."""
    stored = _NEXT.search(liberty.cells[gate.cell].text)
    return signals.get(gate.pins.get(stored[1], ZERO) if stored else ZERO, _STILL)


def _held(data: Signal) -> Signal:
    """A flop whose input is `data`, which does not know its own past."""
    return Signal(min(data.changes, 2 * data.ones * (1 - data.ones)), data.ones)


def _in_order(gates: list[Gate], liberty: Liberty) -> list[Gate]:
    """The gates, each after those that drive it."""
    driven = {_output(gate, liberty): place for place, gate in enumerate(gates)}
    waiting = [0] * len(gates)
    behind: dict[int, list[int]] = defaultdict(list)
    for place, gate in enumerate(gates):
        for pin in liberty.cells[gate.cell].inputs:
            source = driven.get(gate.pins.get(pin, ZERO))
            if source is not None:
                waiting[place] += 1
                behind[source].append(place)
    ready = deque(place for place, count in enumerate(waiting) if count == 0)
    ordered = []
    while ready:
        place = ready.popleft()
        ordered.append(gates[place])
        for later in behind[place]:
            waiting[later] -= 1
            if waiting[later] == 0:
                ready.append(later)
    if len(ordered) < len(gates):
        raise RackwrightError("the netlist has a loop of gates without a register")
    return ordered


def _through(gate: Gate, signals: Mapping[Wire, Signal], liberty: Liberty) -> Signal:
    """What the output of a gate does. Each input goes from 0 or 1 to 0 or 1 with its own probability.

    The gate leaves the fewer of its two values as often as it comes to it.
    """
    cell = liberty.cells[gate.cell]
    function = _behaviour(next(iter(cell.functions.values())))
    inputs = [signals.get(gate.pins.get(pin, ZERO), _STILL) for pin in function.inputs]
    chances = [(1 - each.ones, each.ones) for each in inputs]
    there = stays = 0.0
    for row in function.fewer:
        chance = 1.0
        for value, of in zip(row, chances, strict=True):
            chance *= of[value]
        there += chance
    changes = [min(each.changes / 2, each.ones, 1 - each.ones) for each in inputs]
    if any(changes):
        steps = [
            (one[0] - half, half, half, one[1] - half) for one, half in zip(chances, changes, strict=True)
        ]
        for row in function.stays:
            chance = 1.0
            for move, of_step in zip(row, steps, strict=True):
                chance *= of_step[move]
            stays += chance
    else:
        stays = there
    return Signal(max(0.0, 2 * (there - stays)), there if function.value else 1 - there)


_Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Behaviour:
    """A gate by the rows of its `inputs` for which it has the `value` that it has for `fewer` of them.

    `stays` are the steps among these rows: twice what an input was and what it is then.
    """

    inputs: tuple[str, ...]
    value: int
    fewer: _Rows
    stays: _Rows


@cache
def _behaviour(function: str) -> _Behaviour:
    """What a gate of this function does."""
    inputs = inputs_of(function)
    rows: dict[int, list[tuple[int, ...]]] = {0: [], 1: []}
    for row, value in zip(product((0, 1), repeat=len(inputs)), table_of(function), strict=True):
        rows[value].append(row)
    fewer = int(len(rows[1]) <= len(rows[0]))
    stays = tuple(
        tuple(2 * old + new for old, new in zip(before, after, strict=True))
        for before in rows[fewer]
        for after in rows[fewer]
    )
    return _Behaviour(inputs, fewer, tuple(rows[fewer]), stays)
