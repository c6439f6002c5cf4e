"""A unit that turns one buffer into another: one operation, and the check of its result."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from rackwright import commands
from rackwright.clocks import ClockSource, clock_of
from rackwright.commands import Completion
from rackwright.designs import ParameterValue, elaborate
from rackwright.errors import RackwrightError
from rackwright.formats import OPERATIONS
from rackwright.parameters import ServerParameters
from rackwright.unit import Unit
from rackwright.unit_config import UnitConfig

if TYPE_CHECKING:
    import pandas as pd


HISTORY = {"compress": "max_offset", "decompress": "on_chip_history"}
"""The command for how many bytes of the built history are used, by operation."""


@dataclass(frozen=True)
class AcceleratorResult:
    """One operation of a unit.

    `cycles` run from the first command to the answer that tells of the completion, at `clock_hz`, the clock
    of the unit for the reason `clock_source`; memory keeps its cycles at every clock.
    `wall_seconds` is what simulating them took.
    `input_offset` is where the unit stopped in the input. `verified`: the official library agrees,
    byte by byte when the status is ok, in calling the input malformed when the unit does, and in refusing the
    dictionary where a frame names another one. `note` says what the status leaves open, in a line.
    """

    unit: str
    operation: str
    input_bytes: int
    output_bytes: int
    uncompressed_bytes: int
    cycles: int
    clock_hz: int
    clock_source: ClockSource
    gigabytes_per_second: float
    ratio: float
    status: str
    input_offset: int
    verified: bool
    note: str
    digest: str
    wall_seconds: float
    parameters: dict[str, Any]
    output: bytes = field(repr=False)

    def record(self) -> dict[str, Any]:
        """The result without its bytes, in the order of docs/json.md."""
        row = asdict(self)
        del row["output"]
        return row

    def frame(self) -> pd.DataFrame:
        """The same as a data frame of one row; parameters become columns `parameters.<name>`."""
        import pandas as pd

        return pd.json_normalize(self.record())


def _patience(transferred_bytes: int) -> int:
    """Cycles after which an operation counts as hung.

    Far more than any unit needs in any placement: a round trip over PCIe, 2000 cycles, for every byte.
    """
    return 1_000_000 + 2000 * transferred_bytes


class CodecOptions(TypedDict, total=False):
    """What all units of this kind can be told when they are built; `CodecUnit` says what it means."""

    parameters: Mapping[str, ParameterValue] | None
    history_kib: int | None
    hash_entries: int | None
    placement: str
    skip_idle: bool
    check_idle: bool
    assertions: bool
    waves: Path | None
    clock: str | None
    memory: Mapping[str, int] | None


def _check(operation: str, history_kib: int | None, hash_entries: int | None) -> None:
    """Refuses what cannot be told to a unit; what it cannot do, it says itself."""
    if operation not in OPERATIONS:
        raise RackwrightError(f"no operation {operation}; there are {' and '.join(OPERATIONS)}")
    if hash_entries is not None and operation != "compress":
        raise RackwrightError("hash entries are a setting of compression")
    if history_kib is not None and not 0 <= history_kib < 1 << 32:
        raise RackwrightError(f"the history is a number of KiB, not {history_kib}")
    if hash_entries is not None and (hash_entries < 1 or hash_entries & (hash_entries - 1)):
        raise RackwrightError(f"the number of hash entries must be a power of two, not {hash_entries}")


class CodecUnit(ABC):
    """A unit of a compressed format that compresses or decompresses one buffer after the other."""

    def __init__(
        self,
        family: str,
        operation: str,
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        history_kib: int | None = None,
        hash_entries: int | None = None,
        placement: str = "near-core",
        skip_idle: bool = True,
        check_idle: bool = False,
        assertions: bool = False,
        waves: Path | None = None,
        clock: str | None = None,
        memory: Mapping[str, int] | None = None,
    ) -> None:
        """Builds the unit `family`-`operation`.

        `parameters` are those of elaboration. `history_kib` (how far back matches may be) and `hash_entries`
        (compress, a power of two) are set at run time, up to what was built; None: all of it. `placement`,
        `skip_idle`, `check_idle`, `assertions`, `waves` and `memory` are those of `Unit`; none changes a
        result, and but for placement and memory none a cycle. `clock` is hertz or "synthesised"; without it,
        `clock_of` says what it is. Raises `RackwrightError` for what does not exist or does not fit the
        operation, and `EngineError` for a memory that cannot be.
        """
        _check(operation, history_kib, hash_entries)
        ServerParameters(memory or {}).check("functional")
        self.operation = operation
        self.settings: dict[str, Any] = {"placement": placement, **(memory or {})}
        manifest = elaborate(f"{family}-{operation}", parameters)
        self.clock = clock_of(manifest, clock)
        if assertions:
            manifest = elaborate(f"{family}-{operation}", parameters, assertions=True)
        self.unit = Unit(
            UnitConfig(str(manifest), placement=placement),
            skip_idle=skip_idle,
            check_idle=check_idle,
            waves=waves,
            memory=memory,
        )
        if history_kib is not None:
            self.set("history-kib", history_kib, HISTORY[operation], history_kib << 10)
        if hash_entries is not None:
            self.set("hash-entries", hash_entries, "hash_table_log2", hash_entries.bit_length() - 1)

    def set(self, name: str, value: int, command: str, argument: int) -> None:
        """Gives the setting `name` its `value` with the command of the unit that takes `argument`."""
        self.settings[name] = value
        self.unit.command(command, argument)

    def equip(self, warm: str | None) -> None:
        """Puts what operations need beside their input into memory, warm as that: by default nothing."""
        return

    @abstractmethod
    def room(self, data: bytes) -> int:
        """The most bytes that the operation can make of `data`."""

    @abstractmethod
    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees with what came out."""

    def note(self, data: bytes, status: str) -> str:
        """What a person should know about this status of `data`, in a line; empty for nothing."""
        return ""

    def run(
        self,
        data: bytes | bytearray | memoryview,
        *,
        capacity: int | None = None,
        warm: str | None = "llc",
        misalignment: tuple[int, int] = (0, 0),
    ) -> AcceleratorResult:
        """Runs the operation on `data`, as it is now, and checks the result against the official library.

        `capacity` is the room for the result, by default as much as it can need. `warm` is the cache
        that the input lies in ("llc" or "l2"; None: memory). `misalignment` are the offsets of input
        and output in their pages.
        """
        data = memoryview(data).tobytes()
        self.unit.release_all()
        self.equip(warm)
        room = self.room(data) if capacity is None else capacity
        source = self.unit.load(data, misalignment=misalignment[0])
        # A decompressor reads back what it wrote where a copy reaches beyond its history.
        access = "rw" if self.operation == "decompress" else "w"
        target = self.unit.reserve(room, access, misalignment[1])
        if warm is not None and data:
            self.unit.bench.warm(source.address, source.length, warm)
        start, began = self.unit.cycle, time.perf_counter()
        commands.start(self.unit, source, target)
        self.unit.query(commands.CHECK_COMPLETION, max_cycles=_patience(len(data) + room))
        cycles, seconds = self.unit.cycle - start, time.perf_counter() - began
        ended = commands.wait(self.unit)
        output = self.unit.read(target, min(ended.output_bytes, room))
        return self._result(data, output, ended, cycles, seconds)

    def _result(
        self, data: bytes, output: bytes, ended: Completion, cycles: int, seconds: float
    ) -> AcceleratorResult:
        compressing = self.operation == "compress"
        plain, packed = (data, output) if compressing else (output, data)
        hertz = self.clock.hertz
        return AcceleratorResult(
            unit=self.unit.design.unit,
            operation=self.operation,
            input_bytes=len(data),
            output_bytes=len(output),
            uncompressed_bytes=len(plain),
            cycles=cycles,
            clock_hz=hertz,
            clock_source=self.clock.source,
            gigabytes_per_second=len(plain) * hertz / cycles / 1e9 if cycles else 0.0,
            ratio=len(plain) / len(packed) if packed else 0.0,
            status=ended.status,
            input_offset=ended.input_offset,
            verified=self.verifies(data, output, ended.status),
            note=self.note(data, ended.status),
            digest=self.unit.digest,
            wall_seconds=seconds,
            parameters={**self.unit.design.parameters, **self.settings},
            output=output,
        )
