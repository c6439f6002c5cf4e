"""The demo's input: the user's files, or a deterministic archive of files found on any machine."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

from rackwright.errors import RackwrightError

DEFAULT_BYTES = 1 << 20
"""Size of the default archive: what 2 GHz cores get through in tenths of a second of their time."""


def _standard_library() -> Iterator[Path]:
    """The Python standard library's modules, in an order that no file system decides."""
    root = Path(sysconfig.get_paths()["stdlib"])
    yield from sorted(path for path in root.glob("*.py") if path.is_file())


def default_archive(size: int = DEFAULT_BYTES) -> bytes:
    """The first `size` bytes of the standard library's modules put one after the other."""
    parts: list[bytes] = []
    remaining = size
    for path in _standard_library():
        part = path.read_bytes()[:remaining]
        parts.append(part)
        remaining -= len(part)
        if remaining == 0:
            break
    return b"".join(parts)


def archive_of(files: list[Path]) -> bytes:
    """The user's files, one after the other in the order given; the default archive without any.

    Raises `RackwrightError` for a file that cannot be read.
    """
    if not files:
        return default_archive()
    try:
        return b"".join(path.read_bytes() for path in files)
    except OSError as error:
        raise RackwrightError(f"{error.filename}: {error.strerror}") from error
