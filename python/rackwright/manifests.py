"""Manifests: what a unit is, as a file that elaboration or a person wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError


def read_manifest(path: Path) -> dict[str, Any]:
    """What a manifest says; raises `RackwrightError` when there is none, `EngineError` when it is not one."""
    from rackwright._engine import check_manifest

    if not path.exists():
        raise RackwrightError(f"{path}: no such manifest")
    check_manifest(path)
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def is_elaborated(record: dict[str, Any]) -> bool:
    """Whether elaboration wrote a manifest: its parameters are in the Verilog already."""
    return "hash" in record
