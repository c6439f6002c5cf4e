"""Compiles Scala by the compiler that Maven has brought, and runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

FOR_ROCKET_CHIP = ("-Xsource:2.11", "-language:reflectiveCalls")
"""Options with which sources for Chisel 3.2 are compiled."""

CHIPS = """
package elaborate

import freechips.rocketchip.config.{Config, Parameters}
import freechips.rocketchip.diplomacy.{LazyModule, ValName}
import freechips.rocketchip.prci.ClockGroupEphemeralNode
import freechips.rocketchip.subsystem.AsyncClockGroupsKey
import freechips.rocketchip.util.ElaborationArtefacts

// Rocket Chip has a node for all chips of a program, which has a place in one of them alone.
class Clocks {
  lazy val node = ClockGroupEphemeralNode()(ValName("async_clock_groups"))
}

class WithClocks(clocks: Clocks) extends Config((_, _, _) => {
  case AsyncClockGroupsKey => clocks.node
})

object Chips {
  def elaborate(config: Config)(made: Parameters => LazyModule): Unit = {
    val own = new Config(new WithClocks(new Clocks) ++ config)
    val chip = () => LazyModule(made(own.toInstance)).module
    println(chisel3.Driver.elaborate(chip).components.map(_.name).mkString(" "))
    // The artefacts of a chip hold all of it.
    ElaborationArtefacts.files = Nil
  }
}
"""
"""Scala that elaborates one chip after the other in a program, and prints the modules of each in a line."""

MEMORY = "-Xmx3g"
"""The heap of a program that elaborates chips."""


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
    options = [MEMORY, "-Xss64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command = ["java", *options, "-cp", os.pathsep.join(map(str, places)), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def written(folder: Path, *texts: str) -> list[Path]:
    """The sources `texts` in files of a folder."""
    files = [folder / f"source-{number}.scala" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return files
