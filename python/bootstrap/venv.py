"""The virtual environment in .build/venv, also after the checkout was moved or copied."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from bootstrap.paths import PYTHON, VENV

_CONFIGURATION = re.compile(r"^version *= *(\d+)\.(\d+)", re.MULTILINE)


def belongs_to(version: tuple[int | str, ...]) -> bool:
    """Whether there is an environment of this version of Python."""
    configuration = VENV / "pyvenv.cfg"
    if not configuration.exists() or not (VENV / "bin" / "python").exists():
        return False
    found = _CONFIGURATION.search(configuration.read_text(encoding="utf-8"))
    return found is not None and tuple(map(int, found.groups())) == tuple(version[:2])


def packages() -> Path:
    """The folder of the environment's packages, for the Python that runs this."""
    return VENV / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def settle() -> None:
    """Makes the environment one of this place: our packages are found, its scripts start its Python."""
    link = packages() / "rackwright.pth"
    text = f"{PYTHON}\n"
    if link.exists() and link.read_text(encoding="utf-8") == text:
        return
    for script in (VENV / "bin").iterdir():
        if script.is_file() and not script.is_symlink():
            _start_own_python(script)
    link.write_text(text, encoding="utf-8")


def _start_own_python(script: Path) -> None:
    """Replaces the first line of a script written by pip by the path of the environment's Python."""
    content = script.read_bytes()
    first, newline, rest = content.partition(b"\n")
    if first.startswith(b"#!") and re.search(rb"/bin/python[0-9.]*$", first):
        name = first.rsplit(b"/", 1)[1]
        script.write_bytes(b"#!" + str(VENV / "bin").encode() + b"/" + name + newline + rest)
