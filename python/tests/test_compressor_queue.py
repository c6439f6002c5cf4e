"""Operations of compressors one behind the other: none has to do with those around it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from compressor_queue import CompressorQueue, Operation, drawn
from test_deflate_compress import SMALL as SMALL_DEFLATE
from test_zstd_compress import SMALL as SMALL_ZSTD

from rackwright import DeflateUnit, SnappyUnit, ZstdUnit
from rackwright.compression.codec import CodecUnit
from rackwright.demo.archive import default_archive

TEXT = default_archive(3000)
KINDS = {
    "good": Operation(TEXT[:900]),
    "the same, shifted": Operation(TEXT[1:901]),
    "short": Operation(b"a" * 70),
    "nothing": Operation(b""),
    "noise": Operation(random.Random(3).randbytes(300)),
    "full": Operation(TEXT[:900], missing=1),
    "no room": Operation(TEXT[:200], missing=1 << 20),
    "input refused": Operation(TEXT[:900], bad_input=0.9),
    "output refused": Operation(TEXT[:900], bad_output=0.0),
}

UNITS: dict[str, Callable[[], CodecUnit]] = {
    "snappy": lambda: SnappyUnit("compress", assertions=True),
    "zstd": lambda: ZstdUnit("compress", parameters=SMALL_ZSTD, assertions=True),
    "deflate": lambda: DeflateUnit("compress", parameters=SMALL_DEFLATE, assertions=True),
}


@pytest.fixture(scope="module", params=UNITS)
def queue(request: pytest.FixtureRequest) -> CompressorQueue:
    """A compressor of each format, of its own: memory that refuses stays as it is."""
    return CompressorQueue(UNITS[request.param]())


def test_every_kind_behind_every_kind(queue: CompressorQueue) -> None:
    for first in KINDS.values():
        for second in KINDS.values():
            queue.run([first, second])
        queue.run([KINDS["good"], first, KINDS["good"]])


def run_some(queue: CompressorQueue, seed: int, count: int) -> None:
    """Two or three operations at once, on parts of a text that are like each other, and on noise."""
    source = random.Random(seed)
    for _ in range(count):
        plains = []
        for _ in range(source.randint(2, 3)):
            begin, length = source.randrange(2000), source.choice((0, 1, 5, 40, 64, 300, 1000))
            plains.append(TEXT[begin : begin + length] if source.random() < 0.8 else source.randbytes(length))
        queue.run([drawn(source, plain) for plain in plains])


def test_some_operations_behind_others(queue: CompressorQueue) -> None:
    run_some(queue, seed=1, count=20)


@pytest.mark.long("as above, with more of them")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(4))
def test_many_operations_behind_others(queue: CompressorQueue, seed: int) -> None:
    run_some(queue, seed=100 + seed, count=10_000)
