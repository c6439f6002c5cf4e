"""Fetches the source of the official Protocol Buffers C++ library, in one version, and checks it.

The source is the original archive in Debian's and Ubuntu's source package, which apt fetches without a change
to the system, with separate package lists in a temporary folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from bootstrap import tools
from bootstrap.console import NotReadyError, say
from bootstrap.steps import execute

VERSION = tools.PROTOBUF_VERSION
ARCHIVE = f"protobuf_{VERSION}.orig.tar.gz"
SHA256 = "930c2c3b5ecc6c9c12615cf5ad93f1cd6e12d0aba862b572e076259970ac3a53"

_STEP = "protobuf"
_SYSTEM = Path("/etc/apt")


def user_cache() -> Path:
    """The folder for files shared by all checkouts of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rackwright" / f"protobuf-{VERSION}"


def official_source() -> Path:
    """The folder with the library's sources and headers, fetched and unpacked if it is missing."""
    cache = user_cache()
    source = cache / "source"
    if source.is_dir():
        return source
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        top = f"protobuf-{VERSION}/src"
        execute(_STEP, ["tar", "-xzf", str(_archive(cache)), "-C", folder, top])
        shutil.move(Path(folder) / top, source)
    return source


def _archive(cache: Path) -> Path:
    archive = cache / ARCHIVE
    if not archive.exists():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            fetched = _fetch(Path(folder))
            check(fetched)
            shutil.move(fetched, archive)
    check(archive)
    return archive


def check(archive: Path) -> None:
    """Raises `NotReadyError` unless this is the archive that we know."""
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        raise NotReadyError(f"{archive.name} is not the official source of {VERSION}: its SHA-256 is {found}")


def _fetch(folder: Path) -> Path:
    """Downloads the source package with apt; its lists and downloads stay in `folder`."""
    if shutil.which("apt-get") is None:
        raise NotReadyError(
            f"no apt-get to fetch the source of protobuf {VERSION}; put {ARCHIVE} into {user_cache()}"
        )
    say(f"{_STEP}: fetching the official source with apt")
    options = private_apt(folder)
    # It also fails for a source that has no source packages, which need not be the one that matters.
    with contextlib.suppress(NotReadyError):
        execute(_STEP, ["apt-get", "-q", *options, "update"], folder)
    command = ["apt-get", "-q", *options, "source", "--download-only", "protobuf"]
    execute(_STEP, command, folder)
    archive = folder / ARCHIVE
    if not archive.exists():
        others = ", ".join(path.name for path in sorted(folder.glob("*.orig.tar.*"))) or "none"
        raise NotReadyError(
            f"this system's source package of protobuf is not {VERSION} but {others}; "
            f"put {ARCHIVE} into {user_cache()}"
        )
    return archive


def private_apt(folder: Path, system: Path = _SYSTEM) -> list[str]:
    """Options for an apt that reads source packages and leaves no trace outside `folder`.

    Each file of `system` keeps its name and position: in another order, apt refuses two entries for one
    archive of which only one names its key, instead of printing a warning.
    """
    lists, parts = folder / "lists", folder / "sources.list.d"
    parts.mkdir()
    (lists / "partial").mkdir(parents=True)
    for file in [system / "sources.list", *(system / "sources.list.d").glob("*")]:
        if file.is_file() and file.suffix in (".list", ".sources"):
            text = source_entries(file.read_text(encoding="utf-8"), file.suffix)
            (folder / file.relative_to(system)).write_text(text, encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": parts,
        "Dir::State::Lists": lists,
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
        "APT::Sandbox::User": "",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def source_entries(text: str, suffix: str) -> str:
    """The sources of an apt file, with binary packages replaced by source packages."""
    before, after = ("Types:", "Types: deb-src") if suffix == ".sources" else ("deb ", "deb-src ")
    lines = []
    for line in text.splitlines():
        if line.startswith(before):
            line = after if suffix == ".sources" else after + line[len(before) :]
        lines.append(line)
    return "\n".join(lines) + "\n"
