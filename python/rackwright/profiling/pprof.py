"""Profiles for pprof: https://github.com/google/pprof/blob/main/proto/profile.proto."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from rackwright.profiling.trees import SMALLER
from rackwright.profiling.wire import message, number, packed

if TYPE_CHECKING:
    from rackwright.profiling.observed import Profile


class _Strings:
    """The table of strings; other tables refer to its indices, and the first string is empty."""

    def __init__(self) -> None:
        self._places = {"": 0}

    def place(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    def encoded(self) -> bytes:
        return b"".join(message(6, text) for text in self._places)


def pprof(profile: Profile) -> bytes:
    """The stacks with cycles and instructions, compressed. Harts are labels, threads the outermost frames."""
    strings = _Strings()
    parts = [
        message(1, number(1, strings.place(kind)) + number(2, strings.place("count")))
        for kind in ("cycles", "instructions")
    ]
    hart_label = strings.place("hart")
    threads = len(profile.threads)
    names = [(thread.title, thread.title, "", 0) for thread in profile.threads]
    names += [
        (function.title, function.symbol, function.file or function.module, function.line)
        for function in profile.functions
    ]
    smaller = len(names) + 1
    if any(hart.tree.listed.is_shortened for hart in profile.harts):
        names.append((SMALLER, SMALLER, "", 0))
    for hart in profile.harts:
        label = message(3, number(1, hart_label) + number(3, hart.hart))
        tree = hart.tree
        listed = tree.listed
        samples = []
        for node in listed.nodes:
            thread, *functions = tree.path(node)
            locations = [threads + function + 1 for function in reversed(functions)] + [thread + 1]
            samples.append((locations, tree.cycles[node], tree.instructions[node]))
        if listed.is_shortened:
            samples.append(([smaller], listed.cycles, listed.instructions))
        for locations, cycles, instructions in samples:
            parts.append(message(2, packed(1, locations) + packed(2, (cycles, instructions)) + label))
    for place, (name, symbol, module, line) in enumerate(names, 1):
        at = number(1, place) + (number(2, line) if line else b"")
        parts.append(message(4, number(1, place) + message(4, at)))
        fields = (
            (1, place),
            (2, strings.place(name)),
            (3, strings.place(symbol)),
            (4, strings.place(module)),
        )
        parts.append(message(5, b"".join(number(field, value) for field, value in fields)))
    seconds = max(profile.cycles, default=0) / profile.clock_hz
    parts.append(number(10, round(seconds * 1e9)))
    period = number(1, strings.place("cycles")) + number(2, strings.place("count"))
    parts += [message(11, period), number(12, 1), strings.encoded()]
    return gzip.compress(b"".join(parts), mtime=0)
