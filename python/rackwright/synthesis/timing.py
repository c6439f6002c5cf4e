"""The longest paths of a mapped design: clock-to-output, logic, memory access and setup together."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright.synthesis import sta
from rackwright.synthesis.library import CACHE, Library
from rackwright.synthesis.netlist import Netlist
from rackwright.synthesis.shells import thinned

_ENDS = 600
"""End points that are searched for a register: enough that one wide register does not hide the next."""

_MOST_ENDS = 6000
"""Total number of end points that are searched."""

_PERIOD = 0.001
_PATHS = re.compile(r"^Startpoint: ", re.MULTILINE)
_SLACK = re.compile(r"^\s*(-?[\d.]+)\s+slack", re.MULTILINE)
_POINT = re.compile(r"^\s*(-?[\d.]+)\s+(-?[\d.]+) [v^] (\S+) \((\w+)\)", re.MULTILINE)


@dataclass(frozen=True)
class Point:
    """An output on a path: its source name (or the instance), its cell, and its arrival time."""

    name: str
    cell: str
    delay_fo4: float
    arrival_fo4: float


@dataclass(frozen=True)
class TimedPath:
    """The longest path to a register: its length including register overhead, and the points on it."""

    start: str
    end: str
    depth_fo4: float
    nanoseconds: float
    points: tuple[Point, ...]


def longest_paths(
    netlist: Netlist,
    macros: str,
    library: Library,
    count: int,
    clocks: Sequence[str] = ("clock",),
    reset: str | None = "reset",
) -> list[TimedPath]:
    """The longest path to each of the `count` registers that have the longest, longest first.

    Inputs change when a flop outside would let them, outputs reach one, both on the first of the `clocks`.
    The `reset` does not count, for it is distributed over several cycles, nor do paths between clocks.
    `macros` is the Liberty of the boxes.
    """
    with tempfile.TemporaryDirectory(prefix="timing-", dir=CACHE) as folder:
        return _Timer(netlist, library, Path(folder), macros, clocks, reset).paths(count)


class _Timer:
    def __init__(
        self,
        netlist: Netlist,
        library: Library,
        folder: Path,
        macros: str,
        clocks: Sequence[str],
        reset: str | None,
    ) -> None:
        self._netlist = netlist
        self._library = library
        self._folder = folder
        self._clocks = clocks
        self._reset = reset
        self._unit = library.liberty.time_nanoseconds
        (folder / "macros.lib").write_text(macros, encoding="utf-8")

    def paths(self, count: int) -> list[TimedPath]:
        ends = min(_ENDS * count, _MOST_ENDS)
        command = f"report_checks -path_delay max -group_count {ends} -digits 4"
        text = sta.evaluate([*self._design(), command], self._folder, "paths")
        chosen: dict[str, str] = {}
        for report in _PATHS.split(text)[1:]:
            chosen.setdefault(self._netlist.register(_ends(report)[1]), report)
            if len(chosen) == count:
                break
        return [self._path(register, report) for register, report in chosen.items()]

    def _design(self) -> list[str]:
        fo4 = self._library.fo4 / self._unit
        load = max(self._library.liberty.driver.capacitances.values())
        files = thinned(self._netlist, self._folder, self._clocks, self._library.liberty.cells)
        return [
            f"read_liberty {self._library.path}",
            f"read_liberty {self._folder / 'macros.lib'}",
            *(f"read_verilog {file}" for file in files),
            f"link_design {self._netlist.top}",
            *(f"create_clock -name {each} -period {_PERIOD} [get_ports {each}]" for each in self._clocks),
            *self._apart(),
            "set inputs {}",
            f"foreach p [all_inputs] {{ if {{[lsearch {{{' '.join(self._clocks)}}} "
            "[get_property $p full_name]] < 0} { lappend inputs $p } }",
            f"set_input_delay -clock {self._clocks[0]} {2 * fo4:.6f} $inputs",
            f"set_output_delay -clock {self._clocks[0]} {2 * fo4:.6f} [all_outputs]",
            f"set_load {load} [all_outputs]",
            *([f"set_false_path -from [get_ports {self._reset}]"] if self._reset else []),
        ]

    def _apart(self) -> list[str]:
        """Has no path timed from one clock to another."""
        groups = " ".join(f"-group {each}" for each in self._clocks)
        return [f"set_clock_groups -asynchronous {groups}"] if len(self._clocks) > 1 else []

    def _path(self, register: str, report: str) -> TimedPath:
        points = tuple(
            Point(
                self._netlist.source_name(pin) or pin.rpartition("/")[0].replace("/", "."),
                cell,
                self._fo4(float(delay)),
                self._fo4(float(time)),
            )
            for delay, time, pin, cell in _POINT.findall(report)
        )
        length = _PERIOD - float(_SLACK.findall(report)[0])
        begin = self._netlist.register(_ends(report)[0])
        return TimedPath(begin, register, self._fo4(length), length * self._unit, points)

    def _fo4(self, time: float) -> float:
        return time * self._unit / self._library.fo4


def _ends(report: str) -> tuple[str, str]:
    """The output or port that a path begins at, and the input or port that it ends at."""
    pins = [pin for _, _, pin, _ in _POINT.findall(report)]
    # The point with a clock is preceded by the clock pin.
    return pins["/" in pins[0]], pins[-1]
