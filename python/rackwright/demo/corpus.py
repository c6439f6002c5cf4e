"""The demo's own input: text typical of servers, generated from a seed, the same on every machine.

A log of requests, records in JSON, prose and rows of binary numbers alternate, as in archives. Words follow
Zipf's law, as in natural languages, so that matches have realistic frequencies.
"""

from __future__ import annotations

import random
import struct
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate

_SEED = "rackwright corpus"
_SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "qui",
    "ro",
    "su",
    "ta",
    "ve",
    "wi",
    "xo",
    "yu",
    "zar",
    "ent",
    "ion",
    "ing",
    "ter",
    "al",
    "is",
    "or",
    "es",
]
_VOCABULARY = 2000
_AGENTS = ("curl/8.5.0", "grpc-c++/1.60.0 (linux; chttp2)", "Mozilla/5.0 (X11; Linux x86_64; rv:125.0)")
_SECTION_LINES = 40


class _Words:
    """A vocabulary in which the word of rank r has a frequency proportional to 1 / r."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._words = [self._made() for _ in range(_VOCABULARY)]
        self._heaps = list(accumulate(1 / rank for rank in range(1, _VOCABULARY + 1)))

    def _made(self) -> str:
        count = 1 + int(3 * self._source.random())
        return "".join(_SYLLABLES[int(len(_SYLLABLES) * self._source.random())] for _ in range(count))

    def one(self) -> str:
        """A word."""
        return self._words[bisect(self._heaps, self._heaps[-1] * self._source.random())]

    def some(self, count: int) -> str:
        """The given number of words, separated by spaces."""
        return " ".join(self.one() for _ in range(count))


def corpus(size: int) -> bytes:
    """The first `size` bytes of the corpus; a shorter one is a prefix of a longer one."""
    # Of a seeded `Random`, only `random()` is promised to stay the same in every version of Python.
    source = random.Random(_SEED)
    parts, length = [], 0
    for part in _sections(source, _Words(source)):
        if length >= size:
            break
        parts.append(part)
        length += len(part)
    return b"".join(parts)[:size]


def _sections(source: random.Random, words: _Words) -> Iterator[bytes]:
    kinds: tuple[Callable[[random.Random, _Words], bytes], ...] = (
        _log,
        _prose,
        _records,
        _log,
        _prose,
        _table,
    )
    while True:
        for kind in kinds:
            for _ in range(_SECTION_LINES):
                yield kind(source, words)


def _number(source: random.Random, below: int) -> int:
    return int(below * source.random())


def _log(source: random.Random, words: _Words) -> bytes:
    seconds, address = _number(source, 86400), [_number(source, 256) for _ in range(2)]
    status = ("200", "200", "200", "304", "404", "500")[_number(source, 6)]
    return (
        f"10.0.{address[0]}.{address[1]} - - [01/Jan/2026:{seconds // 3600:02}:{seconds // 60 % 60:02}:"
        f'{seconds % 60:02} +0000] "GET /api/v2/{words.one()}/{words.one()}?id={_number(source, 10**4)}'
        f' HTTP/1.1" '
        f'{status} {_number(source, 50_000)} "-" "{_AGENTS[_number(source, len(_AGENTS))]}"\n'
    ).encode()


def _prose(source: random.Random, words: _Words) -> bytes:
    return (words.some(8 + _number(source, 20)).capitalize() + ".\n").encode()


def _records(source: random.Random, words: _Words) -> bytes:
    return (
        f'{{"identifier": {_number(source, 10**9)}, "display_name": "{words.some(2)}", "score": '
        f'{source.random():.4f}, "labels": ["{words.one()}", "{words.one()}"], "region": "region-'
        f'{_number(source, 4)}", "active": {"true" if source.random() < 0.7 else "false"}}}\n'
    ).encode()


def _table(source: random.Random, words: _Words) -> bytes:
    del words
    rows = (struct.pack("<IHHd", 1000 + row, _number(source, 300), 7, source.random()) for row in range(8))
    return b"".join(rows)
