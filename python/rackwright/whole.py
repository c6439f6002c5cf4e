"""Files that other processes read while they are written anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory


def make_whole(path: Path, make: Callable[[Path], object]) -> None:
    """Lets `make` write a file beside `path` and puts it there: nobody ever sees half of it.

    Whoever reads meanwhile finds what was there before; when `make` fails, it stays.
    """
    with TemporaryDirectory(dir=path.parent, prefix=".unfinished-") as folder:
        unfinished = Path(folder) / path.name
        make(unfinished)
        os.replace(unfinished, path)


def write_whole(path: Path, text: str) -> None:
    """The same for a text."""
    make_whole(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))
