"""A format: all of its properties except the units themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.formats.codec import Codec

OPERATIONS = ("compress", "decompress")

Compress = Callable[[bytes, int | None, int | None], bytes]
"""Plain bytes, level and window (its power of two) to compressed bytes; None is the library's choice."""


@dataclass(frozen=True)
class Format:
    """One format.

    `codecs` are its kinds of streams. For suites, `compress` is its library, which has `levels`, and
    `independent_bytes` the length of its blocks when none of them depends on another; None when they do.
    `presets` are levels of the compressor: the parameters of elaboration that differ from the defaults.
    `explored` are, by operation, the settings that commands make, each with the values that are tried.
    """

    name: str
    codecs: tuple[Codec, ...]
    levels: range
    independent_bytes: int | None
    compress: Compress
    explored: Mapping[str, Mapping[str, Sequence[int]]]
    presets: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    @property
    def units(self) -> tuple[str, ...]:
        """The names of its units, the compressor first."""
        return tuple(f"{self.name}-{operation}" for operation in OPERATIONS)


def hash_entries(most_log2: int) -> dict[str, list[int]]:
    """The sizes of a hash table up to the largest one, as its power of two."""
    return {"hash_entries": [1 << log2 for log2 in range(9, most_log2 + 1)]}


def history_kib(most: int) -> dict[str, list[int]]:
    """The range of history sizes, up to this number of KiB."""
    return {"history_kib": [1 << log2 for log2 in range(1, most.bit_length())]}
