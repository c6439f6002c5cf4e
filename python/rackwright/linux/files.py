"""What packages hold, gathered into one initial file system."""

from __future__ import annotations

import stat
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from rackwright.errors import RackwrightError
from rackwright.linux.archive import ArchiveWriter, Entry, folder, link, program
from rackwright.linux.hints import COMMANDS, command
from rackwright.linux.modules import FOR_CARDS, SUFFIX, WANTED, Modules

_MERGED = ("bin", "sbin", "lib")
"""Folders that are links into /usr."""

_MOUNTED = ("dev", "proc", "run", "sys", "tmp", "root", "etc", "var", "usr", "usr/bin", "usr/sbin", "usr/lib")
_KINDS = {
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
}
_ACCOUNTS = {
    "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
    "etc/hosts": b"127.0.0.1 localhost server\n::1 localhost\n",
}


def package_files(path: Path) -> Iterator[Entry]:
    """The files of one package."""
    contents: dict[str, bytes] = {}
    with _opened(path) as archive:
        for member in archive:
            name = placed(member.name)
            if name:
                yield _entry(archive, member, name, contents)


def member(path: Path, suffix: str) -> bytes:
    """The one file of a package whose path ends with `suffix`."""
    with _opened(path) as archive:
        for found in archive:
            if found.isfile() and found.name.endswith(suffix):
                return _content(archive, found)
    raise RackwrightError(f"{path.name} has no file {suffix}")


def kernel_of(path: Path) -> tuple[bytes, Modules]:
    """The kernel in its package, and its modules."""
    kernel = None
    modules: dict[str, bytes] = {}
    with _opened(path) as archive:
        for found in archive:
            name = placed(found.name)
            if found.isfile() and name.startswith(("boot/vmlinu", "boot/Image")):
                kernel = _content(archive, found)
            elif found.isfile() and name.endswith(SUFFIX):
                modules[name] = _content(archive, found)
    if kernel is None:
        raise RackwrightError(f"{path.name} has no kernel")
    return kernel, Modules(modules)


def write_files(packages: Iterable[Path], modules: Modules, init: bytes, stream: BinaryIO) -> None:
    """Writes the files of `packages`, of which later ones win, with `init` as the first process."""
    entries = {entry.path: entry for entry in map(folder, _MOUNTED)}
    entries |= {name: link(name, f"usr/{name}") for name in _MERGED}
    entries |= {name: Entry(name, stat.S_IFREG | 0o644, content) for name, content in _ACCOUNTS.items()}
    for path in packages:
        entries |= {entry.path: entry for entry in package_files(path)}
    entries |= {entry.path: entry for entry in modules.entries(WANTED)}
    entries["dev/console"] = Entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    entries["init"] = program("init", init)
    entries |= {
        f"usr/bin/{name}": program(f"usr/bin/{name}", command(hint)) for name, hint in COMMANDS.items()
    }
    writer = ArchiveWriter(stream)
    # A folder's name is the start of the names in it, and so comes before them.
    for name in sorted(entries):
        writer.add(entries[name])
    writer.close()


def drivers_of_cards(modules: Modules) -> bytes:
    """The modules for cards of a PCIe fabric, as an archive to follow that of `write_files`."""
    there = {entry.path: entry for entry in modules.entries(WANTED)}
    wanted = modules.entries((*WANTED, *FOR_CARDS))
    return _archive(entry for entry in wanted if there.get(entry.path) != entry)


def archive_of(paths: Iterable[Path]) -> bytes:
    """Files of this machine for /root, as an archive to follow another one; nothing without files.

    Raises `RackwrightError` when one can't be read, or two have the same name.
    """
    entries: dict[str, Entry] = {}
    for path in paths:
        name = f"root/{path.name}"
        if name in entries:
            raise RackwrightError(f"two files are named {path.name}")
        try:
            entries[name] = Entry(name, stat.S_IFREG | path.stat().st_mode & 0o777, path.read_bytes())
        except OSError as error:
            raise RackwrightError(f"{path}: {error.strerror}") from error
    return _archive(entries.values()) if entries else b""


def _archive(entries: Iterable[Entry]) -> bytes:
    stream = BytesIO()
    writer = ArchiveWriter(stream)
    for entry in entries:
        writer.add(entry)
    writer.close()
    return stream.getvalue()


def placed(name: str) -> str:
    """Where a file of a package goes: below /usr for folders that are links; empty for the links."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if parts and parts[0] in _MERGED:
        return "/".join(["usr", *parts]) if len(parts) > 1 else ""
    return "/".join(parts)


def _entry(archive: tarfile.TarFile, found: tarfile.TarInfo, name: str, contents: dict[str, bytes]) -> Entry:
    content = b""
    kind = _KINDS.get(found.type, stat.S_IFREG)
    if found.isfile():
        content = contents[name] = _content(archive, found)
    elif found.islnk():
        # A copy: the archive's own way to link files needs all names of one before its content.
        content = contents[placed(found.linkname)]
    elif found.issym():
        content = found.linkname.encode()
    return Entry(
        name,
        kind | found.mode,
        content,
        uid=found.uid,
        gid=found.gid,
        modified=int(found.mtime),
        device=(found.devmajor, found.devminor),
    )


def _content(archive: tarfile.TarFile, found: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(found)
    assert stream is not None, "a plain file has content"
    return stream.read()


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    """The files of a package as `dpkg-deb` unpacks them."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(path)], stdout=subprocess.PIPE) as unpacking:
        try:
            with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
                yield archive
        except tarfile.TarError as error:
            raise RackwrightError(f"{path.name} is damaged: {error}") from error
        finally:
            unpacking.kill()
