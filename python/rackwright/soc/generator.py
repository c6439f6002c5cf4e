"""Rocket Chip, a Java program: generates a chip's Verilog from its parts."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bootstrap.paths import BUILD, LOGS, SOC, SOC_CLASSPATH, SOC_JAR, STAMPS
from bootstrap.software import RISCV
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.files.whole import write_whole
from rackwright.machine.programs import run_compiler

GENERATED = BUILD / "soc" / "generated"
"""A folder for each generated chip, named by the hash of its inputs."""

_BOOT = SOC / "src" / "main" / "boot" / "boot.S"
_BOOT_BASE = 0x10000
_REASON = re.compile(r"(?:Exception in thread \"main\" |Caused by: )(?:[\w.$]+: )?(.*)")


def generate(specification: dict[str, Any], top: str) -> Path:
    """The folder with the Verilog and the device tree of a chip; the same specification is generated once.

    Raises `RackwrightError` with the first cause when the generator refuses it.
    """
    if not SOC_CLASSPATH.exists():
        raise MissingBuildError("the generator of soc/", "./rw soc compose")
    text = json.dumps(specification, indent=2)
    parts = (text.encode(), _BOOT.read_bytes(), (STAMPS / "soc").read_bytes())
    folder = GENERATED / f"{top}-{hashlib.sha256(b''.join(parts)).hexdigest()[:16]}"
    if folder.exists():
        return folder
    GENERATED.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="making-", dir=GENERATED) as work:
        made = Path(work) / "made"
        made.mkdir()
        boot = boot_image(Path(work))
        specified = Path(work) / "specification.json"
        specified.write_text(json.dumps({**specification, "bootRom": str(boot)}), encoding="utf-8")
        _run(["rackwright.soc.Main", str(specified), str(made)])
        # It lists the file that it brings by its present place.
        (made / "firrtl_black_box_resource_files.f").unlink(missing_ok=True)
        keep(made, folder)
    return folder


def keep(made: Path, place: Path) -> None:
    """Moves a folder to its place, where another process may have put the same one in the meantime."""
    try:
        made.rename(place)
    except OSError:
        if not place.exists():
            raise
        shutil.rmtree(made)


def boot_image(work: Path) -> Path:
    """Makes the contents of the boot ROM, but the device tree that follows them, in the folder `work`."""
    image, program = work / "boot.img", work / "boot.elf"
    options = ["-nostdlib", "-static", f"-Wl,-Ttext={_BOOT_BASE:#x}", "-Wl,--build-id=none"]
    architecture = ["-march=rv64g", "-mabi=lp64d"]
    prefix = RISCV.compiler_prefix
    run_compiler([f"{prefix}gcc", *architecture, *options, str(_BOOT), "-o", str(program)], image)
    run_compiler([f"{prefix}objcopy", "-O", "binary", "-j", ".text", str(program), str(image)], image)
    return image


def _run(arguments: Sequence[str]) -> None:
    classpath = f"{SOC_JAR}{os.pathsep}{SOC_CLASSPATH.read_text(encoding='utf-8').strip()}"
    # FIRRTL calls itself once for each level of an expression.
    command = ["java", "-Xss64m", "-XX:+UseSerialGC", "-cp", classpath, *arguments]
    ended = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    if ended.returncode != 0:
        LOGS.mkdir(parents=True, exist_ok=True)
        log = LOGS / "soc-generator.log"
        write_whole(log, ended.stdout)
        raise RackwrightError(f"the generator: {_first_cause(ended.stdout, ended.returncode)} ({log})")


def _first_cause(log: str, status: int) -> str:
    """The first error: the exception that caused the later ones, as text; who is ended by others has none."""
    causes = [cause for cause in _REASON.findall(log) if cause.strip()]
    if causes:
        return str(causes[-1]).strip()
    return f"ended with status {status} before it was done, without an error of its own"
