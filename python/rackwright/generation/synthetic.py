"""Corpora generated from a seed: the same bytes on every machine, from incompressible to nearly empty.

Each family imitates a kind of data that services store: prose, logs, records with named fields, tables of
binary numbers, keys without structure, sparse pages. Their contents have no meaning.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

_LETTERS = "etaoinshrdlucmfwypvbgkqjxz"
_VOCABULARY = 4000
_FIELDS = ("user_id", "session", "timestamp", "status", "region", "latency_us", "payload", "retries", "tags")
_REGIONS = ("eu-west", "eu-north", "us-east", "us-central", "asia-south")
_LEVELS = ("INFO", "INFO", "INFO", "WARNING", "ERROR")


def _pick(random: Random, values: list[str] | tuple[str, ...]) -> str:
    return values[int(random.random() * len(values))]


def _words(random: Random) -> list[str]:
    """A vocabulary, the common words first and short."""
    words = []
    for rank in range(_VOCABULARY):
        length = 2 + int(random.random() * (3 + rank.bit_length() / 2))
        words.append("".join(_LETTERS[int(26 * random.random() ** 2)] for _ in range(length)))
    return words


def _prose(random: Random, size: int) -> bytes:
    """Words by Zipf's law, in sentences and paragraphs."""
    words, parts, length = _words(random), [], 0
    while length < size:
        word = words[int(_VOCABULARY ** random.random()) - 1]
        end = (". ", ",\n", " ", " ", " ", " ", " ", " ")[int(random.random() * 8)]
        parts.append(word + end)
        length += len(word) + len(end)
    return "".join(parts).encode("ascii")


def _logs(random: Random, size: int) -> bytes:
    """Lines of a service's log: time, level, place, event."""
    words, parts, length, clock = _words(random)[:60], [], 0, 1_700_000_000_000
    while length < size:
        clock += int(random.random() * 900)
        line = (
            f"{clock} {_pick(random, _LEVELS)} server/{int(random.random() * 40):02d} "
            f"{_pick(random, _REGIONS)} request {int(random.random() * 1e9):09d} {_pick(random, words)} "
            f"took {int(random.random() ** 3 * 9000)} us\n"
        )
        parts.append(line)
        length += len(line)
    return "".join(parts).encode("ascii")


def _records(random: Random, size: int) -> bytes:
    """Records with named fields, most of whose values repeat."""
    words, parts, length = _words(random)[:200], [], 0
    while length < size:
        fields = [f'"{name}": "{_pick(random, words[: 4 << (i % 4)])}"' for i, name in enumerate(_FIELDS)]
        record = "{" + ", ".join(fields) + f', "id": {int(random.random() * 1e6)}' + "},\n"
        parts.append(record)
        length += len(record)
    return "".join(parts).encode("ascii")


def _numbers(random: Random, size: int) -> bytes:
    """A table of little-endian rows: a counter, a measured value, a class, a flag."""
    rows, counter, value = [], 0, 1000.0
    for _ in range(size // 24 + 1):
        counter += 1 + int(random.random() * 3)
        value += random.random() - 0.5
        kind = int(random.random() ** 4 * 50)
        rows.append(struct.pack("<QdII", counter, round(value, 2), kind, random.random() < 0.1))
    return b"".join(rows)


def _keys(random: Random, size: int) -> bytes:
    """Bytes without structure, as keys, pictures and encrypted data are."""
    return random.randbytes(size)


def _mixed(share: float) -> Callable[[Random, int], bytes]:
    """Random runs between repetitions of earlier bytes; `share` of the bytes are repetitions."""

    def make(random: Random, size: int) -> bytes:
        data = bytearray(random.randbytes(64))
        while len(data) < size:
            length = 8 + int(random.random() ** 2 * 56)
            if random.random() < share:
                start = int(random.random() * max(1, min(len(data), 4096) - length))
                place = len(data) - min(len(data), 4096) + start
                data += data[place : place + length]
            else:
                data += random.randbytes(length)
        return bytes(data)

    return make


def _sparse(filled: float) -> Callable[[Random, int], bytes]:
    """Pages of zeros with a few bytes in them; `filled` is the chance that eight bytes are not zero."""

    def make(random: Random, size: int) -> bytes:
        zeros = bytes(8)
        words = (random.randbytes(8) if random.random() < filled else zeros for _ in range(size // 8 + 1))
        return b"".join(words)

    return make


_FAMILIES: tuple[tuple[str, Callable[[Random, int], bytes]], ...] = (
    ("prose", _prose),
    ("logs", _logs),
    ("records", _records),
    ("numbers", _numbers),
    ("keys", _keys),
    ("mixed-30", _mixed(0.3)),
    ("mixed-60", _mixed(0.6)),
    ("mixed-80", _mixed(0.8)),
    ("mixed-95", _mixed(0.95)),
    ("sparse-10", _sparse(0.1)),
    ("sparse-3", _sparse(0.03)),
    ("empty", _sparse(0.0)),
)

FAMILY_BYTES = 1 << 19
"""Bytes of each family."""


def synthetic_files(seed: int, size: int = FAMILY_BYTES) -> list[tuple[str, bytes]]:
    """Name and contents of a file of each family, `size` bytes."""
    return [(name, make(Random(f"{seed}/{name}"), size)[:size]) for name, make in _FAMILIES]
