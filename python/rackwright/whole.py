"""Files that other processes read while they are written anew."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory


def write_whole(path: Path, text: str) -> None:
    """Writes a file such that whoever reads it meanwhile finds the whole of it, or what was there before."""
    with TemporaryDirectory(dir=path.parent, prefix=".unfinished-") as folder:
        unfinished = Path(folder) / path.name
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
