"""Rackwright in an environment of the user's own, as `docs/notebooks.md` says."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from bootstrap import editable_wheel
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
    assert set(EXTRAS) == {"cores", "dask", "mpfr", "mpi", "notebook", "opinions", "profile"}
    assert all(f"`{name}`" in page for name in EXTRAS)
    for text in [*(REPOSITORY / "docs").glob("*.md"), *(PYTHON / "rackwright").rglob("*.py")]:
        assert set(re.findall(r"rackwright\[(\w+)\]", text.read_text())) <= set(EXTRAS), text


OLDEST_PYTHON = "3.11.2"
"""That of Debian 12."""

# The package with the Rocket core is elsewhere.
LOCKS = [lock for lock in sorted(PYTHON.glob("*.lock")) if lock.stem != "requirements-rocket"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_locked_packages_run_on_the_oldest_python(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if line and not line.startswith("#")]
    # Not every package says it; asking for what is not there raises once `importlib_metadata` is imported.
    every = {line: importlib.metadata.metadata(Requirement(line).name) for line in lines}
    wanted = {name: each["Requires-Python"] for name, each in every.items() if "Requires-Python" in each}
    assert [name for name, versions in wanted.items() if OLDEST_PYTHON not in SpecifierSet(versions)] == []


def test_a_wheel_without_engine_is_installed_and_names_our_folder(tmp_path: Path) -> None:
    metadata = tmp_path / "rackwright-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: rackwright\nVersion: 0.1.0\n")
    (metadata / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
    name = editable_wheel.write(tmp_path, metadata)
    assert name == "rackwright-0.1.0-py3-none-any.whl"
    place = tmp_path / "place"
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-index", "--target", place)
    run(tmp_path, *pip, tmp_path / name)
    assert (place / "rackwright.pth").read_text() == f"{PYTHON}\n"
    [distribution] = importlib.metadata.distributions(path=[str(place)])
    hashed = [file for file in distribution.files or [] if file.hash]
    assert {"METADATA", "WHEEL", "rackwright.pth"} <= {file.name for file in hashed}


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_pip_makes_it_importable_and_gives_a_command(tmp_path: Path) -> None:
    """It takes the engine that `./rw` has compiled, in this folder."""
    engine = PYTHON / "rackwright" / "_engine.abi3.so"
    compiled = engine.stat().st_mtime_ns
    mine = tmp_path / "mine"
    run(tmp_path, sys.executable, "-m", "venv", mine)
    run(tmp_path, mine / "bin" / "pip", "install", "--quiet", "-e", f"{PYTHON}[profile,dask,mpi]")
    program = "import rackwright, pyarrow, distributed, mpi4py; print(rackwright.Server('functional').cpu)"
    assert run(tmp_path, mine / "bin" / "python", "-c", program) == "functional\n"
    assert engine.stat().st_mtime_ns == compiled
    added = next((mine / "lib").glob("python3.*")) / "site-packages" / "of_the_user.py"
    added.write_text("")
    units = json.loads(run(tmp_path, mine / "bin" / "rackwright", "units", "--json"))
    assert "snappy-decompress" in json.dumps(units)
    assert added.exists()
