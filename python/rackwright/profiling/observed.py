"""The observations of an observer, as values and data frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rackwright.profiling.trees import SMALLER, STACKS, Tree

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from rackwright._engine import Observer
    from rackwright.fabric import AttachedFabric
    from rackwright.profiling.compare import Stacks
    from rackwright.profiling.lanes import Lane

UNNAMED = "[unknown]"
"""The engine's name for code without a symbol."""

BY_ADDRESS = "@"
"""The prefix of function names for which only the address is known."""


@dataclass(frozen=True)
class Function:
    """A function that was called.

    `durations` are pairs of cycles from call to return, rounded down to 1 part in 64 from 128 cycles on, and
    the number of calls with that duration; `slowest` are the duration and the first cycle of the longest
    calls. `stalls` are cycles in which no instruction retired, one number for each reason of
    `Profile.stalls`. `file` and `line` are those of its declaration; empty and 0 without debug information.
    """

    module: str
    name: str
    symbol: str
    durations: list[tuple[int, int]] = field(repr=False)
    slowest: list[tuple[int, int]] = field(repr=False)
    stalls: list[int] = field(repr=False)
    file: str = ""
    line: int = 0

    @property
    def title(self) -> str:
        """The name, with the module if it is ambiguous without."""
        nameless = self.name == UNNAMED or self.name.startswith(BY_ADDRESS)
        return f"{self.module}:{self.name}" if nameless else self.name


@dataclass(frozen=True)
class Thread:
    """A thread and its process."""

    process: str
    process_number: int
    name: str
    number: int

    @property
    def title(self) -> str:
        """Process and number, and the thread if it differs."""
        process = f"{self.process} ({self.process_number})"
        return process if self.number == self.process_number else f"{process}/{self.name} ({self.number})"


@dataclass(frozen=True)
class Slice:
    """A call on the time line: `depth` calls are around it."""

    thread: int
    depth: int
    function: int
    begin: int
    end: int


@dataclass(frozen=True)
class Turn:
    """A time in which a hart has run one thread."""

    thread: int
    begin: int
    end: int


_INTERRUPTS = {1: "software interrupt", 5: "timer interrupt", 9: "external interrupt", 13: "counter overflow"}
_EXCEPTIONS = {
    2: "illegal instruction",
    3: "breakpoint",
    12: "page fault, code",
    13: "page fault, load",
    15: "page fault, store",
}
_INTERRUPT = 1 << 63
_CALL, _FIRMWARE = 8, 9
"""Causes of traps (RISC-V privileged manual, `scause`)."""


@dataclass(frozen=True)
class Trap:
    """A hardware trap, from its entry until the interrupted code resumes.

    `cause` is that of `scause`, `call` the value of register `a7`: the number of a system call.
    """

    thread: int
    cause: int
    call: int
    begin: int
    end: int

    @property
    def kind(self) -> str:
        """Its kind on the time line: an interrupt, a system call, or another exception."""
        if self.cause & _INTERRUPT:
            return "interrupts"
        return "system calls" if self.cause == _CALL else "exceptions"

    @property
    def title(self) -> str:
        """Its cause."""
        code = self.cause & ~_INTERRUPT
        if self.cause & _INTERRUPT:
            return _INTERRUPTS.get(code, f"interrupt {code}")
        if code == _CALL:
            return f"system call {self.call}"
        if code == _FIRMWARE:
            return "call of the firmware"
        return _EXCEPTIONS.get(code, f"exception {code}")


@dataclass(frozen=True)
class UnitWork:
    """When a unit beside a hart had work: first cycles of the hart, and first ones after them."""

    unit: str
    work: list[tuple[int, int]]


@dataclass(frozen=True)
class Hart:
    """A hart: its call stacks, its longest calls, and samples of its counters.

    In its tree, recursions are folded below the depth `folded_below`, if any is deeper. `cycles` were
    observed; `windows` are the first cycles of when that was, and the first ones after it. `samples` has a
    row for each sample: cycle, instructions, values of counters. Of `turns` and `traps` there are the longest
    ones, in order, and of the work of its `units`.
    """

    hart: int
    cycles: int
    windows: list[tuple[int, int]]
    instructions: int
    tree: Tree = field(repr=False)
    slices: list[Slice] = field(repr=False)
    slices_dropped: int
    samples: npt.NDArray[np.uint64] = field(repr=False)
    turns: list[Turn] = field(repr=False, default_factory=list)
    traps: list[Trap] = field(repr=False, default_factory=list)
    units: list[UnitWork] = field(repr=False, default_factory=list)
    folded_below: int | None = None


@dataclass(frozen=True)
class TraceRecord:
    """The result of a run's trace: `error` is the reason of lost instructions, if any."""

    instructions: int
    bytes: int
    lost_instructions: int
    error: str | None


@dataclass(frozen=True)
class Profile:
    """The distribution of a run's cycles.

    `command` is the workload, `counters` are the names of the columns of `Hart.samples`, `stalls` those of
    the reasons for stalls. `fabric` has what ports and cards did. `fired` is how often a trigger has started
    and ended the observation; `trace` exists if one was requested. The cycles of all stacks of a hart add up
    to `Hart.cycles` exactly.
    """

    command: str
    cpu: str
    clock_hz: int
    exit_code: int
    digest: str
    wall_seconds: float
    counters: tuple[str, ...]
    stalls: tuple[str, ...]
    fired: tuple[int, int]
    trace: TraceRecord | None
    functions: tuple[Function, ...] = field(repr=False)
    threads: tuple[Thread, ...] = field(repr=False)
    harts: tuple[Hart, ...]
    fabric: tuple[Lane, ...] = field(default=(), repr=False)

    @staticmethod
    def of(observer: Observer, *, fabric: AttachedFabric | None = None, **about: Any) -> Profile:
        """From the observations of a completed run, and the other fields."""
        seen = json.loads(observer.profile())
        counters = tuple(seen["counters"])
        harts = zip(seen["harts"], observer.samples(), strict=True)
        return Profile(
            functions=tuple(
                Function(**{**row, "durations": _pairs(row["durations"]), "slowest": _pairs(row["slowest"])})
                for row in seen["functions"]
            ),
            threads=tuple(Thread(**row) for row in seen["threads"]),
            harts=tuple(_hart(row, samples, len(counters)) for row, samples in harts),
            counters=counters,
            stalls=tuple(seen["stalls"]),
            fired=(seen["fired"][0], seen["fired"][1]),
            trace=seen["trace"] and TraceRecord(**seen["trace"]),
            clock_hz=seen["clock_hz"],
            fabric=tuple(fabric.lanes(seen["clock_hz"])) if fabric else (),
            **about,
        )

    @property
    def cycles(self) -> list[int]:
        """Cycles of each hart."""
        return [hart.cycles for hart in self.harts]

    @property
    def instructions(self) -> int:
        """Instructions of all harts."""
        return sum(hart.instructions for hart in self.harts)

    @property
    def folded_below(self) -> int | None:
        """The depth below which recursions are folded in stacks; `None` when none is as deep."""
        return max((hart.folded_below for hart in self.harts if hart.folded_below), default=None)

    @property
    def smaller_cycles(self) -> int:
        """Cycles in stacks that are not named in files that name all frames of each stack: `Tree.listed`."""
        return sum(hart.tree.listed.cycles for hart in self.harts)

    def shortened(self) -> list[str]:
        """Sentences about stacks that the files do not contain."""
        sentences = []
        if self.folded_below:
            sentences.append(
                f"stacks are deeper than {self.folded_below} frames: recursions are folded below that"
            )
        if self.smaller_cycles:
            sentences.append(
                f"{STACKS} and profile.pb.gz name the stacks with most cycles:"
                f" {self.smaller_cycles / max(1, sum(self.cycles)):.1%} are in the others, as {SMALLER}"
            )
        return sentences

    @cached_property
    def unnamed_share(self) -> float:
        """The share of cycles in code whose function is unknown."""
        return self._share(lambda function: function.name == UNNAMED)

    @cached_property
    def stripped_share(self) -> float:
        """The share of cycles in functions that are distinguished, but known only by address."""
        return self._share(lambda function: function.name.startswith(BY_ADDRESS))

    def _share(self, wanted: Callable[[Function], bool]) -> float:
        chosen = [wanted(function) for function in self.functions]
        cycles = sum(
            hart.tree.cycles[node]
            for hart in self.harts
            for node in hart.tree.frames()
            if chosen[hart.tree.labels[node]]
        )
        return cycles / max(1, sum(self.cycles))

    def stacks(self) -> Iterator[tuple[Hart, list[str], int, int]]:
        """Each stack with cycles of its own: hart, names from the thread on, cycles, instructions."""
        for hart in self.harts:
            tree = hart.tree
            for node in range(len(tree.parents)):
                if tree.cycles[node] or tree.instructions[node]:
                    yield hart, self.titles(tree.path(node)), tree.cycles[node], tree.instructions[node]

    def titles(self, path: Sequence[int]) -> list[str]:
        """Names of a path: a thread, then functions."""
        return (
            [self.threads[path[0]].title, *(self.functions[each].title for each in path[1:])] if path else []
        )

    def calls(self) -> pd.DataFrame:
        """One row for each function, the one with most cycles of its own first.

        Columns: module, function, symbol, count, inclusive_cycles (of the outermost calls), exclusive_cycles,
        instructions, and of the time from call to return in cycles: minimum, p50, p90, p99, maximum; file and
        line of its declaration (empty and 0 without debug information). Of a model that explains itself, also
        the cycles of its own in which no instruction retired, by reason. An inlined function has cycles but
        no calls.
        """
        import pandas as pd

        from rackwright.profiling.calls import rows

        frame = pd.DataFrame(rows(self))
        return frame.sort_values(["exclusive_cycles", "function"], ascending=[False, True], ignore_index=True)

    def counter_samples(self) -> pd.DataFrame:
        """One row for each sample of a hart's counters: hart, cycle, instructions, then the counters."""
        import pandas as pd

        columns = ["cycle", "instructions", *self.counters]
        frames = [pd.DataFrame(hart.samples.astype("int64"), columns=columns) for hart in self.harts]
        for hart, frame in zip(self.harts, frames, strict=True):
            frame.insert(0, "hart", hart.hart)
        return pd.concat(frames, ignore_index=True)

    def window_counters(self) -> pd.DataFrame:
        """One row for each interval between two triggers: hart, cycle (its first), cycles, and the counts.

        Columns after these: instructions, then the counters. An interval that ended with the run itself, or
        for which a sample was discarded for lack of room, has no row.
        """
        import pandas as pd

        samples = self.counter_samples()
        rows = []
        for hart in self.harts:
            looks = samples[samples["hart"] == hart.hart].set_index("cycle", drop=False)
            looks = looks[~looks.index.duplicated(keep="last")].drop(columns="hart")
            known = set(looks.index)
            ends = [(begin, end) for begin, end in hart.windows if begin in known and end in known]
            begins = looks.loc[[begin for begin, _ in ends]].reset_index(drop=True)
            made = looks.loc[[end for _, end in ends]].reset_index(drop=True) - begins
            made = made.rename(columns={"cycle": "cycles"})
            made.insert(0, "cycle", begins["cycle"])
            made.insert(0, "hart", hart.hart)
            rows.append(made)
        return pd.concat(rows, ignore_index=True)

    def cycle_stacks(self) -> pd.DataFrame:
        """Cycles per instruction of each function, and the part of each reason.

        Columns: module, function, instructions, cycles_per_instruction, then `retiring` (1 when the hart
        retires one instruction in a cycle, less on one that retires several) and one for each of `stalls`.
        Empty when the model does not explain itself.
        """
        calls = self.calls()
        if not self.stalls:
            return calls.iloc[:0][["module", "function", "instructions"]]
        calls = calls[calls["instructions"] > 0]
        parts = calls[["module", "function", "instructions"]].copy()
        parts["cycles_per_instruction"] = calls["exclusive_cycles"] / calls["instructions"]
        stalled = calls[list(self.stalls)].div(calls["instructions"], axis=0)
        parts["retiring"] = parts["cycles_per_instruction"] - stalled.sum(axis=1)
        return parts.join(stalled).reset_index(drop=True)

    def record(self) -> dict[str, Any]:
        """The contents of `profile.json`."""
        return {
            "command": self.command,
            "cpu": self.cpu,
            "clock_hz": self.clock_hz,
            "digest": self.digest,
            "cycles": self.cycles,
            "instructions": self.instructions,
            "exit_code": self.exit_code,
            "wall_seconds": self.wall_seconds,
            "unnamed_share": self.unnamed_share,
            "stripped_share": self.stripped_share,
            "windows": [hart.windows for hart in self.harts],
            "folded_below": self.folded_below,
            "smaller_cycles": self.smaller_cycles,
            "triggers_fired": {"from": self.fired[0], "to": self.fired[1]},
            "slices_dropped": sum(hart.slices_dropped for hart in self.harts),
            "trace": self.trace and asdict(self.trace),
        }

    def flame_graph(self, other: Stacks | None = None) -> str:
        """The report, a self-contained HTML page.

        It also shows the difference from an `other` profile, such as `Stacks.of_folder(Path("made"))`.
        """
        from rackwright.profiling.report import report

        return report(self, other)

    def _repr_html_(self) -> str:
        """The representation in a notebook."""
        from html import escape

        style = "width:100%;height:640px;border:0"
        return f'<iframe style="{style}" srcdoc="{escape(self.flame_graph())}"></iframe>'


def _pairs(rows: list[list[int]]) -> list[tuple[int, int]]:
    return [(first, second) for first, second in rows]


def _hart(row: dict[str, Any], samples: bytes, counters: int) -> Hart:
    import numpy as np

    return Hart(
        hart=row["hart"],
        cycles=row["cycles"],
        windows=_pairs(row["windows"]),
        instructions=row["instructions"],
        tree=Tree.of(row["nodes"]),
        folded_below=row["folded_below"],
        slices=[Slice(*slice_) for slice_ in row["slices"]],
        slices_dropped=row["slices_dropped"],
        samples=np.frombuffer(samples, "<u8").reshape(-1, 2 + counters),
        turns=[Turn(*turn) for turn in row["turns"]],
        traps=sorted((Trap(*trap) for trap in row["traps"]), key=lambda trap: trap.begin),
        units=[UnitWork(unit["unit"], _pairs(unit["work"])) for unit in row["units"]],
    )
