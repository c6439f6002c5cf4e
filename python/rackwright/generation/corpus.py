"""Sources of a suite's bytes: generated from the seed, found on the machine, or the user's."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.generation.synthetic import synthetic_files

SYNTHETIC = "synthetic"
MACHINE = "machine"

_MACHINE_FOLDERS = (
    sysconfig.get_path("stdlib"),
    "/usr/share/doc",
    "/usr/share/common-licenses",
    "/usr/lib/x86_64-linux-gnu",
)
_MOST_FROM_MACHINE = 32 << 20
_MOST_OF_A_FILE = 1 << 20


def corpus_files(corpora: Sequence[str], seed: int) -> list[tuple[str, bytes]]:
    """Name and bytes of every file of `corpora`: folders, files, or the words `synthetic` and `machine`.

    Raises `RackwrightError` for corpora that are unreadable or empty.
    """
    files: list[tuple[str, bytes]] = []
    for name in corpora:
        if name == SYNTHETIC:
            found = synthetic_files(seed)
        elif name == MACHINE:
            found = list(_machine())
        else:
            found = list(_folder(Path(name)))
        if not found:
            raise RackwrightError(f"the corpus {name} holds no bytes")
        files += found
    return files


def _folder(path: Path) -> Iterator[tuple[str, bytes]]:
    if not path.exists():
        raise RackwrightError(f"{path}: no such corpus; give a folder, a file, '{SYNTHETIC}' or '{MACHINE}'")
    places = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    for place in places:
        try:
            data = place.read_bytes()
        except OSError as error:
            raise RackwrightError(f"{place}: {error.strerror}") from error
        if data:
            yield str(place), data


def _machine() -> Iterator[tuple[str, bytes]]:
    """Files that most machines have; suites built from them differ between machines."""
    left = _MOST_FROM_MACHINE
    for folder in _MACHINE_FOLDERS:
        for place in sorted(Path(folder).rglob("*")):
            if left <= 0:
                return
            if not place.is_file() or place.is_symlink():
                continue
            try:
                data = place.read_bytes()[:_MOST_OF_A_FILE]
            except OSError:
                continue
            if data:
                left -= len(data)
                yield str(place), data
