"""Kernel modules for images: those that a simulated server's devices and disks need.

Installing a kernel package would have `depmod` write the tables by which modules are found; these are the two
of them that busybox's modprobe reads (kmod, modules.dep(5) and modprobe.d(5) say what is in them).
"""

from __future__ import annotations

import lzma
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rackwright.errors import RackwrightError
from rackwright.linux.archive import Entry, folder

WANTED = ("virtio_rng", "virtio_blk", "virtio_net", "ext4", "squashfs", "erofs", "overlay", "crc32c_generic")
"""Devices, file systems, and an algorithm that these ask the kernel for by its name."""

FOR_CARDS = ("uio_pci_generic", "aer_inject")
"""Drivers for cards of a PCIe fabric, on machines that have one, and the kernel's injection of errors."""

SUFFIX = ".ko.xz"


def module_name(path: str) -> str:
    """What the kernel calls the module in this file."""
    return PurePosixPath(path).name.split(".", 1)[0].replace("-", "_")


def information(content: bytes, key: str) -> list[str]:
    """The values of `key` in a module's section `.modinfo`: texts `key=value` that end with a zero byte."""
    mark = b"\0" + key.encode() + b"="
    return [part.split(b"\0", 1)[0].decode() for part in content.split(mark)[1:]]


class Modules:
    """The modules of a kernel, by name."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """`files` are modules as the package has them, by path."""
        self._paths = {module_name(path): path for path in files}
        self._files = files
        self._contents: dict[str, bytes] = {}

    def entries(self, wanted: Iterable[str]) -> Iterator[Entry]:
        """The files of these modules and of those they need, uncompressed, with the tables to find them.

        Raises `RackwrightError` when there is no such module.
        """
        names = self._closed(wanted)
        tops = {str(PurePosixPath(*PurePosixPath(self._path(name)).parts[:4])) for name in names}
        needs = {name: self._needs(name) for name in names}
        for name in names:
            path = self._path(name).removesuffix(".xz")
            for above in reversed(PurePosixPath(path).parents[:-1]):
                yield folder(str(above))
            yield _plain(path, self._content(name))
        for top in tops:
            inside = {name: self._path(name).removesuffix(".xz").removeprefix(f"{top}/") for name in names}
            rows = [f"{inside[name]}: {' '.join(inside[other] for other in needs[name])}" for name in names]
            yield _plain(f"{top}/modules.dep", _lines(rows))
            aliases = [(alias, name) for name in names for alias in information(self._content(name), "alias")]
            yield _plain(f"{top}/modules.alias", _lines(f"alias {alias} {name}" for alias, name in aliases))

    def _closed(self, wanted: Iterable[str]) -> list[str]:
        """The names with those of modules they need, sorted."""
        found: set[str] = set()
        waiting = list(wanted)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._direct(name)
        return sorted(found)

    def _needs(self, name: str) -> list[str]:
        """All modules that have to be there before this one, the last one first."""
        needed: list[str] = []
        for other in self._direct(name):
            needed += [found for found in (other, *self._needs(other)) if found not in needed]
        return needed

    def _direct(self, name: str) -> list[str]:
        listed = ",".join(information(self._content(name), "depends"))
        return [other.replace("-", "_") for other in listed.split(",") if other]

    def _path(self, name: str) -> str:
        if name not in self._paths:
            raise RackwrightError(f"the kernel has no module {name}")
        return self._paths[name]

    def _content(self, name: str) -> bytes:
        if name not in self._contents:
            self._contents[name] = lzma.decompress(self._files[self._path(name)])
        return self._contents[name]


def _lines(rows: Iterable[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def _plain(path: str, content: bytes) -> Entry:
    return Entry(path, stat.S_IFREG | 0o644, content)
