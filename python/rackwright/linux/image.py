"""Images: firmware, kernel and initial file system in one file, made from the distribution's packages."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import BUILD, SOFTWARE
from rackwright.errors import RackwrightError
from rackwright.files.whole import make_whole
from rackwright.linux.files import drivers_of_cards, kernel_of, member, write_files
from rackwright.linux.lock import Selection, locked_selection, write_lock
from rackwright.linux.packages import PackageClient

VERSION = 2
"""Of the format; an image of another one is refused."""

_FOLDER = BUILD / "linux"
_INIT = SOFTWARE / "linux" / "init"
_FIRMWARE = "opensbi"
_BOOTED = ("firmware", "kernel", "files")
_PARTS = (*_BOOTED, "drivers")


@dataclass(frozen=True)
class Image:
    """What a machine boots, and the packages that it comes from.

    `drivers` is an archive that follows `files` on machines with a PCIe fabric, or with tiles that interrupt
    processes: kernel modules for them.
    """

    firmware: bytes
    kernel: bytes
    files: bytes
    packages: tuple[str, ...]
    drivers: bytes = b""


def build_image(
    packages: Sequence[str] = (),
    output: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Path:
    """Makes an image with these packages and what they need, or finds the one made of the same files.

    Its versions are the locked ones where these packages are locked and the mirror still has them, else those
    of today's lists. Packages are unpacked and not configured: their maintainers' scripts don't run. `tell`
    hears what is under way. Raises `RackwrightError` when a package can't be had.
    """
    client = PackageClient(_FOLDER)
    selection = _locked(client, packages, tell)
    if selection is None:
        selection = _listed(client, packages, tell)
        _fetch(client, selection, tell)
    path = _path(selection)
    if not path.exists():
        tell("unpacking")
        _write(path, client, selection)
    if not packages:
        make_whole(_default(), lambda new: new.symlink_to(path))
    if output is None:
        return path
    if not output.parent.is_dir():
        raise RackwrightError(f"{output.parent}: no such folder")
    make_whole(output, lambda new: shutil.copyfile(path, new))
    return output


def lock_image(packages: Sequence[str] = (), tell: Callable[[str], None] = lambda _: None) -> Path:
    """Locks an image with these packages to the versions of today's lists; gives the lock's file."""
    return write_lock(packages, _listed(PackageClient(_FOLDER), packages, tell))


def _locked(client: PackageClient, packages: Sequence[str], tell: Callable[[str], None]) -> Selection | None:
    """The locked packages, fetched. `None` without a lock, or when the mirror has not kept them all."""
    selection = locked_selection(packages)
    if selection is None:
        return None
    try:
        _fetch(client, selection, tell)
    except RackwrightError as error:
        tell(f"newer packages than the locked ones: {error}")
        return None
    return selection


def _listed(client: PackageClient, packages: Sequence[str], tell: Callable[[str], None]) -> Selection:
    """The packages that an image is made of, in the versions of today's lists."""
    tell("package lists")
    with client.current_lists():
        return Selection(
            kernel=client.alone(client.kernel()),
            firmware=client.alone(_FIRMWARE),
            contents=tuple(client.with_dependencies((*_base(packages), *packages))),
        )


def _base(packages: Sequence[str]) -> tuple[str, ...]:
    """The package with a shell and the commands that no other package brings.

    Debian builds busybox twice. The static one needs nothing else, and has its shell and `timeout`, `xargs`,
    `env` … run its own commands whatever there is in PATH; beside packages it is the other one, which looks
    in PATH as every shell does.
    """
    if {"busybox", "busybox-static"} & set(packages):
        return ()
    return ("busybox",) if packages else ("busybox-static",)


def _fetch(client: PackageClient, selection: Selection, tell: Callable[[str], None]) -> None:
    if not _path(selection).exists():
        tell(f"{len(selection.packages)} packages")
        client.fetch(selection.packages)


def default_image(tell: Callable[[str], None] = lambda _: None) -> Path:
    """The image without further packages: the one made last, if it was made as now, or a new one."""
    return _default().resolve() if _default().exists() else build_image(tell=tell)


def _default() -> Path:
    return _FOLDER / f"default-{_recipe().hexdigest()[:8]}.image"


def load_image(path: Path) -> Image:
    """Reads an image. Raises `RackwrightError` when the file is none, or one of another version."""
    try:
        with tarfile.open(path, "r:") as archive:
            stored = {found.name: archive.extractfile(found) for found in archive}
            contents = {name: stream.read() for name, stream in stored.items() if stream is not None}
        description = json.loads(contents["image.json"])
        if description["version"] != VERSION:
            raise RackwrightError(f"{path} is an image of another version; make it again with `./rw image`")
        parts = {name: contents[name] for name in _PARTS}
        if {name: _hash(part) for name, part in parts.items()} != description["sha256"]:
            raise RackwrightError(f"{path} is damaged; make it again with `./rw image`")
    except FileNotFoundError as error:
        raise RackwrightError(f"{path}: no such file") from error
    except (OSError, tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise RackwrightError(f"{path} is not an image of `./rw image`, or is damaged") from error
    return Image(**parts, packages=tuple(description["packages"]))


def image_parts(path: Path) -> dict[str, tuple[int, int]]:
    """Where firmware, kernel and files lie in an image: first byte and length.

    Raises `RackwrightError` as `load_image` does.
    """
    load_image(path)
    with tarfile.open(path, "r:") as archive:
        return {found.name: (found.offset_data, found.size) for found in archive if found.name in _BOOTED}


def _path(selection: Selection) -> Path:
    """Where the image of a selection is kept: named by all that its content follows from."""
    digest = _recipe()
    for package in selection.packages:
        digest.update(f"\0{package.file}\0{package.hash}".encode())
    return _FOLDER / "images" / f"{digest.hexdigest()[:24]}.image"


def _recipe() -> hashlib._Hash:
    """How images are made, whatever of."""
    digest = hashlib.sha256(f"{VERSION}\0".encode() + _INIT.read_bytes())
    for name in ("image.py", "files.py", "hints.py", "modules.py"):
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest


def _write(path: Path, client: PackageClient, selection: Selection) -> None:
    files = io.BytesIO()
    image, modules = kernel_of(client.path(selection.kernel))
    firmware = client.path(selection.firmware)
    contents = [client.path(package) for package in selection.contents]
    write_files(contents, modules, _INIT.read_bytes(), files)
    parts = {
        "firmware": member(firmware, "riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin"),
        "kernel": image,
        "files": files.getvalue(),
        "drivers": drivers_of_cards(modules),
    }
    description = {
        "version": VERSION,
        "packages": [package.file for package in selection.packages],
        "sha256": {name: _hash(part) for name, part in parts.items()},
    }
    described = {"image.json": json.dumps(description, indent=2).encode(), **parts}
    path.parent.mkdir(parents=True, exist_ok=True)
    make_whole(path, lambda new: _pack(new, described))


def _pack(path: Path, parts: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in parts.items():
            head = tarfile.TarInfo(name)
            head.size = len(content)
            archive.addfile(head, io.BytesIO(content))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
