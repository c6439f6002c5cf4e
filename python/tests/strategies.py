"""Hypothesis strategies for data and for Snappy streams."""

from __future__ import annotations

from hypothesis import strategies as st

from rackwright.verification import snappy_format as fmt

raw_bytes = st.binary(max_size=3000)
"""Bytes with nothing to find in them."""

_words = st.lists(st.binary(min_size=1, max_size=12), min_size=1, max_size=6)


@st.composite
def repetitive_bytes(draw: st.DrawFn) -> bytes:
    """Bytes with plenty to find: few words, many times, and runs of one byte."""
    words = draw(_words)
    indices = draw(st.lists(st.integers(0, len(words) - 1), max_size=200))
    run = bytes([draw(st.integers(0, 255))]) * draw(st.integers(0, 500))
    return b"".join(words[index] for index in indices) + run + words[0]


plain_data = raw_bytes | repetitive_bytes()
"""What somebody may want to compress."""


@st.composite
def valid_streams(draw: st.DrawFn) -> bytes:
    """Valid Snappy data with any mix of elements, also those that no compressor writes."""
    produced = 0
    elements = []
    for _ in range(draw(st.integers(0, 40))):
        element, length = draw(_element(produced))
        elements.append(element)
        produced += length
    return fmt.stream(produced, elements)


@st.composite
def _element(draw: st.DrawFn, produced: int) -> tuple[bytes, int]:
    """One element that is valid after `produced` bytes, and how many bytes it adds."""
    if produced == 0 or draw(st.booleans()):
        data = draw(st.binary(min_size=1, max_size=200))
        fewest = 0 if len(data) <= 60 else 1
        return fmt.literal(data, draw(st.integers(fewest, 4))), len(data)
    offset = draw(st.integers(1, produced))
    kind = draw(st.sampled_from((fmt.COPY_1, fmt.COPY_2, fmt.COPY_4)))
    if kind == fmt.COPY_1 and offset < 2048:
        length = draw(st.integers(4, 11))
        return fmt.copy_1(offset, length), length
    length = draw(st.integers(1, 64))
    if kind == fmt.COPY_2 and offset < 65536:
        return fmt.copy_2(offset, length), length
    return fmt.copy_4(offset, length), length


any_stream = valid_streams() | st.binary(max_size=300)
"""Valid Snappy data, or bytes that are almost never so."""
