"""Calls of a generated suite, which units of compressed formats make and the official libraries check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from rackwright.compression.codec import CodecUnit
from rackwright.errors import RackwrightError
from rackwright.exploration.built_design import BuiltDesign, build_design
from rackwright.exploration.calls import Call
from rackwright.exploration.point import Point
from rackwright.formats import FORMATS, codec_unit
from rackwright.generation.maker import SuiteFile
from rackwright.generation.suite import Suite, load_suite
from rackwright.unit.config import UnitConfig


@dataclass(frozen=True)
class SuiteSource:
    """The calls of `operation` in the suite of a folder; `unit` serves them in `format`."""

    folder: Path
    unit: str
    format: str
    operation: str

    def open(self) -> SuiteCalls:
        """The calls; raises `RackwrightError` when there are none for the unit."""
        return _opened(self)


@lru_cache(maxsize=1)
def _opened(source: SuiteSource) -> SuiteCalls:
    suite = load_suite(source.folder)
    files = suite.only(source.operation)
    if not files or any(file.format != source.format for file in files):
        wanted = f"{source.format} {source.operation}"
        raise RackwrightError(f"{suite.folder} has no calls of {wanted}, which {source.unit} serves")
    return SuiteCalls(source.format, suite, files)


@dataclass(frozen=True)
class SuiteCalls:
    """The files of an operation, each a call."""

    format: str
    suite: Suite
    files: tuple[SuiteFile, ...]

    @property
    def digest(self) -> str:
        """That of the suite."""
        return self.suite.digest

    @cached_property
    def known(self) -> list[tuple[int, int]]:
        """Size and compressed size of each."""
        return [(file.size, file.compressed_bytes) for file in self.files]

    @property
    def library_ratio(self) -> float:
        """That of the official library at the calls' own levels."""
        return sum(size for size, _ in self.known) / sum(packed for _, packed in self.known)

    def design(self, config: UnitConfig, *, synthesise: bool) -> BuiltDesign:
        """The unit in RTL."""
        return build_design(config, synthesise=synthesise)

    def session(self, point: Point) -> SuiteSession:
        """The unit of a point, fresh from reset."""
        return SuiteSession(self, codec_unit(point.config, self.format, memory=point.timing.memory))


@dataclass(frozen=True)
class SuiteSession:
    """A unit that receives the files of a suite."""

    calls: SuiteCalls
    unit: CodecUnit

    def call(self, index: int) -> Call:
        """One file through the unit, compared with the official library."""
        file = self.calls.files[index]
        data = self.calls.suite.read(file)
        if self.unit.operation == "decompress":
            data = FORMATS[file.format].compress(data, file.level, file.window_log2)
        result = self.unit.run(data)
        return Call(
            index=index,
            uncompressed_bytes=file.size,
            compressed_bytes=result.output_bytes if self.unit.operation == "compress" else len(data),
            cycles=result.cycles,
            clock_hz=result.clock_hz,
            verified=result.verified,
        )
