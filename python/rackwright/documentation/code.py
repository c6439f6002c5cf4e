"""References of the code in the site's folder `code`: rustdoc of the engine, Scaladoc of the RTL."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.paths import CARGO_TARGET, ENGINE, HARDWARE
from rackwright.errors import RackwrightError

FOLDER = "code"
"""The folder of the site that holds them."""

_MISSING = """<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<p>This reference is built by <code>./rw docs --code</code>, which takes some minutes.</p>
"""


@dataclass(frozen=True)
class CodeReference:
    """A reference that a compiler's documentation tool writes to the folder `written`."""

    name: str
    title: str
    command: Sequence[str]
    folder: Path
    written: Path
    first: str
    environment: Mapping[str, str] = field(default_factory=dict)


REFERENCES = (
    CodeReference(
        "rust",
        "Crates of the engine",
        ("cargo", "doc", "--workspace", "--no-deps", "--locked", "--document-private-items"),
        ENGINE,
        CARGO_TARGET / "doc",
        "rackwright_machine/index.html",
        {"RUSTDOCFLAGS": "-D warnings", "CARGO_TARGET_DIR": str(CARGO_TARGET)},
    ),
    CodeReference(
        "scala",
        "Packages of the RTL",
        ("mvn", "-q", "-B", "scala:doc"),
        HARDWARE,
        HARDWARE / "target" / "site" / "scaladocs",
        "index.html",
    ),
)


def build_references(site: Path) -> None:
    """Builds every reference and copies it into the site. Raises `RackwrightError` with a tool's output."""
    for reference in REFERENCES:
        ended = subprocess.run(
            reference.command,
            cwd=reference.folder,
            env=os.environ | reference.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise RackwrightError(f"{' '.join(reference.command)}:\n{ended.stdout}{ended.stderr}".rstrip())
        shutil.copytree(reference.written, site / FOLDER / reference.name, dirs_exist_ok=True)


def announce_references(site: Path) -> None:
    """Writes a page for each reference that the site does not have, so that links to it lead somewhere."""
    for reference in REFERENCES:
        page = site / FOLDER / reference.name / reference.first
        if not page.exists():
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(_MISSING.format(title=reference.title), encoding="utf-8")
