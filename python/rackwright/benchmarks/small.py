"""The cost of small calls: cycles of each unit by the size of its input, alone and back to back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from bootstrap.paths import REPOSITORY
from rackwright.benchmarks.units import rtl_hash
from rackwright.compression.codec import CodecUnit
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError
from rackwright.formats import CODECS, FORMATS, Codec
from rackwright.protobuf import Row, Way
from rackwright.protobuf import measure as measure_messages
from rackwright.protobuf.measure import UNITS as MESSAGE_UNITS
from rackwright.protobuf.suite import Suite
from rackwright.protobuf.suites.small import small_suite
from rackwright.reports.records import read_records, write_records
from rackwright.unit import commands

TABLE = REPOSITORY / "validation" / "small" / "table.csv"
BOUNDS = REPOSITORY / "validation" / "small" / "bounds.csv"

SIZES = (64, 256, 1024, 4096, 16384, 65536)
"""Bytes of plain data or of a message."""

BACK_TO_BACK = 8
"""Operations that are sent to a unit back to back."""

_RESET = 4096
"""Cycles in which any unit is ready after reset: compressors clear their tables, once."""

UNITS = (
    *(unit for each in FORMATS.values() for unit in each.units),
    *MESSAGE_UNITS.values(),
)
"""Units that are measured."""

PARTS = ("command", "first_line", "pipeline", "last_write", "status")


@dataclass(frozen=True)
class Parts:
    """A later call of a codec alone, divided at its memory requests and responses; cycles of the unit.

    `command` ends at the first read request, `first_line` at its response, `pipeline` at the last write
    request, `last_write` at its response, and `status` when the completion is reported.
    """

    command: int
    first_line: int
    pipeline: int
    last_write: int
    status: int


@dataclass(frozen=True)
class CommittedCall:
    """Cycles of `clock_hz` for a call with `bytes` of uncompressed data, or with a message of this size.

    A row of the committed table. For codecs, they are the unit's own, from the first command until the
    completion is reported: `first` for a unit freshly initialised after reset, with the input in LLC; `later`
    on the same buffers, with the input in LLC again; and `back_to_back` the mean of `calls` that are sent at
    once. For protobuf, they are those of the core `boom`, whose program calls the units, including all work
    of the runtime.
    """

    unit: str
    rtl_hash: str
    bytes: int
    first: int
    later: int
    back_to_back: float
    calls: int
    clock_hz: int


@dataclass(frozen=True)
class Call(CommittedCall):
    """A measured call; for codecs with the parts of a later one."""

    parts: Parts | None = None

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        nanoseconds = {
            f"{kind}_nanoseconds": getattr(self, kind) / self.clock_hz * 1e9
            for kind in ("first", "later", "back_to_back")
        }
        return asdict(self) | nanoseconds


@dataclass(frozen=True)
class Bound:
    """The most `cycles` that a call of this kind may take: `first`, `later` or `back_to_back`."""

    unit: str
    bytes: int
    kind: str
    cycles: float


def check(units: Iterable[str], sizes: Iterable[int]) -> None:
    """Raises `RackwrightError` for a unit that is not in `UNITS` and for a size that there is no data of."""
    for unit in units:
        if unit not in UNITS:
            raise RackwrightError(f"no small calls of {unit}; there are {', '.join(UNITS)}")
    for size in sizes:
        if not 1 <= size <= len(default_archive()):
            raise RackwrightError(f"sizes are from 1 to {len(default_archive()):,} bytes, not {size}")


def measure(unit: str, sizes: Sequence[int] = SIZES) -> Iterator[Call]:
    """The calls of a unit, size by size; of protobuf also empty messages and ones of five small fields.

    Raises `RackwrightError` when the official library disagrees.
    """
    family, _, operation = unit.rpartition("-")
    if family in FORMATS:
        for size in sizes:
            yield _codec_call(unit, CODECS[family], operation, size)
    else:
        yield from _message_calls(unit, operation, sizes)


def _codec_call(name: str, codec: Codec, operation: str, size: int) -> Call:
    plain = default_archive()[:size]
    data = plain if operation == "compress" else codec.compress(plain)
    unit = codec.unit(operation)
    unit.unit.bench.run(_RESET)
    first = unit.run(data)
    unit.run(data)
    unit.unit.bench.landmarks()
    begin = unit.unit.cycle
    later = unit.run(data)
    parts = _parts(begin, begin + later.cycles, *unit.unit.bench.landmarks())
    if not (first.verified and later.verified and later.status == "ok"):
        raise RackwrightError(f"{name}, {size} bytes: the official library disagrees")
    together = _together(unit, data, later.output)
    return Call(
        unit=name,
        rtl_hash=rtl_hash(name),
        bytes=size,
        first=first.cycles,
        later=later.cycles,
        back_to_back=together / BACK_TO_BACK,
        calls=BACK_TO_BACK,
        clock_hz=later.clock_hz,
        parts=parts,
    )


def _parts(
    begin: int, end: int, first_read: tuple[int, int] | None, last_write: tuple[int, int] | None
) -> Parts:
    """The call from `begin` to `end`; an access that there is none of takes no time."""
    asked, answered = first_read or (begin, begin)
    written, settled = last_write or (answered, answered)
    marks = (begin, asked, answered, written, settled, end)
    return Parts(*(after - before for before, after in pairwise(marks)))


def _together(unit: CodecUnit, data: bytes, expected: bytes) -> int:
    """Cycles of operations sent at once, each with its own output buffer, after an earlier run of them."""
    alone = unit.unit
    alone.release_all()
    unit.equip("llc")
    source = alone.load(data)
    targets = [alone.reserve(unit.room(data), "rw") for _ in range(BACK_TO_BACK)]
    alone.bench.warm(source.address, source.length, "llc")
    cycles = 0
    for _ in range(2):
        begin = alone.cycle
        for target in targets:
            commands.start(alone, source, target)
        alone.query(commands.CHECK_COMPLETION)
        cycles = alone.cycle - begin
    if any(alone.read(target, len(expected)) != expected for target in targets):
        raise RackwrightError(f"{alone.design.unit}: an operation behind another gives other bytes")
    return cycles


def _message_calls(unit: str, operation: str, sizes: Sequence[int]) -> Iterator[Call]:
    suite = small_suite(sizes, BACK_TO_BACK)
    batches = _rows(suite, operation, "boom+unit", "batch")
    singles = _rows(single(suite), operation, "boom+unit", "single")
    for one, many in zip(singles, batches, strict=True):
        hertz = round((one.cycles or 0) / one.times.again)
        yield Call(
            unit=unit,
            rtl_hash=rtl_hash(unit),
            bytes=one.wire_bytes,
            first=round(one.times.first * hertz),
            later=one.cycles or 0,
            back_to_back=(many.cycles or 0) / many.messages,
            calls=many.messages,
            clock_hz=hertz,
        )


def single(suite: Suite) -> Suite:
    """The first message of each of its benchmarks."""
    firsts = [replace(benchmark, messages=benchmark.messages[:1]) for benchmark in suite.benchmarks]
    return replace(suite, benchmarks=firsts)


def _rows(suite: Suite, operation: str, target: str, calls: str) -> list[Row]:
    rows = list(measure_messages(suite, [operation], [target], way=Way(calls=calls)))
    if not all(row.verified and row.status == "ok" and not row.fallbacks for row in rows):
        raise RackwrightError(f"{MESSAGE_UNITS[operation]}: the official library disagrees, or has done it")
    return rows


def read_table() -> list[CommittedCall]:
    """The committed calls."""
    return read_records(TABLE, CommittedCall)


def write_table(calls: Sequence[Call]) -> None:
    """Replaces the rows of their units; the others are not changed."""
    measured = {call.unit for call in calls}
    kept = [row for row in read_table() if row.unit not in measured]
    names = CommittedCall.__dataclass_fields__
    fresh = [CommittedCall(**{name: getattr(call, name) for name in names}) for call in calls]
    write_records(TABLE, CommittedCall, sorted(kept + fresh, key=lambda row: (row.unit, row.bytes)))


def exceeded(calls: Sequence[Call]) -> list[str]:
    """A line for every call that takes longer than its committed bound."""
    found = {(call.unit, call.bytes): call for call in calls}
    return [
        f"{bound.unit}, {bound.bytes} bytes: {bound.kind} takes {took:,} cycles, at most {bound.cycles:,}"
        for bound in read_records(BOUNDS, Bound)
        if (call := found.get((bound.unit, bound.bytes))) is not None
        and (took := getattr(call, bound.kind)) > bound.cycles
    ]
