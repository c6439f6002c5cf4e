"""Our part of a chip, in gates: the units beside each hart and the logic that connects them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rackwright.export.memories import ExportedMemory
from rackwright.hardware.manifests import FORMAT
from rackwright.soc.composition import compose
from rackwright.soc.memories import model_of
from rackwright.soc.target import TARGETS
from rackwright.soc.value import Soc
from rackwright.synthesis.batch import synthesise_all
from rackwright.synthesis.figures import Figures
from rackwright.synthesis.flow import Report, read_design
from rackwright.synthesis.library import load_library
from rackwright.synthesis.process import load_process
from rackwright.synthesis.timing import TimedPath
from rackwright.verilog.modules import module_names

_OURS = re.compile(r"(HartUnits|SharedUnits|BusUnit)(_\d+)?")
"""The module of all units of a hart, of those that harts share, or of a unit on the buses.

Those that are alike share one module. The units that harts share are a `HartUnits` in `SharedUnits`.
"""

_MODULE = re.compile(r"^module (\w+)\(.*?^endmodule.*?$", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"^\s+(\w+)\s+(?:#\(.*?\)\s*)?(\w+)\s*\(", re.MULTILINE)

_MEMORIES = "models.v"
"""Models of all memories in one form, in which synthesis recognises them."""

_PATHS = 1000
"""The number of longest paths that are searched for the first one not within a unit."""


@dataclass(frozen=True)
class BesideHart:
    """The units of a hart and their wrapper in gates.

    `wrapper_mm2` is the part outside of the units: the splitter of commands, the arbiter of responses, the
    ports to the bus. `wrapper_path` is the longest path that begins or ends there; None when the longest
    thousand are all within units.
    """

    module: str
    figures: Figures
    wrapper_mm2: float
    wrapper_path: TimedPath | None

    @property
    def units_mm2(self) -> float:
        """The area of the units, including memories."""
        return self.figures.area_mm2 - self.wrapper_mm2

    def record(self) -> dict[str, Any]:
        """The row of `--json`."""
        path = self.wrapper_path
        return {
            "module": self.module,
            "depth_fo4": self.figures.depth_fo4,
            "clock_hz": self.figures.clock_hz,
            "area_mm2": self.figures.area_mm2,
            "units_mm2": round(self.units_mm2, 4),
            "wrapper_mm2": round(self.wrapper_mm2, 4),
            "wrapper_depth_fo4": None if path is None else round(path.depth_fo4, 2),
            "wrapper_path": None if path is None else {"start": path.start, "end": path.end},
        }


def synthesise_soc(soc: Soc, report: Report = lambda _: None) -> list[BesideHart]:
    """Maps our part of a chip to gates, for each hart whose units differ from those of earlier harts.

    Raises `RackwrightError` for a chip that cannot be, and as `rw synth` does.
    """
    with TemporaryDirectory(prefix="rackwright-soc-") as work:
        folder = Path(work) / soc.name
        description = compose(soc, folder, TARGETS["asic"])
        sources = _sources(folder, description["files"])
        memories = [ExportedMemory.of_record(record) for record in description["memories"]]
        (folder / _MEMORIES).write_text("\n".join(map(model_of, memories)), encoding="utf-8")
        designs = {
            name: read_design(_write_manifest(folder, name, sources, description))
            for name in outermost(sources)
        }
        instances = {name: dict(_instances(sources, name)) for name in designs}
        of_units = {name for file in _of_units(description["files"]) for name in _declared(folder / file)}
        # The connecting logic has no memories.
        of_units |= {memory.module for memory in memories}
    library, process = load_library(), load_process()
    found = synthesise_all(list(designs.values()), library, process, paths=_PATHS, report=report)
    return [
        _beside(
            name, figures, of_units, {place for place, kind in instances[name].items() if kind in of_units}
        )
        for name, figures in zip(designs, found, strict=True)
    ]


def _beside(module: str, figures: Figures, of_units: set[str], boxes: set[str]) -> BesideHart:
    """Separates the parts of units, whose instances are `boxes`, from the others."""
    areas = [(row.module, row.area_mm2) for row in figures.modules]
    areas += [(row.memory, row.area_mm2) for row in figures.sram_macros]
    wrapper = sum(area for name, area in areas if not _is_of(name, of_units))
    outside = (path for path in figures.paths if not (_is_in(path.start, boxes) and _is_in(path.end, boxes)))
    return BesideHart(module, figures, wrapper, next(outside, None))


def _is_in(name: str, boxes: set[str]) -> bool:
    """Whether a pin or register is within one of the instances `boxes`."""
    return any(name.startswith(f"{box}.") for box in boxes)


def _is_of(module: str, units: set[str]) -> bool:
    """Whether it is a module of a unit, or a part of one that was divided for synthesis."""
    return module in units or any(module.startswith(f"{unit}_") for unit in units)


def _of_units(files: Sequence[str]) -> Iterator[str]:
    return (file for file in files if file.startswith("units/"))


def _declared(file: Path) -> list[str]:
    return module_names(file.read_text(encoding="utf-8", errors="replace"))


def _sources(folder: Path, files: Sequence[str]) -> dict[str, str]:
    """The modules that Rocket Chip wrote, by name."""
    texts = [(folder / file).read_text(encoding="utf-8") for file in files if not file.startswith("units/")]
    return {match[1]: match[0] for text in texts for match in _MODULE.finditer(text)}


def _write_manifest(
    folder: Path, top: str, sources: Mapping[str, str], description: Mapping[str, Any]
) -> Path:
    """A design of the module `top` with the modules below it; returns its manifest."""
    wanted = reachable(sources, top)
    (folder / f"{top}.v").write_text("\n".join(sources[name] for name in wanted), encoding="utf-8")
    manifest = folder / f"{top}.json"
    record = {
        "format": FORMAT,
        "unit": top,
        "top": top,
        "verilog": [f"{top}.v", *_of_units(description["files"]), _MEMORIES],
        "include": description["include"],
        "clocks": [{"pin": "clock", "reset": "reset", "hertz": 1}],
        "attach": [],
        "idle": None,
        "ports": [],
    }
    manifest.write_text(json.dumps(record), encoding="utf-8")
    return manifest


def outermost(sources: Mapping[str, str]) -> list[str]:
    """Our modules, except those that are in others of ours."""
    ours = [name for name in sources if _OURS.fullmatch(name)]
    inner = {below for name in ours for below in reachable(sources, name) if below != name}
    return [name for name in ours if name not in inner]


def _instances(sources: Mapping[str, str], module: str, place: str = "") -> Iterator[tuple[str, str]]:
    """The instances below a module, by their places with dots, and their modules."""
    for kind, name in _INSTANCE.findall(sources.get(module, "")):
        yield f"{place}{name}", kind
        yield from _instances(sources, kind, f"{place}{name}.")


def reachable(sources: Mapping[str, str], top: str) -> list[str]:
    """The modules below `top`, including itself, whose text is in `sources`."""
    found: list[str] = []
    wanted = [top]
    while wanted:
        name = wanted.pop()
        if name in found or name not in sources:
            continue
        found.append(name)
        wanted += [kind for kind, _ in _INSTANCE.findall(sources[name])]
    return found
