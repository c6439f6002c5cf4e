"""The measurements of a point: calls of a unit, with any implementation of calling and checking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rackwright.exploration.point import Point
from rackwright.unit.config import UnitConfig

if TYPE_CHECKING:
    from rackwright.exploration.built_design import BuiltDesign


@dataclass(frozen=True)
class Call:
    """One call at one point: `index` is its place among the calls.

    `uncompressed_bytes` are the bytes of its speed, `compressed_bytes` the size after compression; a call
    without compression has the same in both.
    """

    index: int
    uncompressed_bytes: int
    compressed_bytes: int
    cycles: int
    clock_hz: int
    verified: bool

    @property
    def seconds(self) -> float:
        """Simulated time from the first command to the completion."""
        return self.cycles / self.clock_hz


class Session(Protocol):
    """A unit fresh from reset that receives calls, one after the other."""

    def call(self, index: int) -> Call:
        """Makes a call and checks its result."""


class Calls(Protocol):
    """All calls of an exploration."""

    @property
    def digest(self) -> str:
        """Equal when all calls are."""

    @property
    def known(self) -> Sequence[tuple[int, int]]:
        """For each call, the values known before it is measured: its bytes, and their compressed size."""

    @property
    def library_ratio(self) -> float | None:
        """Uncompressed over compressed bytes of the official library, if calls compress or decompress."""

    def design(self, config: UnitConfig, *, synthesise: bool) -> BuiltDesign:
        """What runs for the points of a unit, made where that has not been done."""

    def session(self, point: Point) -> Session:
        """The unit of a point, fresh from reset."""


class CallSource(Protocol):
    """The source of calls, small enough to be sent to another process."""

    def open(self) -> Calls:
        """The calls; the process caches opened ones."""
