"""Frames in the captures of links: pcap, as chips write it, and pcapng, as clusters do."""

from __future__ import annotations

import struct
from pathlib import Path


def frames_of_pcap(capture: Path) -> list[bytes]:
    """The frames of a capture with times in nanoseconds."""
    data, at, found = capture.read_bytes(), 24, []
    assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D
    while at < len(data):
        kept, length = struct.unpack_from("<II", data, at + 8)
        assert kept == length
        found.append(data[at + 16 : at + 16 + kept])
        at += 16 + kept
    return found


def frames_of_pcapng(capture: Path) -> list[bytes]:
    """The frames of a capture with blocks, of all its interfaces."""
    data, at, found = capture.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            (kept,) = struct.unpack_from("<I", data, at + 20)
            found.append(data[at + 28 : at + 28 + kept])
        at += length
    return found
