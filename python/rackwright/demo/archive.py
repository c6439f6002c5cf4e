"""The demo's input: the user's files, or the generated corpus."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rackwright.demo.corpus import corpus
from rackwright.errors import RackwrightError

DEFAULT_BYTES = 1 << 20
"""Size of the default archive, which 2 GHz cores process in tenths of a second of simulated time."""


@lru_cache(maxsize=4)
def default_archive(size: int = DEFAULT_BYTES) -> bytes:
    """The first `size` bytes of the corpus, the same on every machine."""
    return corpus(size)


def archive_of(files: list[Path]) -> bytes:
    """The user's files, concatenated in the given order; the default archive if there are none.

    Raises `RackwrightError` for a file that cannot be read.
    """
    if not files:
        return default_archive()
    try:
        return b"".join(path.read_bytes() for path in files)
    except OSError as error:
        raise RackwrightError(f"{error.filename}: {error.strerror}") from error
