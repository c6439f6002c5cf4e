"""Files that other processes read while they are written anew."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def make_whole(path: Path, make: Callable[[Path], object]) -> None:
    """Lets `make` write a file beside `path` and puts it there: nobody ever sees half of it.

    Whoever reads meanwhile finds what was there before; when `make` fails or the user ends it, it stays.
    """
    # No temporary folder: Ctrl-C while one is removed may come out as an error of the file system.
    unfinished = path.with_name(f".unfinished-{secrets.token_hex(8)}-{path.name}")
    try:
        make(unfinished)
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """The same for a text."""
    make_whole(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))
