"""Rackwright in an environment of the user's own, as `docs/notebooks.md` says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bootstrap.paths import PYTHON, REPOSITORY

EXTRAS = tomllib.loads((PYTHON / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def run(folder: Path, *command: object) -> str:
    """What a command says; it knows nothing of the environment that the tests run in."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    words = [str(word) for word in command]
    ended = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_every_extra_is_on_the_page_and_the_pages_name_no_other() -> None:
    page = (REPOSITORY / "docs" / "notebooks.md").read_text()
    assert set(EXTRAS) == {"mpi", "dask", "notebook", "profile"}
    assert all(f"`{name}`" in page for name in EXTRAS)
    for text in [*(REPOSITORY / "docs").glob("*.md"), *(PYTHON / "rackwright").rglob("*.py")]:
        assert set(re.findall(r"rackwright\[(\w+)\]", text.read_text())) <= set(EXTRAS), text


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_pip_makes_it_importable_and_gives_a_command(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    run(tmp_path, sys.executable, "-m", "venv", mine)
    run(tmp_path, mine / "bin" / "pip", "install", "--quiet", "-e", f"{PYTHON}[profile,dask,mpi]")
    program = "import rackwright, pyarrow, distributed, mpi4py; print(rackwright.Server('functional').cpu)"
    assert run(tmp_path, mine / "bin" / "python", "-c", program) == "functional\n"
    added = next((mine / "lib").glob("python3.*")) / "site-packages" / "of_the_user.py"
    added.write_text("")
    units = json.loads(run(tmp_path, mine / "bin" / "rackwright", "units", "--json"))
    assert "snappy-decompress" in json.dumps(units)
    assert added.exists()
