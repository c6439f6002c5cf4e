"""The folder of the .proto files of generated suites."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from bootstrap.paths import BUILD


def keep_files(files: Mapping[str, str]) -> Path:
    """Writes .proto files into a separate folder; returns the first."""
    key = hashlib.sha256("".join(files.values()).encode()).hexdigest()[:16]
    folder = BUILD / "protobuf" / f"suite-{key}"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(iter(files))
