"""A library ready for use: its Liberty file at the tools' path, and its FO4 from the timing engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bootstrap.paths import BUILD
from rackwright.errors import RackwrightError
from rackwright.files.whole import write_whole
from rackwright.synthesis import sta
from rackwright.synthesis.liberty import Liberty, read_liberty

CACHE = BUILD / "synthesis"
"""All cached data of synthesis."""

DEFAULT_LIBERTY = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
"""The open 0.18 um library of Oklahoma State University, from Debian's package qflow-tech-osu018."""

_STAGES = 12
_FIRST, _LAST = 4, 10


@dataclass(frozen=True)
class Library:
    """A library, the file with the parts that synthesis uses, its key and its FO4 in nanoseconds."""

    liberty: Liberty
    path: Path
    key: str
    fo4: float

    @property
    def name(self) -> str:
        """The library's own name."""
        return self.liberty.name

    def equivalents(self, cell: str) -> float:
        """The area of a cell in NANDs of two inputs."""
        return self.liberty.cells[cell].area / self.liberty.nand.area


def load_library(paths: Sequence[Path] = ()) -> Library:
    """The library of these Liberty files, by default the open one; `RackwrightError` if it is no use."""
    if not paths and not DEFAULT_LIBERTY.exists():
        raise RackwrightError(f"{DEFAULT_LIBERTY} is missing; get it with: apt-get install qflow-tech-osu018")
    liberty = read_liberty(paths or [DEFAULT_LIBERTY])
    key = hashlib.sha256(liberty.text.encode()).hexdigest()[:16]
    folder = CACHE / f"library-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cells.lib"
    write_whole(path, liberty.text)
    known = folder / "library.json"
    if not known.exists():
        write_whole(known, json.dumps({"fo4_nanoseconds": _measure_fo4(liberty, path)}))
    return Library(liberty, path, key, json.loads(known.read_text(encoding="utf-8"))["fo4_nanoseconds"])


def _measure_fo4(liberty: Liberty, path: Path) -> float:
    """The delay of a stage in the middle of a chain of inverters, each of which drives four."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        netlist = folder / "chain.v"
        netlist.write_text(_chain(liberty), encoding="utf-8")
        arrivals = sta.arrivals(path, netlist, "chain", [f"stage{_FIRST}", f"stage{_LAST}"], folder)
    return (arrivals[1] - arrivals[0]) / (_LAST - _FIRST) * liberty.time_nanoseconds


def _chain(liberty: Liberty) -> str:
    cell = liberty.inverter
    (output,), (source,) = cell.functions, cell.inputs
    lines = [
        "module chain (input stage0, " + ", ".join(f"output stage{i + 1}" for i in range(_STAGES)) + ");"
    ]
    for i in range(_STAGES):
        lines.append(f"  {cell.name} next{i} (.{source}(stage{i}), .{output}(stage{i + 1}));")
        lines += [f"  {cell.name} load{i}_{j} (.{source}(stage{i}), .{output}());" for j in range(3)]
    return "\n".join([*lines, "endmodule", ""])
