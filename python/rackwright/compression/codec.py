"""A unit that turns one buffer into another: one operation, and the check of its result."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from rackwright.errors import RackwrightError
from rackwright.formats import OPERATIONS
from rackwright.hardware.clocks import ClockSource, clock_of
from rackwright.hardware.designs import ParameterValue, always_asserted, elaborate
from rackwright.machine.parameters import ServerParameters
from rackwright.synthesis.configurations import is_configuration
from rackwright.unit import commands
from rackwright.unit.alone import Unit
from rackwright.unit.commands import Completion
from rackwright.unit.config import UnitConfig

if TYPE_CHECKING:
    import pandas as pd


HISTORY = {"compress": "max_offset", "decompress": "on_chip_history"}
"""The command that limits the bytes of the built history, by operation."""


@dataclass(frozen=True)
class AcceleratorResult:
    """One operation of a unit.

    `cycles` run from the first command to the response that reports the completion, at `clock_hz`, the clock
    of the unit, whose source is `clock_source`; memory has the same cycles at every clock. `wall_seconds` is
    the time of the simulation. `input_offset` is the position in the input at which the unit stopped.
    `verified` is true if the official library agrees: all bytes are equal if the status is ok, it also
    refuses a malformed input, and it also refuses the dictionary if a frame names another one. `note`
    explains the status in a line where needed.
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
    """The options of all units of this kind at construction; `CodecUnit` describes them."""

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
    """Refuses settings that cannot be sent to a unit; the unit itself refuses unsupported values."""
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

        `parameters` are those of elaboration. `history_kib` (the maximum distance of matches) and
        `hash_entries` (compress, a power of two) are set at run time, up to the built size; None: the built
        size. `placement`, `skip_idle`, `check_idle`, `assertions`, `waves` and `memory` are those of `Unit`;
        none changes a result, and only placement and memory change cycles. `clock` is hertz or "synthesised";
        otherwise `clock_of` determines it: with `assertions`, it is the declared one, since RTL with them is
        not synthesised. Raises `RackwrightError` for unknown or unsuitable arguments, and `EngineError` for
        an invalid memory.
        """
        _check(operation, history_kib, hash_entries)
        ServerParameters(memory or {}).check("functional")
        self.operation = operation
        self.settings: dict[str, Any] = {"placement": placement, **(memory or {})}
        name = f"{family}-{operation}"
        asserted = assertions or always_asserted(name)
        manifest = plain = elaborate(name, parameters, assertions=asserted)
        # What no table has need not be elaborated without assertions to be looked up there.
        if asserted != assertions and (clock is not None or is_configuration(name, parameters or {})):
            plain = elaborate(name, parameters)
        self.clock = clock_of(plain, clock)
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
        """Sets `name` to its `value` with the command of the unit that takes `argument`."""
        self.settings[name] = value
        self.unit.command(command, argument)

    def equip(self, warm: str | None) -> None:
        """Loads further data of operations into memory, into the cache `warm`: by default none."""
        return

    @abstractmethod
    def room(self, data: bytes) -> int:
        """The maximum size of the output for `data`."""

    @abstractmethod
    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees with the output."""

    def note(self, data: bytes, status: str) -> str:
        """An explanation of this status for `data`, in a line; empty if there is none."""
        return ""

    def run(
        self,
        data: bytes | bytearray | memoryview,
        *,
        capacity: int | None = None,
        warm: str | None = "llc",
        misalignment: tuple[int, int] = (0, 0),
    ) -> AcceleratorResult:
        """Runs the operation on `data` as it is now, and checks the result against the official library.

        `capacity` is the size of the output buffer, by default the maximum that can be needed. `warm` is the
        cache that contains the input ("llc" or "l2"; None: memory). `misalignment` are the offsets of input
        and output in their pages.
        """
        data = memoryview(data).tobytes()
        self.unit.release_all()
        self.equip(warm)
        room = self.room(data) if capacity is None else capacity
        source = self.unit.load(data, misalignment=misalignment[0])
        # A decompressor reads back its output if a copy reaches beyond its history.
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
