"""From a target to a file on disk; in processes of a pool as well as in this one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rackwright.errors import RackwrightError
from rackwright.formats import FORMATS
from rackwright.generation.assemble import assemble
from rackwright.generation.chunks import ChunkTable
from rackwright.generation.profile import OperationProfile
from rackwright.generation.targets import Target


@dataclass(frozen=True)
class SuiteFile:
    """One call: the plain bytes are in `path`, relative to the suite's folder.

    `compressed_bytes` is the size after the official library's compression with `level` and the window;
    `target_ratio` is the profile's ratio.
    """

    path: str
    operation: str
    format: str
    size: int
    compressed_bytes: int
    target_ratio: float
    level: int | None
    window_log2: int | None
    sha256: str

    @property
    def ratio(self) -> float:
        """Uncompressed over compressed bytes."""
        return self.size / self.compressed_bytes


@dataclass(frozen=True)
class Maker:
    """Common parameters of all files of an operation."""

    profile: OperationProfile
    table: ChunkTable
    folder: Path
    seed: int

    def make(self, target: Target) -> SuiteFile:
        """Writes the file of `target`; its bytes depend on the seed and its index, on no other file."""
        profile = self.profile
        random = Random(f"{self.seed}/{profile.format}/{profile.operation}/{target.index}")
        data, packed = assemble(target, self.table, FORMATS[profile.format], random)
        path = f"{profile.operation}/{target.index:06d}.bin"
        try:
            (self.folder / path).write_bytes(data)
        except OSError as error:
            raise RackwrightError(f"{self.folder / path}: {error.strerror}") from error
        return SuiteFile(
            path=path,
            operation=profile.operation,
            format=profile.format,
            size=len(data),
            compressed_bytes=packed,
            target_ratio=target.ratio,
            level=target.level,
            window_log2=target.window_log2,
            sha256=hashlib.sha256(data).hexdigest(),
        )


_taken: list[Maker] = []
"""The maker of this process, if it belongs to a pool."""


def take_maker(maker: Maker) -> None:
    """Prepares a process of a pool."""
    _taken[:] = [maker]


def make_taken(target: Target) -> SuiteFile:
    """Makes a file in a process of a pool."""
    return _taken[0].make(target)
