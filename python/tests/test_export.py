"""Units as generators of Chipyard: what is in the folder, and whether versions of Rocket Chip compile it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import rw
from scala_compiler import CHIPS, FOR_ROCKET_CHIP, java, scalac, written

from bootstrap.paths import HARDWARE_CLASSPATH, REPOSITORY, SOC, SOC_CLASSPATH
from rackwright import RackwrightError, Server, compile_bare_metal
from rackwright.export.chipyard import default_output, write_generator
from rackwright.export.memories import memories_of
from rackwright.export.scala import literal
from rackwright.hardware.designs import units
from rackwright.soc.ports import hart_ports
from rackwright.unit.config import UnitConfig, unit_configs

OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"
SIGNATURES = SOC / "src" / "chipyard" / "current" / "Signatures.scala"


def exported(folder: Path, *units: str, dialect: str = "current") -> Path:
    """The generator `folder/count` with these units."""
    write_generator(unit_configs(units), dialect, folder / "count")
    return folder / "count"


def test_a_generator_has_all_that_chipyard_needs(tmp_path: Path) -> None:
    ended = rw("export", "chipyard", "stream-copy", OWN, "-o", tmp_path / "two-units", "--json")
    record: dict[str, Any] = ended.json()
    folder = tmp_path / "two-units"
    assert record.pop("folder") == str(folder)
    assert record == json.loads((folder / "generator.json").read_text(encoding="utf-8"))
    assert record["configuration"] == "two_units.WithTwoUnits"
    assert [row["unit"] for row in record["opcodes"]] == ["stream-copy", "population-count"]
    sources = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.scala")}
    assert sorted(sources) == record["scala"]
    assert all(text.startswith("package two_units\n") for text in sources.values())
    units = sources["WithTwoUnits.scala"]
    # Every black box finds its module in a resource that is there.
    for module in re.findall(r'module = "(\w+)"', units):
        files = [folder / "src/main/resources/vsrc" / name for name in record["verilog"]]
        assert sum(f"module {module}" in file.read_text(encoding="utf-8") for file in files) == 1
    assert all(literal(name) in units for name in record["verilog"])
    assert (
        'lazy val two_units = (project in file("generators/two-units"))' in (folder / "README.md").read_text()
    )


def test_the_program_of_a_generator_finds_every_unit(tmp_path: Path) -> None:
    software = exported(tmp_path, "stream-copy", str(OWN)) / "software"
    program = compile_bare_metal([software / "count.c"], tmp_path / "count.elf", ["-Wall", "-Werror"])
    assert "STREAM_COPY_STATUS" in (software / "count.c").read_text(encoding="utf-8")
    assert Server("functional", ["stream-copy", OWN]).run(program).exit_code == 0


MEMORY = """module memory_2x8(
  input        R0_addr,
               R0_en,
               R0_clk,
  output [7:0] R0_data,
  input        W0_addr,
               W0_en,
               W0_clk,
  input  [7:0] W0_data,
  input  [1:0] W0_mask
);

  reg [7:0] Memory[0:1];
  reg       _R0_en_d0;
endmodule
"""


def test_memories_are_listed_as_firtool_lists_those_that_are_replaced() -> None:
    (memory,) = memories_of(MEMORY)
    assert memory.line == "name memory_2x8 depth 2 width 8 ports mwrite,read mask_gran 4"
    assert memory.synchronous
    (unmasked,) = memories_of(MEMORY.replace("W0_data,\n  input  [1:0] W0_mask", "W0_data"))
    assert unmasked.line == "name memory_2x8 depth 2 width 8 ports write,read"


@pytest.mark.parametrize(
    ("units", "dialect", "folder", "said"),
    [
        (["nic"], "current", "nic", r"units\[0\]: nic: its port mmio is mmio"),
        (
            ["stream-copy", "page-fault"],
            "1.2",
            "two",
            r"units\[1\]: page-fault: its port network_out is stream",
        ),
        (["stream-copy"], "1.3", "one", "--dialect: there is none named 1.3; there are 1.2, current"),
        (["stream-copy"], "1.2", "One", "small letters"),
    ],
)
def test_what_cannot_be_exported_is_one_line(
    units: list[str], dialect: str, folder: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(RackwrightError, match=said):
        write_generator(unit_configs(units), dialect, tmp_path / folder)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "count").mkdir()
    (tmp_path / "count" / "thesis.tex").write_text("all my work")
    with pytest.raises(RackwrightError, match="was not made by `rw export chipyard`"):
        exported(tmp_path, "stream-copy")
    assert default_output(unit_configs(["snappy"])).name == "snappy"
    assert default_output([UnitConfig("stream-copy"), UnitConfig("nic")]).name == "stream-copy-nic"


@pytest.mark.long("half a minute of a processor: the Scala compiler with Chisel")
def test_the_current_dialect_compiles_against_the_committed_signatures(tmp_path: Path) -> None:
    folder = exported(tmp_path, "stream-copy", str(OWN))
    classpath = HARDWARE_CLASSPATH.read_text(encoding="utf-8").strip()
    scalac("2.13.16", classpath, [SIGNATURES, *folder.rglob("*.scala")], tmp_path / "classes")


def exportable() -> list[str]:
    """The units of the index that harts reach by commands, and whose other ports reach memory."""
    found = []
    for unit in units():
        try:
            hart_ports("", UnitConfig(unit.name))
        except RackwrightError:
            continue
        found.append(unit.name)
    return found


@pytest.mark.long("two minutes of a processor: every unit is elaborated, and Scala compiled for each")
def test_the_wrapper_of_every_unit_compiles_in_the_current_dialect(tmp_path: Path) -> None:
    names, files = generators(tmp_path, "current")
    classpath = HARDWARE_CLASSPATH.read_text(encoding="utf-8").strip()
    scalac("2.13.16", classpath, [SIGNATURES, *files], tmp_path / "classes")
    made = {path.stem.split("$")[0] for path in (tmp_path / "classes").rglob("With*.class")}
    assert len(made) == len(names)


def generators(folder: Path, dialect: str) -> tuple[list[str], list[Path]]:
    """A generator `a-UNIT` for each unit that can be exported; returns the units and the sources of all."""
    names = exportable()
    assert {"stream-copy", "snappy-compress", "zstd-decompress", "protobuf-serialize"} <= set(names)
    for name in names:
        write_generator(unit_configs([name]), dialect, folder / f"a-{name}")
    return names, list(folder.rglob("*.scala"))


ELABORATE = """
package elaborate

import freechips.rocketchip.config.Config
import freechips.rocketchip.devices.tilelink.BootROMParams
import freechips.rocketchip.system.{DefaultConfig, ExampleRocketSystem}

class WithRom(file: String) extends Config((_, _, _) => {
  case BootROMParams => BootROMParams(contentFileName = file)
})

object Elaborate {
  def main(arguments: Array[String]): Unit = arguments.tail.foreach { fragment =>
    val units = Class.forName(fragment).getDeclaredConstructor().newInstance().asInstanceOf[Config]
    val config = new Config(units ++ new WithRom(arguments.head) ++ new DefaultConfig)
    Chips.elaborate(config)(new ExampleRocketSystem()(_))
  }
}
"""


def elaborated(folder: Path, files: list[Path], places: list[Path], fragments: list[str]) -> list[set[str]]:
    """The modules of Rocket Chip's example with each of these fragments, compiled from `files`."""
    (folder / "rom.img").write_bytes(bytes(64))
    classpath = SOC_CLASSPATH.read_text(encoding="utf-8").strip()
    sources = [*written(folder, CHIPS, ELABORATE), *files]
    scalac("2.12.15", classpath, sources, folder / "classes", *FOR_ROCKET_CHIP)
    resources = [place / "src" / "main" / "resources" for place in places]
    arguments: list[Path | str] = ["elaborate.Elaborate", folder / "rom.img", *fragments]
    lines = java([folder / "classes", *resources, classpath], arguments, folder).splitlines()
    return [set(line.split()) for line in lines if "HartUnits" in line]


@pytest.mark.long("a minute of a processor: Rocket Chip is compiled against and elaborated")
def test_dialect_1_2_elaborates_with_rocket_chip_1_2_6(tmp_path: Path) -> None:
    folder = exported(tmp_path, "stream-copy", str(OWN), dialect="1.2")
    files = list(folder.rglob("*.scala"))
    (modules,) = elaborated(tmp_path, files, [folder], ["count.WithCount"])
    assert {"PopulationCount", "HartUnits", "LinePort"} <= modules
    assert any(name.endswith("_StreamCopy") for name in modules)


@pytest.mark.long("three minutes of a processor: every unit is elaborated, by itself and in Rocket Chip")
def test_the_wrapper_of_every_unit_elaborates_in_dialect_1_2(tmp_path: Path) -> None:
    names, files = generators(tmp_path, "1.2")
    descriptions = [
        json.loads((tmp_path / f"a-{name}" / "generator.json").read_text("utf-8")) for name in names
    ]
    fragments = [description["configuration"] for description in descriptions]
    found = elaborated(tmp_path, files, [tmp_path / f"a-{name}" for name in names], fragments)
    assert len(found) == len(names)
    for name, modules in zip(names, found, strict=True):
        wrapper = (tmp_path / f"a-{name}").rglob("With*.scala")
        (module,) = re.findall(r'module = "(\w+)"', next(wrapper).read_text(encoding="utf-8"))
        assert {module, "HartUnits", "LinePort"} <= modules, name
