"""Units as a generator of Chipyard: a folder with their wrapper in Chisel, their Verilog and software."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.paths import BUILD, SOC, SOFTWARE
from rackwright.errors import RackwrightError
from rackwright.export.memories import ExportedMemory, memories_of
from rackwright.export.scala import unit_value
from rackwright.files.output_folder import check_output, replaced
from rackwright.hardware.headers import server_header
from rackwright.hardware.manifests import is_elaborated, read_manifest
from rackwright.soc.check import PlacedUnit, placed_units
from rackwright.soc.directions import with_directions
from rackwright.soc.prefixes import by_content
from rackwright.soc.specification import unit_specification
from rackwright.soc.units import copy_verilog, unit_manifests
from rackwright.unit.config import SETS, UnitConfig

DESCRIPTION = "generator.json"
"""The file by which a folder of ours is known."""

_BESIDE = SOC / "src" / "main" / "scala" / "rackwright" / "soc" / "beside"
_OTHERS = SOC / "src" / "chipyard"
_PACKAGE = "package rackwright.soc\n"


@dataclass(frozen=True)
class Dialect:
    """A version of Chipyard: the files written for it, and its spelling of differences.

    `spelled` is the file with the differences, `above` how a configuration fragment reads the previous value,
    `config` the package of `Config`, `project` lines of `build.sbt` for the generator `NAME`.
    """

    name: str
    versions: str
    spelled: Path
    above: str
    config: str
    project: str


_PROJECT = """lazy val NAME = (project in file("generators/FOLDER"))
  .dependsOn(rocketchip)
  .settings(libraryDependencies ++= rocketLibDeps.value)
  .settings(commonSettings)
"""
_PROJECT_1_2 = """lazy val NAME = (project in file("generators/FOLDER"))
  .dependsOn(rocketchip)
  .settings(commonSettings)
"""

DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "1.2",
            "Chipyard 1.2 and others with Rocket Chip 1.2 and Chisel 3.2, as of 2020",
            _BESIDE / "Dialect.scala",
            "up(BuildRoCC, site)",
            "freechips.rocketchip.config",
            _PROJECT_1_2,
        ),
        Dialect(
            "current",
            "Chipyard of 2026, with Rocket Chip of that year and Chisel 6 or 7",
            _OTHERS / "current" / "Dialect.scala",
            "up(BuildRoCC)",
            "org.chipsalliance.cde.config",
            _PROJECT,
        ),
    )
}


@dataclass(frozen=True)
class Names:
    """What a generator is called: its folder, its package, and its fragment of configuration."""

    folder: str

    @property
    def package(self) -> str:
        """A word of small letters."""
        return self.folder.replace("-", "_")

    @property
    def config(self) -> str:
        """The class of the fragment of configuration."""
        return "With" + "".join(part.capitalize() for part in re.split("[-_]", self.folder))


def default_output(configs: Sequence[UnitConfig]) -> Path:
    """The default folder of a generator."""
    labels = [config.label for config in configs]
    wholes = [name for name, members in SETS.items() if list(members) == labels]
    return BUILD.parent / "out" / "chipyard" / "-".join(wholes or labels)


def write_generator(configs: Sequence[UnitConfig], dialect: str, output: Path) -> dict[str, Any]:
    """Writes the folder `output` of a generator with these units; returns the contents of `generator.json`.

    The folder's name is that of the generator. Raises `RackwrightError` for units without a RoCC interface,
    for an invalid name, and for a folder with other contents.
    """
    if dialect not in DIALECTS:
        raise RackwrightError(f"--dialect: there is none named {dialect}; there are {', '.join(DIALECTS)}")
    if re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", output.name) is None:
        raise RackwrightError(f"{output}: its name becomes that of a package: small letters, digits and -")
    check_output(output, DESCRIPTION, "`rw export chipyard`")
    units = list(placed_units("units", configs))
    manifests = unit_manifests(units)
    with replaced(output) as made:
        return _Generator(Names(output.name), DIALECTS[dialect], units, manifests, made).write()


@dataclass(frozen=True)
class _Generator:
    """A folder under construction."""

    names: Names
    dialect: Dialect
    units: Sequence[PlacedUnit]
    manifests: Sequence[Path]
    made: Path

    def write(self) -> dict[str, Any]:
        records = [with_directions(manifest, read_manifest(manifest)) for manifest in self.manifests]
        resources = self.made / "src" / "main" / "resources" / "vsrc"
        # Other generators of ours may be in the same Chipyard.
        verilog = copy_verilog(self.manifests, records, by_content(records), resources)
        self._write_scala(records, verilog)
        memories = list(self._memories(records, verilog))
        conf = "".join(f"{memory.line}\n" for memory in memories if memory.synchronous)
        (self.made / "memories.conf").write_text(conf, encoding="utf-8")
        software = self._write_software()
        (self.made / "README.md").write_text(self._readme(software), encoding="utf-8")
        description = {
            "dialect": self.dialect.name,
            "package": self.names.package,
            "configuration": f"{self.names.package}.{self.names.config}",
            "scala": sorted(path.name for path in self._scala.iterdir()),
            "verilog": [name for names in verilog.values() for name in names],
            "software": software,
            "memories": [memory.record() for memory in memories],
            "opcodes": [
                {"unit": unit.name, "opcode": route.opcode, "first": route.first, "last": route.last}
                for unit in self.units
                for route in unit.routes
            ],
        }
        (self.made / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
        return description

    @property
    def _scala(self) -> Path:
        return self.made / "src" / "main" / "scala"

    def _write_scala(
        self, records: Sequence[Mapping[str, Any]], verilog: Mapping[Path, Sequence[str]]
    ) -> None:
        """The logic beside a hart, as in our own chips, in a package of this generator."""
        self._scala.mkdir(parents=True)
        shared = [path for path in sorted(_BESIDE.glob("*.scala")) if path.name != self.dialect.spelled.name]
        for source in (*shared, self.dialect.spelled):
            text = source.read_text(encoding="utf-8")
            text = text.replace(_PACKAGE, f"package {self.names.package}\n", 1)
            (self._scala / source.name).write_text(text, encoding="utf-8")
        values = ",\n".join(
            unit_value(unit_specification(unit, record, prefix, verilog[manifest]))
            for unit, record, prefix, manifest in zip(
                self.units, records, by_content(records), self.manifests, strict=True
            )
        )
        text = _CONFIGURATION.format(
            package=self.names.package,
            config=self.names.config,
            called=", ".join(unit.name for unit in self.units),
            above=self.dialect.above,
            values=values,
        )
        (self._scala / f"{self.names.config}.scala").write_text(text, encoding="utf-8")

    def _memories(
        self, records: Sequence[Mapping[str, Any]], verilog: Mapping[Path, Sequence[str]]
    ) -> Iterator[ExportedMemory]:
        """The memories of units that we elaborate; a user's own Verilog is unchanged."""
        for manifest, record in dict(zip(self.manifests, records, strict=True)).items():
            if is_elaborated(dict(record)):
                for name in verilog[manifest]:
                    file = self.made / "src" / "main" / "resources" / "vsrc" / name
                    yield from memories_of(file.read_text(encoding="utf-8"))

    def _write_software(self) -> list[str]:
        """The header of the units, and a program; neither if a unit does not list its commands."""
        if not all(any(port.get("commands") for port in unit.ports) for unit in self.units):
            return []
        folder = self.made / "software"
        folder.mkdir()
        header, program = f"{self.names.package}.h", f"{self.names.package}.c"
        (folder / header).write_text(server_header(self.manifests), encoding="utf-8")
        shutil.copyfile(SOFTWARE / "include" / "rackwright" / "rocc.h", folder / "rocc.h")
        (folder / program).write_text(self._program(header), encoding="utf-8")
        return [header, program, "rocc.h"]

    def _program(self, header: str) -> str:
        """Reads the status of each unit that has the command `status`."""
        asked = []
        for unit in self.units:
            port = next(port for port in unit.ports if port["contract"] == "command")
            if any(command["name"] == "status" for command in port["commands"]):
                prefix = re.sub(r"\W", "_", unit.name).upper()
                asked.append(f"  failed += is_wrong(RACKWRIGHT_QUERY({prefix}_CUSTOM, {prefix}_STATUS));")
        return _PROGRAM.format(header=header, asked="\n".join(asked))

    def _readme(self, software: Sequence[str]) -> str:
        project = self.dialect.project.replace("NAME", self.names.package).replace(
            "FOLDER", self.names.folder
        )
        return _README.format(
            folder=self.names.folder,
            called=", ".join(unit.name for unit in self.units),
            versions=self.dialect.versions,
            project="".join(f"    {line}\n" for line in project.splitlines()),
            package=self.names.package,
            fragment=self.names.config,
            chip=f"{self.names.config.removeprefix('With')}Config",
            config=self.dialect.config,
            software="".join(f"- `software/{name}`\n" for name in software)
            or "- no software: see the guide\n",
        )


_CONFIGURATION = """package {package}

import freechips.rocketchip.subsystem.{{CacheBlockBytes, ExtMem}}
import freechips.rocketchip.tile.BuildRoCC

import Dialect.{{Config, LazyModule, Parameters}}

/** Puts {called} beside every hart.
  *
  * All memory that units reach is that behind the memory port; other addresses are answered with `fault`.
  */
class {config}
    extends Config((site, _, up) => {{
      case BuildRoCC =>
        {above} :+ {{ (p: Parameters) =>
          val memory = p(ExtMem).get.master
          val beside = LazyModule(
            new HartUnits({config}.units, RangeSpec(memory.base, memory.size), p(CacheBlockBytes))(p)
          )
          beside
        }}
    }})

/** The units, as their manifests describe them. */
object {config} {{
  val units: Seq[UnitSpec] = Seq(
{values}
  )
}}
"""

_PROGRAM = """/* Asks every unit for its status: 0 to 4, from ok to access fault. */
#include "rocc.h"

#include "{header}"

enum {{ MOST_STATUS = 4 }};

static int is_wrong(uint64_t status) {{ return status > MOST_STATUS; }}

/* The exit status is the number of units that do not answer as they should. */
int main(void) {{
  int failed = 0;
{asked}
  return failed;
}}
"""

_README = """# {folder}

{called} beside every hart, for {versions}. Written by Rackwright.

1. Put this folder into `generators/` of Chipyard.
2. Add a project to `build.sbt`, and `{package}` to what the project `chipyard` depends on:

{project}
3. Put a configuration into `generators/chipyard/src/main/scala/config/`:

       package chipyard

       class {chip} extends {config}.Config(
         new {package}.{fragment} ++ new RocketConfig)

4. `make CONFIG={chip}` in `sims/verilator`.

For programs, which need `mstatus.XS` to be on:

{software}
`memories.conf` lists the memories that can become macros, for `MacroCompiler` of Barstools. Their modules in
`src/main/resources/vsrc` have the ports that it writes: delete them there when macros take their place.
"""
