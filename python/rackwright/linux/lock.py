"""The lock of images: packages in written-down versions, so that an image is the same everywhere and always.

The distribution keeps a version for as long as none replaces it. Until then the locked files are fetched by
their hashes, and the distribution's lists, which differ from day to day and between mirrors, are not needed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bootstrap.paths import SOFTWARE
from rackwright.linux.packages import Package

LOCK = SOFTWARE / "linux" / "packages.json"


@dataclass(frozen=True)
class Selection:
    """The packages of an image."""

    kernel: Package
    firmware: Package
    contents: tuple[Package, ...]

    @property
    def packages(self) -> tuple[Package, ...]:
        """All of them."""
        return self.kernel, self.firmware, *self.contents


def locked_selection(names: Sequence[str]) -> Selection | None:
    """The lock of an image with packages of these names, `None` if there is none."""
    locked = json.loads(LOCK.read_text(encoding="utf-8")).get(_key(names))
    if locked is None:
        return None
    return Selection(
        kernel=Package(**locked["kernel"]),
        firmware=Package(**locked["firmware"]),
        contents=tuple(Package(**package) for package in locked["contents"]),
    )


def write_lock(names: Sequence[str], selection: Selection) -> Path:
    """Locks an image with packages of these names, and keeps the locks of others."""
    locked = json.loads(LOCK.read_text(encoding="utf-8"))
    locked[_key(names)] = asdict(selection)
    LOCK.write_text(json.dumps(locked, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return LOCK


def _key(names: Sequence[str]) -> str:
    return ",".join(sorted(set(names)))
