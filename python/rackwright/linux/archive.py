"""Initial file systems as the kernel unpacks them: archives in the format newc of cpio.

The format is described in Linux, Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import BinaryIO

_TRAILER = "TRAILER!!!"
_HEAD_BYTES = 110


@dataclass(frozen=True)
class Entry:
    """One file, of any kind. `path` has no leading slash; `mode` is `st_mode` of `stat`."""

    path: str
    mode: int
    content: bytes = b""
    uid: int = 0
    gid: int = 0
    modified: int = 0
    device: tuple[int, int] = (0, 0)


def folder(path: str) -> Entry:
    """A folder that everybody may read."""
    return Entry(path, stat.S_IFDIR | 0o755)


def program(path: str, content: bytes) -> Entry:
    """A file that everybody may run."""
    return Entry(path, stat.S_IFREG | 0o755, content)


def link(path: str, target: str) -> Entry:
    """A symbolic link."""
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


class ArchiveWriter:
    """Writes entries one after the other; `close` ends the archive and leaves the stream open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._entries = 0

    def add(self, entry: Entry) -> None:
        """Writes one entry. Folders precede their contents."""
        self._entries += 1
        self._write(self._entries, entry)

    def close(self) -> None:
        """Writes the end."""
        self._write(0, Entry(_TRAILER, 0))

    def _write(self, number: int, entry: Entry) -> None:
        name = entry.path.encode() + b"\0"
        fields = (
            number,
            entry.mode,
            entry.uid,
            entry.gid,
            2 if stat.S_ISDIR(entry.mode) else 1,
            entry.modified,
            len(entry.content),
            *(0, 0),
            *entry.device,
            len(name),
            0,
        )
        head = "070701" + "".join(f"{field:08X}" for field in fields)
        self._stream.write(_padded(head.encode() + name))
        self._stream.write(_padded(entry.content))


def content_of(archive: bytes, path: str) -> bytes:
    """The content of one file of an archive. Raises `KeyError` if it does not exist."""
    at = 0
    while archive[at : at + 6] == b"070701":
        fields = [int(archive[at + place : at + place + 8], 16) for place in range(6, _HEAD_BYTES, 8)]
        size, name_bytes = fields[6], fields[11]
        name = archive[at + _HEAD_BYTES : at + _HEAD_BYTES + name_bytes - 1].decode()
        start = at + len(_padded(bytes(_HEAD_BYTES + name_bytes)))
        if name == path:
            return archive[start : start + size]
        at = start + size + -size % 4
    raise KeyError(path)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
