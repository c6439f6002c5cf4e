"""An operation of a codec whose input arrives in pieces: the unit keeps its state between them."""

from __future__ import annotations

from rackwright.compression.codec import CodecUnit
from rackwright.errors import RackwrightError
from rackwright.unit import commands
from rackwright.unit.alone import Buffer
from rackwright.unit.commands import Completion

MORE_INPUT = "more_input"
"""The setting for further input after the source's initial length."""


class Stream:
    """One operation: input is fed as it arrives, output is available as far as memory has acknowledged it.

    The pieces are contiguous in memory, and the unit is informed of their end.
    """

    def __init__(self, unit: CodecUnit, first: bytes, *, most_input: int, capacity: int) -> None:
        """Starts the operation on `first`.

        `unit` was built with `streaming=1`. All pieces together have at most `most_input` bytes; for a
        compressor exactly this number, because the formats state their length at the beginning. The output
        has room for `capacity`. Raises `RackwrightError` if that is impossible.
        """
        if unit.unit.design.parameters.get("streaming") != 1:
            raise RackwrightError(
                f"{unit.unit.design.unit} does not support input in pieces; build it with streaming=1"
            )
        self._unit = unit.unit
        self._unit.release_all()
        self._input = self._unit.reserve(most_input, "")
        self._target = self._unit.reserve(capacity, "rw")
        self._length = 0
        self._unit.command(MORE_INPUT, 1)
        if unit.operation == "compress":
            commands.start(self._unit, self._input, self._target)
            self.feed(first)
        else:
            self._place(first)
            commands.start(self._unit, Buffer(self._input.address, len(first)), self._target)
        # For the operations after this one.
        self._unit.command(MORE_INPUT, 0)

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        """Extends the unit's input; nothing follows the `last` piece, which decompressors are informed of.

        Raises `RackwrightError` if that exceeds the stream's size.
        """
        self._place(piece)
        self._unit.command(commands.EXTEND, len(piece), int(last))

    def written(self) -> int:
        """Bytes of the output in memory so far: all but the incomplete line."""
        return self._unit.query(commands.WRITTEN)

    def output(self) -> bytes:
        """These bytes."""
        return self._unit.read(self._target, self.written())

    def end(self, max_cycles: int = 0) -> Completion:
        """Waits until the operation has ended, which it does not before the last piece or an error.

        Raises `EngineError` after `max_cycles` (0: never).
        """
        return commands.wait(self._unit, max_cycles)

    def _place(self, piece: bytes) -> None:
        if self._length + len(piece) > self._input.length:
            raise RackwrightError(f"the stream was made for {self._input.length} bytes of input")
        at = self._input.address + self._length
        self._unit.bench.write_memory(at, piece)
        self._unit.bench.allow(at, len(piece), "r")
        self._length += len(piece)
