"""What pip installs this package with: maturin, unless `./rw` has compiled the engine from the same sources.

pip has Cargo compile with settings of its own, so that Cargo compiles everything anew. What an editable
installation needs beside the engine in its place is a line that names this folder.
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
    """Makes the wheel of an editable installation (PEP 660); gives its name."""
    if not _engine_is_current():
        return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))
    with tempfile.TemporaryDirectory() as folder:
        name = prepare_metadata_for_build_editable(folder, config_settings)
        return editable_wheel.write(Path(wheel_directory), Path(folder) / name)


def _engine_is_current() -> bool:
    return next(step for step in builds.all_steps() if step.name == "engine").is_current()
