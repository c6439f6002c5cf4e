"""The folder of a chip: its Verilog and the files to simulate it and to write software for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bootstrap.paths import BUILD
from rackwright.errors import RackwrightError
from rackwright.export.memories import ExportedMemory, memories_of
from rackwright.files.output_folder import check_output, replaced
from rackwright.hardware.manifests import interrupt_pin, is_elaborated, read_manifest
from rackwright.soc.check import PlacedUnit, checked, fixed_parts, stream_pairs
from rackwright.soc.directions import with_directions
from rackwright.soc.generator import generate
from rackwright.soc.harness import write_harness
from rackwright.soc.memories import arrays_of, cut_memories, model_of, read_conf
from rackwright.soc.pair import pair_module, top_ports
from rackwright.soc.prefixes import by_number
from rackwright.soc.projects import JTAG_HZ, constraints, core_file, jtag_clocks
from rackwright.soc.software import interrupt_numbers, write_headers
from rackwright.soc.specification import specification
from rackwright.soc.target import TARGETS, Target, without_simulation
from rackwright.soc.units import copy_verilog, unit_manifests
from rackwright.soc.value import Soc
from rackwright.verilog.modules import module_names

DESCRIPTION = "soc.json"
"""The file by which a folder of ours is known."""


def compose(soc: Soc, output: Path, target: Target = TARGETS["simulation"]) -> dict[str, Any]:
    """Writes the folder `output` of a chip; returns the contents of its `soc.json` (docs/json.md).

    Raises `RackwrightError` for an invalid chip, and for a folder with other contents.
    """
    units = checked(soc)
    check_output(output, DESCRIPTION, "`rw soc compose`")
    manifests = unit_manifests(units)
    records = [with_directions(manifest, read_manifest(manifest)) for manifest in manifests]
    generated = generate(specification(soc, units, records, target), soc.system_top)
    with replaced(output) as made:
        copied = copy_verilog(manifests, records, by_number(records), made / "units")
        files = [f"units/{name}" for names in copied.values() for name in names]
        own = {
            f"units/{name}"
            for manifest, record in zip(manifests, records, strict=True)
            if not is_elaborated(dict(record))
            for name in copied[manifest]
        }
        include = sorted({f"units/{record['unit']}" for record in records if not is_elaborated(record)})
        files += _copy_generated(soc, generated, made)
        if soc.joined_by is not None:
            files.append(_write_pair(soc, stream_pairs(units)[soc.joined_by], made))
        _check_modules(made, files)
        memories = _prepare(soc, target, generated, [made / file for file in files if file not in own], made)
        lines = [*(f"+incdir+{each}" for each in include), *files]
        (made / "files.f").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        write_harness(soc, units, made / "harness")
        _write_projects(soc, files, include, made)
        numbers = interrupt_numbers(units, (generated / f"{soc.system_top}.dts").read_text(encoding="utf-8"))
        headers = list(write_headers(soc, units, manifests, numbers, made))
        description = {
            "target": target.name,
            **_description(soc, units, records, files, headers, numbers),
            "include": include,
            "models": ["memories.v"] if target.memories_apart else [],
            "memories": [memory.record() for memory in memories],
        }
        (made / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    return description


def default_output(soc: Soc, target: Target = TARGETS["simulation"]) -> Path:
    """The default folder of a chip."""
    name = soc.name if target.monitors else f"{soc.name}-{target.name}"
    return BUILD.parent / "out" / "soc" / name


def _copy_generated(soc: Soc, generated: Path, made: Path) -> Iterator[str]:
    shutil.copyfile(generated / f"{soc.system_top}.dts", made / f"{soc.name}.dts")
    for source in sorted(generated.glob("*.v")):
        shutil.copyfile(source, made / source.name)
        yield source.name


def _write_pair(soc: Soc, streams: tuple[str, str], made: Path) -> str:
    """Writes the module around two systems; returns its file."""
    ports = top_ports((made / f"{soc.system_top}.v").read_text(encoding="utf-8"), soc.system_top)
    text = pair_module(soc.top, soc.system_top, ports, streams, soc.prefixes)
    (made / f"{soc.top}.v").write_text(text, encoding="utf-8")
    return f"{soc.top}.v"


def _prepare(
    soc: Soc, target: Target, generated: Path, files: Sequence[Path], made: Path
) -> list[ExportedMemory]:
    """Adapts generated Verilog to a target; returns the memories that its tools supply or infer."""
    if target.is_synthesised:
        for file in files:
            file.write_text(without_simulation(file.read_text(encoding="utf-8")), encoding="utf-8")
    if target.memories_apart:
        return _put_apart(soc, generated, files, made)
    return list(_inferred(files)) if target.is_synthesised else []


def _inferred(files: Sequence[Path]) -> Iterator[ExportedMemory]:
    """The memories in generated Verilog, which tools for FPGAs infer."""
    for file in files:
        text = file.read_text(encoding="utf-8")
        yield from memories_of(text) if file.parent.name == "units" else arrays_of(text)


def _put_apart(soc: Soc, generated: Path, files: Sequence[Path], made: Path) -> list[ExportedMemory]:
    """Lists the memories that the user has to supply, moves units' out of `files`, writes models."""
    of_chip = read_conf((generated / f"{soc.system_top}.conf").read_text(encoding="utf-8"))
    models = [(memory, model_of(memory)) for memory in of_chip]
    models += [pair for file in files if file.parent.name == "units" for pair in cut_memories(file)]
    (made / "memories.conf").write_text("".join(f"{each.line}\n" for each, _ in models), encoding="utf-8")
    (made / "memories.v").write_text("\n\n".join(text for _, text in models) + "\n", encoding="utf-8")
    return [memory for memory, _ in models]


def _check_modules(made: Path, files: Sequence[str]) -> None:
    """Raises `RackwrightError` when two files declare a module of one name."""
    owners: dict[str, str] = {}
    for file in files:
        for name in module_names((made / file).read_text(encoding="utf-8", errors="replace")):
            if owners.setdefault(name, file) != file:
                raise RackwrightError(
                    f"the module {name} is in {owners[name]} and in {file}: one needs another name"
                )


def _write_projects(soc: Soc, files: Sequence[str], include: Sequence[str], made: Path) -> None:
    """Files for synthesis and FuseSoC."""
    harness = [f"harness/{path.name}" for path in sorted((made / "harness").iterdir())]
    there = (str(path.relative_to(made)) for each in include for path in sorted((made / each).rglob("*.*")))
    included = [file for file in there if file not in files]
    (made / f"{soc.name}.sdc").write_text(constraints(soc), encoding="utf-8")
    (made / f"{soc.name}.core").write_text(core_file(soc, files, included, harness), encoding="utf-8")


def _description(
    soc: Soc,
    units: Sequence[PlacedUnit],
    records: Sequence[Mapping[str, Any]],
    files: Sequence[str],
    headers: Sequence[str],
    numbers: Mapping[str, Sequence[int]],
) -> dict[str, Any]:
    ranges = {**fixed_parts(soc), "devices": soc.devices, "memory": soc.memory}
    ranges |= {unit.name: unit.registers for unit in units if unit.registers is not None}
    return {
        "top": soc.top,
        "systems": len(soc.prefixes),
        "streams": bool(stream_pairs(units)) and soc.joined_by is None,
        "dram": soc.dram,
        "files": list(files),
        "headers": list(headers),
        "clocks": [
            {"pin": "clock", "reset": "reset", "hertz": soc.clock_hz},
            *({"pin": tck, "reset": reset, "hertz": JTAG_HZ} for tck, reset in jtag_clocks(soc)),
        ],
        "address_map": [
            {"name": name, "base": place.base, "size": place.size}
            for name, place in sorted(ranges.items(), key=lambda each: each[1].base)
        ],
        "opcodes": [
            {
                "unit": unit.name,
                "hart": unit.hart,
                "opcode": route.opcode,
                "first": route.first,
                "last": route.last,
            }
            for unit in units
            for route in unit.routes
        ],
        "interrupts": [
            {"unit": unit.name, "hart": unit.hart, "pin": interrupt_pin(port), "number": number}
            for unit in units
            for port, number in zip_longest(
                (port for port in unit.ports if port["contract"] == "interrupt"),
                numbers.get(unit.name, ()) if unit.registers is not None else (),
            )
        ],
        "units": [
            {"name": unit.name, "hart": unit.hart, "hash": record.get("hash")}
            for unit, record in zip(units, records, strict=True)
        ],
    }
