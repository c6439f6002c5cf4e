"""Two profiles side by side: which stacks and functions have gained cycles, and which have lost some."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.profiling.trees import SMALLER, STACKS

_SMALLEST = 1 / 10_000
"""Share of the cycles of either profile below which a stack is drawn with its neighbours as one."""

_ROWS = 500
"""The number of functions in the table of differences, those with the largest ones."""

_NUMBER = re.compile(r" \(\d+\)")
"""The number of a process or thread, which may differ between runs."""

Stack = tuple[str, ...]


@dataclass(frozen=True)
class Stacks:
    """The cycles of a run by stack, of all harts together.

    A stack is a thread by its names, then functions; the empty one is for harts without a thread.
    """

    title: str
    cycles: Counter[Stack]

    @staticmethod
    def of_text(title: str, text: str) -> Stacks:
        """From lines of `stacks.folded`; raises `ValueError` for a line that is none."""
        cycles: Counter[Stack] = Counter()
        for line in text.splitlines():
            names, _, count = line.rpartition(" ")
            _, *stack = names.split(";")
            if stack:
                stack[0] = _NUMBER.sub("", stack[0])
            cycles[tuple(stack)] += int(count)
        return Stacks(title, cycles)

    @staticmethod
    def of_folder(folder: Path) -> Stacks:
        """Of a profile that was written to `folder`; raises `RackwrightError` when there is none."""
        path = folder / STACKS
        try:
            text = path.read_text()
            record = json.loads((folder / "profile.json").read_text())
            return Stacks.of_text(f"{record['command']} on {record['cpu']} in {folder.name}", text)
        except FileNotFoundError as error:
            made = f"`rw profile -o {folder} -- …` makes one"
            raise RackwrightError(f"{error.filename}: no such file; is there a profile? {made}") from None
        except (KeyError, ValueError):
            raise RackwrightError(f"{folder}: its profile cannot be read") from None

    def functions(self) -> tuple[Counter[str], Counter[str]]:
        """Cycles of each function: its own, and including its callees."""
        own: Counter[str] = Counter()
        inclusive: Counter[str] = Counter()
        for stack, cycles in self.cycles.items():
            functions = stack[1:]
            if functions:
                own[functions[-1]] += cycles
            for name in set(functions):
                inclusive[name] += cycles
        return own, inclusive


def stacks_in(folder: Path) -> bool:
    """Whether a folder contains a profile, or those of servers."""
    return any(path.is_file() for path in (folder / STACKS, *folder.glob(f"*/{STACKS}")))


def comparison(here: Stacks, there: Stacks) -> dict[str, Any]:
    """The report's data on the difference, in the format of its script.

    `nodes` are rows of parent, place in `names`, own cycles here and there; `functions` has a row for each
    function, with the one first whose own cycles differ most. All cycles of both runs are in the nodes.
    """
    names: dict[str, int] = {}
    return {
        "here": here.title,
        "there": there.title,
        "nodes": _nodes(here, there, names),
        "names": list(names),
        "functions": _functions(here, there),
    }


class _Tree:
    """Stacks as a tree of nodes with own and inclusive cycles in both runs."""

    def __init__(self) -> None:
        self.places: dict[Stack, int] = {(): 0}
        self.stacks: list[Stack] = [()]
        self.own = [[0, 0]]

    def add(self, stack: Stack, run: int, cycles: int) -> None:
        for depth in range(1, len(stack) + 1):
            if stack[:depth] not in self.places:
                self.places[stack[:depth]] = len(self.stacks)
                self.stacks.append(stack[:depth])
                self.own.append([0, 0])
        self.own[self.places[stack]][run] += cycles

    def parent(self, place: int) -> int:
        return self.places[self.stacks[place][:-1]]

    def inclusive(self) -> list[list[int]]:
        total = [list(own) for own in self.own]
        for place in range(len(total) - 1, 0, -1):
            for run in (0, 1):
                total[self.parent(place)][run] += total[place][run]
        return total


def _nodes(here: Stacks, there: Stacks, names: dict[str, int]) -> list[list[int]]:
    tree = _Tree()
    for run, stacks in enumerate((here, there)):
        for stack, cycles in stacks.cycles.items():
            tree.add(stack, run, cycles)
    inclusive = tree.inclusive()
    least = [cycles * _SMALLEST for cycles in inclusive[0]]

    def number(name: str) -> int:
        return names.setdefault(name, len(names))

    kept = {0: 0}
    nodes = [[0, number("all harts"), *tree.own[0]]]
    smaller: dict[int, list[int]] = {}
    for place in range(1, len(tree.stacks)):
        parent = kept.get(tree.parent(place))
        if parent is None:
            continue
        total = inclusive[place]
        if total[0] >= max(1, least[0]) or total[1] >= max(1, least[1]):
            kept[place] = len(nodes)
            nodes.append([parent, number(tree.stacks[place][-1]), *tree.own[place]])
        else:
            sums = smaller.setdefault(parent, [0, 0])
            sums[:] = [sums[0] + total[0], sums[1] + total[1]]
    nodes += [[parent, number(SMALLER), *sums] for parent, sums in smaller.items()]
    return nodes


def _functions(here: Stacks, there: Stacks) -> dict[str, Any]:
    (own_here, all_here), (own_there, all_there) = here.functions(), there.functions()
    rows: list[tuple[str, int, int, int, int, int, int]] = [
        (
            name,
            own_here[name] - own_there[name],
            own_here[name],
            own_there[name],
            all_here[name] - all_there[name],
            all_here[name],
            all_there[name],
        )
        for name in {*all_here, *all_there}
    ]
    rows.sort(key=lambda row: (-abs(row[1]), row[0]))
    columns = ["function", "own difference", "own here", "own there"]
    columns += ["inclusive difference", "inclusive here", "inclusive there"]
    return {"columns": columns, "data": rows[:_ROWS]}
