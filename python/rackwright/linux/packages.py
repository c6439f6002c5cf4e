"""The distribution's packages for riscv64, through the ordinary package client, without root.

The client has separate folders for lists, state and downloads, so that it neither sees nor changes the
installation of this machine. It checks the signature of the lists with the distribution's keyring, and
packages by the hashes in the lists.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import RackwrightError

ARCHITECTURE = "riscv64"
RELEASE = "trixie"
"""Debian 13, the first with riscv64."""

MIRROR_VARIABLE = "RACKWRIGHT_DEBIAN_MIRROR"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_PROGRAMS = {"apt-get": "apt", "apt-cache": "apt", "dpkg-deb": "dpkg"}
_HELPER = Path("/usr/lib/apt/apt-helper")
_URI = re.compile(r"'\S+?/(?P<path>pool/\S+)' (?P<file>\S+) \d+ (?P<hash>SHA256:\S+)")


@dataclass(frozen=True)
class Package:
    """A package: its file, its path on a mirror, and its required hash, `SHA256:…`."""

    file: str
    path: str
    hash: str


class PackageClient:
    """The client with its folder."""

    def __init__(self, folder: Path) -> None:
        """Raises `RackwrightError` when this machine has no such client or knows no mirror."""
        for program, package in _PROGRAMS.items():
            if shutil.which(program) is None:
                raise RackwrightError(
                    f"images are made with {program}, which is not installed: install {package}"
                )
        if not KEYRING.exists():
            raise RackwrightError(f"{KEYRING} is not here: install debian-archive-keyring")
        self.folder = folder
        for part in ("lists/partial", "cache/archives/partial", "nothing/partial", "sources"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        self._mirror = mirror().rstrip("/")
        source = {
            "Types": "deb",
            "URIs": self._mirror,
            "Suites": RELEASE,
            "Components": "main",
            "Signed-By": KEYRING,
        }
        sources = "".join(f"{name}: {value}\n" for name, value in source.items())
        (folder / "sources" / "debian.sources").write_text(sources, encoding="ascii")

    @contextmanager
    def current_lists(self) -> Iterator[None]:
        """Fetches the current lists, which no other process replaces within this context."""
        with open(self.folder / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._run("apt-get", "update", "--error-on=any")
            yield

    def kernel(self) -> str:
        """The package with the kernel that the distribution recommends."""
        listed = self._run("apt-cache", "depends", f"linux-image-{ARCHITECTURE}")
        found = re.search(r"Depends: (linux-image-\S+)", listed)
        if found is None:
            raise RackwrightError(f"{RELEASE} has no kernel for {ARCHITECTURE}")
        return found[1]

    def alone(self, name: str) -> Package:
        """The package of this name."""
        return self._listed("download", name)[0]

    def with_dependencies(self, names: Sequence[str]) -> list[Package]:
        """The packages of these names and their dependencies, in the order of their files' names."""
        listed = self._listed("install", "--yes", "--no-install-recommends", *names)
        return sorted(listed, key=lambda package: package.file)

    def fetch(self, packages: Sequence[Package]) -> None:
        """Downloads missing packages. Raises `RackwrightError` when the mirror has none of this hash."""
        for package in packages:
            if not self.path(package).exists():
                with tempfile.TemporaryDirectory(dir=self._archives / "partial") as folder:
                    new = Path(folder) / "new"
                    self._run(
                        str(_HELPER),
                        "download-file",
                        f"{self._mirror}/{package.path}",
                        str(new),
                        package.hash,
                    )
                    new.replace(self.path(package))

    def path(self, package: Package) -> Path:
        """The path of a fetched package."""
        return self._archives / package.file

    @property
    def _archives(self) -> Path:
        return self.folder / "cache" / "archives"

    def _listed(self, *arguments: str) -> list[Package]:
        """The downloads that would be needed for an empty folder."""
        listed = self._run("apt-get", "--print-uris", *arguments, archives=self.folder / "nothing")
        return [Package(**found.groupdict()) for found in _URI.finditer(listed)]

    def _run(self, program: str, *arguments: str, archives: Path | None = None) -> str:
        archives = archives or self._archives
        settings = {
            "APT::Architecture": ARCHITECTURE,
            "APT::Architectures": ARCHITECTURE,
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::Languages": "none",
            "Dir::State": self.folder,
            "Dir::State::lists": self.folder / "lists",
            "Dir::State::status": self.folder / "status",
            "Dir::Cache": self.folder / "cache",
            "Dir::Cache::archives": archives,
            "Dir::Etc::SourceList": os.devnull,
            "Dir::Etc::SourceParts": self.folder / "sources",
            "Dir::Etc::PreferencesParts": os.devnull,
            "Debug::NoLocking": "true",
            "Acquire::ForceHash": "sha256",
            "Acquire::Retries": "3",
            # Downloads as root are done by another user if there is one, who cannot write here.
            "APT::Sandbox::User": "root",
        }
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        command = [program, "-q", *options, *arguments]
        environment = dict(os.environ, LC_ALL="C.UTF-8", DEBIAN_FRONTEND="noninteractive")
        result = subprocess.run(
            command,
            cwd=archives,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            lines = [line for line in result.stderr.splitlines() if line.startswith(("E:", "W:"))]
            reason = lines[0] if lines else f"status {result.returncode}"
            raise RackwrightError(f"the package client failed: {reason}")
        return result.stdout


def mirror() -> str:
    """The mirror that this machine's own package client uses, unless the environment names another."""
    given = os.environ.get(MIRROR_VARIABLE)
    if given:
        return given
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(RELEASE)|$(COMPONENT)|$(REPO_URI)"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    rows = [line.split("|") for line in listed.splitlines() if line.count("|") == 3]
    main = [row for row in rows if "-" not in row[1] and row[2] == "main"]
    for origin, _, _, uri in main:
        if origin == "Debian":
            return uri
    raise RackwrightError(
        "no mirror of Debian is among the package sources of this machine (or its lists were never fetched: "
        f"apt-get update); name one in the environment, {MIRROR_VARIABLE}=URI"
    )
