"""The clock of RTL that the table has no row for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rackwright.files.whole import write_whole
from rackwright.hardware.designs import ParameterValue
from rackwright.synthesis.flow import read_design, synthesise
from rackwright.synthesis.library import CACHE, load_library
from rackwright.synthesis.process import load_process
from rackwright.synthesis.table import flow_hash, known_clock


def synthesised_clock(manifest: Path, parameters: Mapping[str, ParameterValue] | None = None) -> int:
    """The clock in hertz that synthesis supports: by the table, or by synthesising, which takes minutes.

    `parameters` are those of a user's top module, in addition to those of its manifest.
    """
    design = read_design(manifest, parameters)
    found = known_clock(design.rtl_hash)
    if found is not None:
        return found
    library, process = load_library(), load_process()
    kept = CACHE / "clocks" / f"{design.rtl_hash}-{flow_hash(library, process)}.json"
    if not kept.exists():
        depth = synthesise(design, library, process, paths=1).paths[0].depth_fo4
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, json.dumps({"depth_fo4": depth}))
    return process.clock_hz(json.loads(kept.read_text(encoding="utf-8"))["depth_fo4"])
