"""The RTL of the units of a chip: their manifests, and copies of their Verilog in one folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import Elaboration, elaborate_all
from rackwright.hardware.manifests import is_elaborated
from rackwright.soc.check import PlacedUnit
from rackwright.unit.accelerators import unit_manifest
from rackwright.verilog.modules import with_prefix
from rackwright.verilog.reader import VerilogDesign, VerilogSources


def unit_manifests(units: Sequence[PlacedUnit]) -> list[Path]:
    """The manifest of each unit; those of the index are elaborated if necessary."""
    named = dict.fromkeys((unit.config, unit.translation) for unit in units if unit.config.is_named)
    elaborate_all(
        [
            Elaboration(config.unit, config.parameters, config.command, translation=translation)
            for config, translation in named
        ]
    )
    return [
        unit_manifest(unit.config, translation=unit.translation)
        if unit.config.is_named
        else Path(unit.config.unit)
        for unit in units
    ]


def copy_verilog(
    manifests: Sequence[Path],
    records: Sequence[Mapping[str, Any]],
    prefixes: Sequence[str],
    folder: Path,
) -> dict[Path, list[str]]:
    """Copies the Verilog of each unit into `folder`, once for units that are alike.

    The names of their modules begin with `prefixes` there; a user's own Verilog is unchanged. Returns the
    files of each manifest by their paths in `folder`, in reading order.
    """
    folder.mkdir(parents=True)
    once = dict(zip(manifests, zip(records, prefixes, strict=True), strict=True))
    return {
        manifest: _copy_elaborated(manifest, record, prefix, folder)
        if is_elaborated(dict(record))
        else _copy_own(manifest, record, folder)
        for manifest, (record, prefix) in once.items()
    }


def _copy_elaborated(manifest: Path, record: Mapping[str, Any], prefix: str, folder: Path) -> list[str]:
    files = []
    for name in record["verilog"]:
        text = with_prefix((manifest.parent / name).read_text(encoding="utf-8"), prefix)
        files.append(f"{prefix}{Path(name).name}")
        (folder / files[-1]).write_text(text, encoding="utf-8")
    return files


def _copy_own(manifest: Path, record: Mapping[str, Any], folder: Path) -> list[str]:
    # The files that slang reads for its top: lists of files and folders are resolved.
    design = VerilogDesign(VerilogSources.of_manifest(manifest))
    own = folder / record["unit"]
    own.mkdir()
    for source in design.files:
        _copy_to(source, own / source.name)
    # Tools look for what is included in this folder.
    for written, source in design.included.items():
        _copy_to(source, own / written)
    return [f"{record['unit']}/{source.name}" for source in design.files]


def _copy_to(source: Path, place: Path) -> None:
    if place.exists():
        raise RackwrightError(f"{source}: another file of the unit is called {place.name} too")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)
