"""One file of a suite: chunks are added until they compress to the requested ratio."""

from __future__ import annotations

from random import Random

from rackwright.formats import Format
from rackwright.generation.chunks import CHUNK_BYTES, ChunkTable
from rackwright.generation.targets import Target

_TRIES = 6
_GOOD_ENOUGH = 0.03
_GROWTH = 1.5
_FIRST_STEP = 1 << 16
_STRONGEST_CORRECTION = 4.0
_DISGUISED_BYTES = 1 << 17


def assemble(target: Target, table: ChunkTable, format_: Format, random: Random) -> tuple[bytes, int]:
    """The file, and the bytes it compresses to with the target's level and window."""
    table.begin()
    step = format_.independent_bytes or _FIRST_STEP
    if target.size <= step:
        return _small(target, table, format_, random)
    return _large(target, table, format_, random, step)


def _small(target: Target, table: ChunkTable, format_: Format, random: Random) -> tuple[bytes, int]:
    """Tries with other chunks until the ratio is right; the best one counts."""
    wanted, best = target.ratio, (b"", 0)
    nearest = float("inf")
    for _ in range(_TRIES):
        data = _fill(target.size, wanted, table, random)
        packed = len(format_.compress(data, target.level, target.window_log2))
        error = (target.size / packed) / target.ratio
        if max(error, 1 / error) < nearest:
            nearest, best = max(error, 1 / error), (data, packed)
        if nearest < 1 + _GOOD_ENOUGH:
            break
        wanted = _bounded(wanted / error, table)
    return best


def _large(
    target: Target, table: ChunkTable, format_: Format, random: Random, step: int
) -> tuple[bytes, int]:
    """Step by step, it adds chunks of the ratio that the rest must have, corrected by the last results."""
    data, packed, correction = bytearray(), 0, 1.0
    while len(data) < target.size:
        size = min(step, target.size - len(data))
        left = target.size / target.ratio - packed
        wanted = (target.size - len(data)) / left if left > 0 else table.reach[1]
        ratio = _bounded(wanted * correction, table)
        before = packed
        if format_.independent_bytes is not None:
            piece = _fill(size, ratio, table, random)
            packed += len(format_.compress(piece, target.level, target.window_log2))
            data += piece
        else:
            data += _disguised(size, ratio, table, random)
            packed = len(format_.compress(bytes(data), target.level, target.window_log2))
            # Later steps are longer, since each of them compresses the complete file again.
            step = round(step * _GROWTH)
        given = size / max(packed - before, 1)
        correction = min(max(correction * wanted / given, 1 / _STRONGEST_CORRECTION), _STRONGEST_CORRECTION)
    plain = bytes(data)
    return plain, len(format_.compress(plain, target.level, target.window_log2))


def _disguised(size: int, ratio: float, table: ChunkTable, random: Random) -> bytes:
    """The same, every stretch with byte values of its own.

    Windows of megabytes reach back to earlier copies of the same chunks. With other byte values they do not
    match, and the compressed size of a section alone is unchanged.
    """
    parts, values = [], list(range(256))
    for start in range(0, size, _DISGUISED_BYTES):
        random.shuffle(values)
        piece = _fill(min(_DISGUISED_BYTES, size - start), ratio, table, random)
        parts.append(piece.translate(bytes(values)))
    return b"".join(parts)


def _bounded(ratio: float, table: ChunkTable) -> float:
    return min(max(ratio, table.reach[0]), table.reach[1])


def _fill(size: int, ratio: float, table: ChunkTable, random: Random) -> bytes:
    """`size` bytes of chunks of about `ratio`; a short file begins anywhere in its only chunk."""
    if size < CHUNK_BYTES:
        chunk = table.draw(ratio, random)
        start = int(random.random() * max(len(chunk) - size, 0))
        return (chunk * -(-size // len(chunk)))[start : start + size]
    parts, length = [], 0
    while length < size:
        parts.append(table.draw(ratio, random))
        length += len(parts[-1])
    return b"".join(parts)[:size]
