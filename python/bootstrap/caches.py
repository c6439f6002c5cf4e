"""The folders outside of the checkout to which builds write, and how to move them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bootstrap.console import NotReadyError


@dataclass(frozen=True)
class Cache:
    """A folder of a tool, and the setting that moves it."""

    folder: Path
    setting: str


def caches() -> list[Cache]:
    """The folders as the environment has them now."""
    home = Path(os.environ.get("HOME") or "/")
    found = []
    if "maven.repo.local" not in os.environ.get("MAVEN_OPTS", ""):
        found.append(Cache(home / ".m2", "MAVEN_OPTS=-Dmaven.repo.local=/FOLDER/m2"))
    found.append(Cache(Path(os.environ.get("CARGO_HOME") or home / ".cargo"), "CARGO_HOME=/FOLDER/cargo"))
    general = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    found.append(Cache(general, "XDG_CACHE_HOME=/FOLDER/cache"))
    return found


def check() -> None:
    """Raises `NotReadyError` that names the settings when some of them cannot be written."""
    closed = [cache for cache in caches() if not _is_writable(cache.folder)]
    if closed:
        folders = ", ".join(str(cache.folder) for cache in closed)
        settings = " ".join(cache.setting for cache in closed)
        raise NotReadyError(f"cannot write to {folders}; put them elsewhere: {settings} ./rw ...")


def _is_writable(folder: Path) -> bool:
    """Whether a folder can be written or created."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return os.access(existing, os.W_OK | os.X_OK)
