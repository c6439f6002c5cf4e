"""Output folders: written completely or not at all, and never over other contents."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright.errors import RackwrightError


def check_output(output: Path, mark: str, maker: str) -> None:
    """Raises `RackwrightError` for a folder without the file `mark` of `maker`, or that cannot be made."""
    is_own = (output / mark).is_file() or (output.is_dir() and not any(output.iterdir()))
    if output.exists() and not is_own:
        raise RackwrightError(f"{output}: exists and was not made by {maker}; use -o for another folder")
    above = next(parent for parent in output.absolute().parents if parent.exists())
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise RackwrightError(f"{output}: {above} is no folder that can be written to")


@contextmanager
def replaced(output: Path) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `output` when all went well."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".unfinished-", dir=output.parent) as work:
        made = Path(work) / "made"
        made.mkdir()
        yield made
        if output.exists():
            output.rename(Path(work) / "before")
        made.rename(output)
