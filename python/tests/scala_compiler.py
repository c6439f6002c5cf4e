"""Compiles Scala by the compiler that Maven has brought, and runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

FOR_ROCKET_CHIP = ("-Xsource:2.11", "-language:reflectiveCalls")
"""Options with which sources for Chisel 3.2 are compiled."""


def scalac(version: str, classpath: str, files: Sequence[Path], output: Path, *options: str) -> None:
    """Compiles files into the new folder `output`; fails with what the compiler says."""
    artefacts = Path.home() / ".m2" / "repository" / "org" / "scala-lang"
    compiler = [
        artefacts / f"scala-{part}" / version / f"scala-{part}-{version}.jar"
        for part in ("compiler", "library", "reflect")
    ]
    output.mkdir()
    command = ["java", "-Xss16m", "-XX:TieredStopAtLevel=1", "-cp", os.pathsep.join(map(str, compiler))]
    command += ["scala.tools.nsc.Main", "-nowarn", "-classpath", classpath, "-d", str(output), *options]
    ended = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def java(places: Sequence[Path | str], arguments: Sequence[str | Path], folder: Path) -> str:
    """What a program on the class path `places` prints, run in `folder`; fails when it does."""
    command = ["java", "-Xss64m", "-XX:TieredStopAtLevel=1", "-cp", os.pathsep.join(map(str, places))]
    command += map(str, arguments)
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
