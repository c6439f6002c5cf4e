"""A synthesised design as a unit in gates, which can replace the one in RTL."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from rackwright.hardware.designs import ParameterValue
from rackwright.hardware.manifests import is_elaborated, read_manifest
from rackwright.synthesis.flow import CELLS_FILE, gates_of, read_design
from rackwright.synthesis.library import Library
from rackwright.synthesis.process import Process
from rackwright.synthesis.tools import program, run

_CELLS = "read_liberty {library}\nproc\nwrite_verilog -noattr {output}\n"


def write_gates(
    rtl: Path,
    library: Library,
    process: Process,
    folder: Path,
    parameters: Mapping[str, ParameterValue] | None = None,
) -> Path:
    """Writes the gates of the manifest `rtl` and a manifest into `folder`; returns the path of that manifest.

    Ports and clock are those of the RTL. Cells are modules with the library's functions, macro memories are
    those of the RTL, and there are no delays. `parameters` go to the top module of one's own.
    """
    gates = gates_of(read_design(rtl, parameters), library, process)
    texts = {f"{name}.v": part.netlist.read_text("utf-8") for name, part in gates.netlist.parts.items()}
    texts |= {f"{name}.sv": memory.module.text + "\n" for name, memory in gates.macros.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    _write_cells(library, folder)
    netlist_hash = hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()
    record = read_manifest(rtl)
    if not is_elaborated(record):
        # Parameters and files of a user's design are no longer needed.
        record |= {"parameters": {}}
    record |= {"verilog": [CELLS_FILE, *texts], "hash": netlist_hash}
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return manifest


def _write_cells(library: Library, folder: Path) -> None:
    script = _CELLS.format(library=library.path, output=folder / CELLS_FILE)
    (folder / "cells.ys").write_text(script, encoding="utf-8")
    run([program("yosys"), "-q", str(folder / "cells.ys")], folder / "cells.log")
