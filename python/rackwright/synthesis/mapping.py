"""Maps pieces of a design to the cells of a library, with yosys and ABC, two at a time and each once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.synthesis import gates
from rackwright.synthesis.library import CACHE, Library
from rackwright.synthesis.pieces import LARGE_TEXT, LIMIT, Piece
from rackwright.synthesis.timeless import without_clock
from rackwright.synthesis.tools import program, run

_ABC = """strash
if -g -K 6
strash
dch -c -C 100 -S 300
map -S {fo4} -F {fanout}
topo
buffer -p -N 6
topo
upsize
dnsize
"""
"""What ABC does.

Cells have the delays of edges as slow as an FO4 ({fo4} ps), and some more for their fan-out ({fanout} ps):
with equal delays for all, or without what loads cost, the mapper makes long chains of gates of three inputs.
`dc2` and `scorr` would undo the prefix trees of adders; what has many loads needs the buffers.
"""

_YOSYS = """read_verilog -sv {folder}/logic.sv
read_verilog -lib {folder}/boxes.sv
hierarchy -top {top}
proc
flatten
opt -nodffe -nosdff
memory -nomap
memory_map
opt -fast -nodffe -nosdff
wreduce
opt_clean
alumacc
opt -fast -nodffe -nosdff
techmap
opt_clean
dfflibmap -liberty {library}
abc -exe {abc} -liberty {library} -constr {folder}/abc.constraints -script {folder}/abc.script
opt_clean -purge
setundef -zero
write_json {folder}/netlist.json
"""
"""What yosys does. It cleans while operations are words: gates take minutes, and ABC cleans them anyway."""

_FANOUT = 0.4
"""FO4 that a cell is thought to take longer for each factor e of fan-out."""

_SCRIPTS = (_YOSYS, _ABC, str(_FANOUT))
"""All that a piece is mapped by."""


@dataclass(frozen=True)
class Mapped:
    """A mapped piece: its module, its netlist, and the number of each cell and box in it."""

    name: str
    netlist: Path
    cells: Counter[str]


def map_pieces(
    pieces: Iterable[Piece], library: Library, report: Callable[[str], None] = lambda _: None
) -> list[Mapped]:
    """The pieces in gates, in some order and each once. Mapped pieces are cached."""
    wanted = {_key(piece, library): piece for piece in pieces}
    largest_first = sorted(wanted.items(), key=lambda item: -len(item[1].text))
    results = []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for mapped in pool.map(
            lambda item: _map(item[1], library, CACHE / "pieces" / item[0]), largest_first
        ):
            results.append(mapped)
            report(f"{len(results)} of {len(wanted)} pieces in gates, {mapped.name} the last")
    return results


def mapping_key() -> str:
    """It changes with the mapping scripts, and with the division of designs for them."""
    return hashlib.sha256("\0".join((*_SCRIPTS, str(LIMIT), str(LARGE_TEXT))).encode()).hexdigest()[:16]


def _key(piece: Piece, library: Library) -> str:
    """It changes with the piece, with all inputs of its mapping, and with the output format."""
    writer = Path(gates.__file__).read_text(encoding="utf-8")
    parts = (piece.root.name, piece.text, piece.stubs, library.key, *_SCRIPTS, writer)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _map(piece: Piece, library: Library, folder: Path) -> Mapped:
    if not (folder / "cells.json").exists():
        _make(piece, library, folder)
    cells = Counter(json.loads((folder / "cells.json").read_text(encoding="utf-8")))
    return Mapped(piece.root.name, folder / "netlist.v", cells)


def _make(piece: Piece, library: Library, folder: Path) -> None:
    """Maps in a temporary folder and renames it, so that an interrupted run leaves no partial result."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="map-", dir=folder.parent))
    try:
        _prepare(piece, library, work)
        command = [program("yosys"), "-q", str(work / "script.ys")]
        run(command, work / "yosys.log", without_clock(CACHE))
        mapped = json.loads((work / "netlist.json").read_text(encoding="utf-8"))["modules"][piece.root.name]
        left = sorted({cell["type"] for cell in mapped["cells"].values() if cell["type"].startswith("$")})
        if left == ["$mem_v2"]:
            raise RackwrightError(
                f"{piece.root.name}: has a memory that no macro is: with several clocks, falling edges, "
                "resets of what is read, or reads that see a write of the same cycle"
            )
        if left:
            raise RackwrightError(
                f"{piece.root.name}: yosys cannot map {', '.join(left)} to the library's cells"
            )
        (work / "netlist.json").unlink()
        (work / "netlist.v").write_text(gates.netlist_verilog(piece.root.name, mapped), encoding="utf-8")
        counts = Counter(cell["type"] for cell in mapped["cells"].values())
        (work / "cells.json").write_text(json.dumps(counts, sort_keys=True), encoding="utf-8")
        if not folder.exists():
            work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _prepare(piece: Piece, library: Library, folder: Path) -> None:
    driver = library.liberty.driver
    load = max(driver.capacitances.values())
    (folder / "logic.sv").write_text(piece.text, encoding="utf-8")
    (folder / "boxes.sv").write_text(piece.stubs, encoding="utf-8")
    constraints = f"set_driving_cell {driver.name}\nset_load {load} [all_outputs]\n"
    (folder / "abc.constraints").write_text(constraints, encoding="utf-8")
    fo4 = 1000 * library.fo4
    commands = _ABC.format(fo4=f"{fo4:.1f}", fanout=f"{_FANOUT * fo4:.1f}")
    (folder / "abc.script").write_text(commands, encoding="utf-8")
    script = _YOSYS.format(
        folder=folder, top=piece.root.name, library=library.path, abc=program("berkeley-abc")
    )
    (folder / "script.ys").write_text(script, encoding="utf-8")
