"""Writes DEFLATE data piece by piece (RFC 1951), right and wrong, and its wrappers (RFC 1950, RFC 1952)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence

STORED, FIXED, DYNAMIC, RESERVED = range(4)
END = 256
ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
"""The order in which the lengths of the code of lengths are given."""

FIXED_LITERALS = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8
FIXED_DISTANCES = [5] * 32

Lengths = Sequence[int]


class Bits:
    """Bits in the order of the format: the lowest one of a byte first."""

    def __init__(self) -> None:
        self._bits: list[int] = []

    def put(self, value: int, count: int) -> Bits:
        """A number, its lowest bit first."""
        self._bits += [value >> i & 1 for i in range(count)]
        return self

    def code(self, value: int, count: int) -> Bits:
        """A Huffman code, its highest bit first."""
        self._bits += [value >> i & 1 for i in reversed(range(count))]
        return self

    def align(self) -> Bits:
        """Zeros up to the next byte."""
        self._bits += [0] * (-len(self._bits) % 8)
        return self

    def data(self) -> bytes:
        """All bits, with zeros behind the last one."""
        padded = [*self._bits, *[0] * (-len(self._bits) % 8)]
        return bytes(
            sum(bit << i for i, bit in enumerate(padded[at : at + 8])) for at in range(0, len(padded), 8)
        )


def codes(lengths: Lengths) -> dict[int, tuple[int, int]]:
    """Code and length of each symbol (RFC 1951, section 3.2.2), also where there are too many."""
    result = {}
    code = 0
    for length in range(1, max(lengths, default=0) + 1):
        code <<= 1
        for symbol in (s for s, n in enumerate(lengths) if n == length):
            result[symbol] = (code & (1 << length) - 1, length)
            code += 1
    return result


def stored(bits: Bits, data: bytes, last: bool = True, complement: int | None = None) -> Bits:
    """A block of bytes as they are; `complement` is what stands behind the length."""
    bits.put(int(last), 1).put(STORED, 2).align().put(len(data), 16)
    bits.put(len(data) ^ 0xFFFF if complement is None else complement, 16)
    for byte in data:
        bits.put(byte, 8)
    return bits


Token = int | tuple[int, int, int, int]
"""A symbol, or those of length and distance with the bits behind them: (length, bits, distance, bits)."""


def tokens(bits: Bits, symbols: Iterable[Token], literals: Lengths, distances: Lengths) -> Bits:
    """Codes of `symbols`."""
    literal_codes, distance_codes = codes(literals), codes(distances)
    for symbol in symbols:
        if isinstance(symbol, int):
            bits.code(*literal_codes[symbol])
            continue
        length, length_bits, distance, distance_bits = symbol
        bits.code(*literal_codes[length])
        bits.put(length_bits, 0 if length in (285, *range(257, 265)) else (length - 261) // 4)
        bits.code(*distance_codes[distance])
        bits.put(distance_bits, max(distance // 2 - 1, 0))
    return bits


def fixed(bits: Bits, symbols: Iterable[Token], last: bool = True) -> Bits:
    """A block with the fixed codes."""
    bits.put(int(last), 1).put(FIXED, 2)
    return tokens(bits, symbols, FIXED_LITERALS, FIXED_DISTANCES)


FLAT = [4] * 16 + [0, 0, 0]
"""A code of lengths that has every length, and no repetitions."""


def description(
    bits: Bits,
    literals: Lengths,
    distances: Lengths,
    *,
    of_lengths: Lengths = FLAT,
    symbols: Iterable[int | tuple[int, int]] | None = None,
    counts: Mapping[str, int] | None = None,
    last: bool = True,
) -> Bits:
    """The head of a block with codes of its own; `symbols` describe their lengths: (symbol, bits behind)."""
    given = {
        "literals": len(literals) - 257,
        "distances": len(distances) - 1,
        "lengths": 15,
        **(counts or {}),
    }
    bits.put(int(last), 1).put(DYNAMIC, 2)
    bits.put(given["literals"], 5).put(given["distances"], 5).put(given["lengths"], 4)
    for symbol in ORDER[: given["lengths"] + 4]:
        bits.put(of_lengths[symbol], 3)
    length_codes = codes(of_lengths)
    for entry in [*literals, *distances] if symbols is None else symbols:
        symbol, behind = (entry, 0) if isinstance(entry, int) else entry
        bits.code(*length_codes[symbol])
        bits.put(behind, {16: 2, 17: 3, 18: 7}.get(symbol, 0))
    return bits


def dynamic(bits: Bits, symbols: Iterable[Token], literals: Lengths, distances: Lengths) -> Bits:
    """The last block, with codes of its own."""
    return tokens(description(bits, literals, distances), symbols, literals, distances)


def sparse(size: int, lengths: Mapping[int, int]) -> list[int]:
    """`size` lengths, zero but for those given."""
    return [lengths.get(symbol, 0) for symbol in range(size)]


def zlib_stream(
    body: bytes, plain: bytes, *, header: bytes = b"\x78\x9c", checksum: int | None = None
) -> bytes:
    """`body`, which stands for `plain`, between the head and the checksum of RFC 1950."""
    value = zlib.adler32(plain) if checksum is None else checksum
    return header + body + value.to_bytes(4, "big")


def gzip_member(
    body: bytes,
    plain: bytes,
    *,
    magic: bytes = b"\x1f\x8b\x08",
    flags: int = 0,
    fields: bytes = b"",
    checksum: int | None = None,
    size: int | None = None,
) -> bytes:
    """`body`, which stands for `plain`, as a member of RFC 1952; `fields` are those that `flags` announce."""
    value = zlib.crc32(plain) if checksum is None else checksum
    length = len(plain) if size is None else size
    head = magic + bytes([flags]) + bytes(5) + b"\xff" + fields
    return head + body + value.to_bytes(4, "little") + length.to_bytes(4, "little")
