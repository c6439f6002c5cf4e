"""The unit `aes` alone: messages encrypted and decrypted, as the tests and `rw bench aes` do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rackwright.unit.alone import Buffer, Unit
from rackwright.unit.commands import STATUS_NAMES, Completion, operate, start, wait
from rackwright.unit.config import UnitConfig

Mode = Literal["ecb", "cbc", "ctr", "gcm"]
MODES: tuple[Mode, ...] = ("ecb", "cbc", "ctr", "gcm")
"""In the order of their numbers."""

KEY_BYTES = (16, 24, 32)
BLOCK_BYTES = TAG_BYTES = 16


@dataclass(frozen=True)
class Cipher:
    """The treatment of a message.

    `start` is the initial value: 16 bytes for CBC and CTR, 12 for GCM, none for ECB. The first `aad_bytes` of
    the input are authenticated and not output.
    """

    mode: Mode
    key: bytes
    start: bytes = b""
    decrypt: bool = False
    aad_bytes: int = 0

    def settings(self) -> dict[str, int]:
        """The settings of the unit, by the names of its commands."""
        words = {"mode": MODES.index(self.mode), "decrypt": int(self.decrypt), "key_bytes": len(self.key)}
        for name, data, count in (("key", self.key, 4), ("iv", self.start, 2)):
            padded = data.ljust(8 * count, b"\0")
            for i in range(count):
                words[f"{name}{i}"] = int.from_bytes(padded[8 * i : 8 * i + 8], "little")
        return {**words, "aad_bytes": self.aad_bytes}

    def output_bytes(self, input_bytes: int) -> int:
        """The output length for this input length, with its `aad_bytes` and, for decryption, its tag."""
        if self.mode != "gcm":
            return input_bytes
        return input_bytes - self.aad_bytes + (-TAG_BYTES if self.decrypt else TAG_BYTES)


@dataclass(frozen=True)
class Outcome:
    """The status of a message, its output, and the complete contents of its output buffer."""

    ended: Completion
    data: bytes
    room: bytes


@dataclass(frozen=True)
class Run:
    """The results of several messages, and the cycles from the first setting to the last completion."""

    outcomes: list[Outcome]
    cycles: int


class AesUnit:
    """The unit, and memory for its messages."""

    def __init__(
        self, parameters: Mapping[str, int | str] | None = None, *, assertions: bool = False
    ) -> None:
        """Elaborates and compiles the unit, with `parameters` instead of its defaults."""
        self.unit = Unit(UnitConfig("aes", parameters or {}), assertions=assertions)
        self._settings: dict[str, int] = {}

    def set(self, cipher: Cipher) -> None:
        """Sends the settings that differ from the previous ones; the others persist."""
        for name, value in cipher.settings().items():
            if self._settings.get(name) != value:
                self.unit.command(name, value)
                self._settings[name] = value

    def run(
        self,
        cipher: Cipher,
        data: bytes,
        *,
        room: int | None = None,
        misalignment: int = 0,
        readable: int | None = None,
    ) -> Outcome:
        """Processes one message alone; `room` is the size of the output buffer instead of the exact size.

        Memory refuses accesses beyond the first `readable` bytes of the input.
        """
        self.unit.release_all()
        source = self.unit.load(data, "r" if readable is None else "", misalignment)
        if readable is not None:
            self.unit.bench.allow(source.address, readable, "r")
        output_bytes = max(0, cipher.output_bytes(len(data)))
        target = self.unit.reserve(output_bytes if room is None else room, misalignment=3 * misalignment % 64)
        self.unit.bench.write_memory(target.address, bytes(target.length))
        self.set(cipher)
        ended = operate(self.unit, source, target, max_cycles=10_000 + 100 * len(data))
        return Outcome(ended, self.unit.read(target, ended.output_bytes), self.unit.read(target))

    def run_many(self, messages: list[tuple[Cipher, bytes]]) -> Run:
        """Processes messages back to back, each started once the unit accepts it, with all buffers in L2."""
        self.unit.release_all()
        places = [self._place(cipher, data) for cipher, data in messages]
        begin = self.unit.cycle
        for (cipher, _), (source, target, record) in zip(messages, places, strict=True):
            self.set(cipher)
            start(self.unit, source, target, record.address)
        wait(self.unit)
        cycles = self.unit.cycle - begin
        return Run([self._outcome(target, record) for _, target, record in places], cycles)

    def _place(self, cipher: Cipher, data: bytes) -> tuple[Buffer, Buffer, Buffer]:
        source = self.unit.load(data)
        target = self.unit.reserve(max(0, cipher.output_bytes(len(data))))
        record = self.unit.reserve(16)
        for buffer in (source, target, record):
            if buffer.length:
                self.unit.bench.warm(buffer.address, buffer.length, "l2")
        return source, target, record

    def _outcome(self, target: Buffer, record: Buffer) -> Outcome:
        words = self.unit.read(record)
        ended, offset = (int.from_bytes(words[at : at + 8], "little") for at in (0, 8))
        completion = Completion(STATUS_NAMES[(ended & 0xFF) - 1], ended >> 8, offset)
        return Outcome(completion, self.unit.read(target, completion.output_bytes), self.unit.read(target))
