"""`rw bench aes`: rates of the unit `aes` for messages in the shared cache."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rackwright.hardware.clocks import UnitClock, clock_of
from rackwright.hardware.designs import elaborate
from rackwright.unit.aes import MODES, AesUnit, Cipher, Mode

MESSAGES = 48
"""Of each measurement; they follow each other as soon as the unit takes them."""

SIZES = (32, 1024, 8192)
_SEED = 52


@dataclass(frozen=True)
class AesRow:
    """A measurement; see docs/json.md.

    `verified`: decryption restored the messages, and the unit accepted each tag; `cycles` are per message.
    """

    test: str
    mode: str
    by: str
    key_bytes: int
    new_keys: bool
    payload_bytes: int
    per_second: float
    gigabits_per_second: float
    cycles: float
    clock_hz: int
    clock_source: str
    verified: bool
    digest: str


def measure(messages: int = MESSAGES) -> Iterator[AesRow]:
    """Each mode with one key and lengths of `SIZES`; then a new key each, for GCM with each size of keys."""
    clock = clock_of(elaborate("aes"))
    for mode in MODES:
        for size in SIZES:
            yield from both_ways(mode, 16, size, messages, clock)
    for key_bytes in (16, 32):
        for size in SIZES[:2]:
            yield from both_ways("gcm", key_bytes, size, messages, clock, new_keys=True)


def both_ways(
    mode: Mode, key_bytes: int, size: int, messages: int, clock: UnitClock, *, new_keys: bool = False
) -> Iterator[AesRow]:
    """Encrypts messages of `size` bytes, and decrypts the results."""
    source = random.Random(_SEED)
    keys = (
        [source.randbytes(key_bytes) for _ in range(messages)]
        if new_keys
        else [source.randbytes(key_bytes)] * messages
    )
    starts = [source.randbytes(12 if mode == "gcm" else 16) for _ in range(messages)]
    plain = [source.randbytes(size) for _ in range(messages)]
    ciphers = [Cipher(mode, key, start) for key, start in zip(keys, starts, strict=True)]
    encrypted, secret = _measured("encrypt", ciphers, plain, new_keys, clock)
    yield encrypted
    back = [replace(cipher, decrypt=True) for cipher in ciphers]
    decrypted, again = _measured("decrypt", back, secret, new_keys, clock)
    yield replace(decrypted, verified=decrypted.verified and again == plain)


def _measured(
    test: str, ciphers: list[Cipher], inputs: list[bytes], new_keys: bool, clock: UnitClock
) -> tuple[AesRow, list[bytes]]:
    """A row for these messages and their results."""
    unit = AesUnit()
    run = unit.run_many(list(zip(ciphers, inputs, strict=True)))
    outputs = [outcome.data for outcome in run.outcomes]
    cycles = run.cycles / len(inputs)
    size = min(len(inputs[0]), len(outputs[0]))
    per_second = clock.hertz / cycles
    row = AesRow(
        test=test,
        mode=ciphers[0].mode,
        by="unit",
        key_bytes=len(ciphers[0].key),
        new_keys=new_keys,
        payload_bytes=size,
        per_second=per_second,
        gigabits_per_second=per_second * size * 8 / 1e9,
        cycles=cycles,
        clock_hz=clock.hertz,
        clock_source=clock.source,
        verified=all(outcome.ended.status == "ok" for outcome in run.outcomes),
        digest=unit.unit.digest,
    )
    return row, outputs
