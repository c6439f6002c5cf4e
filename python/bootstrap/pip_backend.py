"""The build backend for pip: maturin, unless `./rw` has compiled the engine from the same sources.

pip runs Cargo with different settings, so that Cargo compiles everything again. An editable installation
needs only the engine in its place and a line that points to this folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # noqa: F401 (pip calls them)
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

from bootstrap import builds, editable_wheel


def build_editable(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Writes the wheel of an editable installation (PEP 660); returns its name."""
    if not _engine_is_current():
        return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))
    with tempfile.TemporaryDirectory() as folder:
        name = prepare_metadata_for_build_editable(folder, config_settings)
        return editable_wheel.write(Path(wheel_directory), Path(folder) / name)


def _engine_is_current() -> bool:
    return next(step for step in builds.all_steps() if step.name == "engine").is_current()
