"""Whole chips: what is refused before Java begins, what is written, and the chip alone in Verilator."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from command_line import rw
from hypothesis import given
from hypothesis import strategies as st
from pcap_files import frames_of_pcap, frames_of_pcapng

from bootstrap.paths import REPOSITORY
from rackwright import (
    BareMetal,
    Cluster,
    Ethernet,
    RackwrightError,
    Server,
    Switch,
    compile_bare_metal,
    elaborate,
)
from rackwright.compression.libsnappy import compress
from rackwright.hardware.manifests import read_manifest
from rackwright.machine.programs import compile_network_program
from rackwright.machine.workload_file import WorkloadFile, header_of
from rackwright.soc import CacheConfig, HartConfig, Soc, checked, compose
from rackwright.soc.compare import Operation, operations, run_modelled
from rackwright.soc.directions import with_directions
from rackwright.soc.generator import generate
from rackwright.soc.pins import bus_pins, pins_of
from rackwright.soc.prefixes import by_content, by_number
from rackwright.soc.projects import constraints, core_file
from rackwright.soc.simulator import run_program, simulator
from rackwright.soc.software import interrupt_numbers, write_headers
from rackwright.soc.specification import specification
from rackwright.soc.units import copy_verilog
from rackwright.soc.value import AddressRange
from rackwright.unit.config import unit_configs
from rackwright.verilog.cores import read_core
from rackwright.verilog.modules import module_names, with_prefix
from rackwright.verilog.reader import VerilogDesign, VerilogSources

EXAMPLES = REPOSITORY / "examples" / "soc"
KERNEL_MAIN = Path(__file__).parent / "fixtures" / "soc_kernel.c"
OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog"
COUNTER = str(OWN / "manifest.json")
DMA = REPOSITORY / "examples" / "bring-your-own" / "axi" / "manifest.json"


def chip(folder: Path, *units: Any, **parts: Any) -> Path:
    """A file of a chip with these units beside its hart; `system` and others are added to what it says."""
    system = {"harts": [{"units": list(units)}], **parts.pop("system", {})}
    path = folder / "chip.yaml"
    path.write_text(yaml.safe_dump({"name": "chip", "system": system, **parts}), encoding="utf-8")
    return path


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_can_be_built(example: Path) -> None:
    assert bool(checked(Soc.load(example))) == (example.stem != "debug")
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text("name: chip\nsystem:\n  harts:\n    - units: []\n      units: [stream-copy]\n")
    with pytest.raises(RackwrightError, match=r"not YAML: units is there twice .*line 5"):
        Soc.load(path)


@pytest.mark.parametrize(
    ("name", "said"),
    [("2026-13-01", "month must be in"), ("0x_", "invalid literal"), ("[" * 3000, "too deeply")],
)
def test_values_that_yaml_cannot_make_are_told_in_one_line(tmp_path: Path, name: str, said: str) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(f"name: {name}\n", encoding="utf-8")
    with pytest.raises(RackwrightError, match=f"not YAML.*{said}"):
        Soc.load(path)


def test_units_of_one_opcode_are_told_apart_as_on_a_server(tmp_path: Path) -> None:
    units = checked(Soc.load(chip(tmp_path, "stream-copy", "protobuf", "stream-copy")))
    reached = {unit.name: [(way.opcode, way.first, way.last) for way in unit.routes] for unit in units}
    assert reached == {
        "stream-copy": [(2, 0, 31)],
        "protobuf-deserialize": [(2, 32, 63)],
        "protobuf-serialize": [(3, 0, 127)],
        "stream-copy-2": [(2, 64, 95)],
    }


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"pins": {"memory": {"base": 0x8000_0000, "size": 0x3000_0000}}}, "no power of two"),
        ({"pins": {"memory": {"base": 0x4000_0000, "size": 0x1000_0000}}}, "begins at 0x40000000"),
        ({"pins": {"memory": {"base": 0x8000_0000}}}, "has not both a base and a size"),
        (
            {"pins": {"devices": {"base": 0x0200_0000, "size": 0x1000}}},
            r"pins.devices \(0x2000000 to 0x2000fff\) overlaps the timer and software interrupts",
        ),
        (
            {"pins": {"devices": {"base": 0x8000_0000, "size": 0x1000}}},
            r"pins.memory \(.*\) overlaps pins.devices \(0x80000000",
        ),
        ({"pins": {"devices": {"base": 0x1000_0001, "size": 0x1000}}}, "no multiple of its size"),
        ({"harness": {"to_host": 0x8000_0000}}, r"harness.to_host: 0x80000000 .* pins.devices"),
        ({"harness": {"memory_cycles": 0}}, "harness.memory_cycles: 0 is not from 1"),
        ({"harness": {"dram": 3}}, "harness.dram is 3, not true or false"),
        ({"harness": {"console": 0x1000_1000}}, "harness.to_host and harness.console are both"),
        ({"system": {"bus_bits": 512}}, "bus_bits: 512 is none of 64, 128, 256"),
        ({"system": {"bus_bits": "wide"}}, "system.bus_bits is 'wide', not an integer"),
        ({"system": {"trackers": 0}}, "trackers: 0"),
        ({"system": {"clock_hz": "1e6"}}, "below the 10 MHz"),
        ({"system": {"clock_hz": "1e10"}}, "10000000000 is beyond the 32 bits of a device tree"),
        ({"system": {"clock_hz": float("inf")}}, "system.clock_hz is inf, not an integer"),
        ({"system": {"clock_hz": float("nan")}}, "system.clock_hz is nan, not an integer"),
        ({"system": {"data_cache": {"sets": 128}}}, "data_cache.sets: 128"),
        ({"system": {"instruction_cache": {"ways": 3}}}, "instruction_cache.ways: 3"),
        ({"system": {"caches": {}}}, "system has 'caches'"),
        ({"system": {"harts": []}}, "at least one hart"),
        ({"system": {"harts": [{"units": []}] * 9}}, "harts: 9, at most 8"),
        ({"system": {"harts": [{"unit": "nic"}]}}, r"system.harts\[0\] has 'unit'"),
        ({"system": {"harts": [{"units": "nic"}]}}, r"system.harts\[0\].units is not a list"),
        (
            {"system": {"harts": [{"translation": 1}]}},
            r"system.harts\[0\].translation is 1, not true or false",
        ),
        (
            {"system": {"harts": [{"units": [COUNTER], "translation": True}]}},
            r"harts\[0\].units\[0\]: .*: translation is for units of `./rw units`",
        ),
        ({"system": {"shared": ["nic"]}}, r"shared\[0\]: nic: its port mmio is mmio"),
        (
            {"system": {"shared": ["snappy", "stream-copy"]}},
            r"harts\[0\].units \(stream-copy\) and shared \(stream-copy\) both have custom-2",
        ),
        ({"pads": {}}, "it has 'pads'; there are name, pair, system, pins, harness"),
        ({"harness": {"link_cycles": 0}}, "harness.link_cycles: 0 is not from 1"),
        ({"pair": {"of": "nic.yaml"}}, "pair.joined_by is None, not a name"),
        ({"pair": {"of": "nic.yaml", "joined_by": "nic"}}, "system is said by the file of the system"),
        ({"name": "Chip 1"}, "name is 'Chip 1'"),
    ],
)
def test_what_cannot_be_names_the_places(parts: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match=said):
        checked(Soc.load(chip(tmp_path, "stream-copy", **parts)))


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("stream-cpoy", "no unit is named stream-cpoy"),
        ({"unit": "stream-copy", "parameters": {"depth": 4}}, "stream-copy has no parameter depth"),
        ({"unit": "stream-copy", "clock": 1}, "has 'clock'"),
        ("nic", "nic: its port mmio is mmio"),
        ("page-fault", "page-fault: its port network_out is stream"),
        ("absent.json", "absent.json: no such manifest"),
        (7, "is not a mapping"),
        ({"unit": COUNTER, "parameters": {"OUTSTANDING": 3}}, "OUTSTANDING must be 2, 4, 8 or 16"),
        ({"unit": COUNTER, "parameters": {"DEPTH": 3}}, "no parameter DEPTH; there are OUTSTANDING"),
    ],
)
def test_units_that_cannot_be_name_their_hart(unit: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match=rf"harts\[0\].units\[1\].*{said}"):
        checked(Soc.load(chip(tmp_path, "stream-copy", unit)))


def test_the_generator_gets_parameters_of_ones_own_unit_as_numbers(tmp_path: Path) -> None:
    soc = Soc.load(chip(tmp_path, {"unit": COUNTER, "parameters": {"OUTSTANDING": "2 + 2"}}))
    (unit,) = specification(soc, checked(soc), [read_manifest(Path(COUNTER))])["units"]
    assert unit["parameters"] == {"OUTSTANDING": 4}


@pytest.mark.parametrize(
    ("units", "parts", "said"),
    [
        (["mesh"], {}, r"^units\[0\]: mesh: has 0 ports for registers; a unit on the buses has one"),
        (
            ["stream-copy", COUNTER],
            {},
            r"^units\[1\]: .*its port command is command; there are mmio",
        ),
        ([str(DMA)], {"registers": 0x8000_0000}, r"pins.memory \(.*\) overlaps registers \(0x80000000 to"),
        ([str(DMA)], {"registers": 0x2000_0800}, r"registers: 0x20000800 to 0x200017ff are no pages"),
        ("stream-copy", {}, "system.units is not a list"),
    ],
)
def test_units_that_cannot_be_on_the_buses_name_their_place(
    units: Any, parts: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(RackwrightError, match=said):
        checked(Soc.load(chip(tmp_path, system={"units": units, **parts})))


def test_units_on_the_buses_have_pages_of_registers_in_their_order(tmp_path: Path) -> None:
    file = chip(tmp_path, "stream-copy", system={"units": [str(DMA), "stream-copy", str(DMA)]})
    units = checked(Soc.load(file))
    assert [(unit.name, unit.hart, unit.registers and unit.registers.base) for unit in units] == [
        ("stream-copy", 0, None),
        ("copy-dma", None, 0x2000_0000),
        ("stream-copy", None, 0x2000_1000),
        ("copy-dma-2", None, 0x2000_2000),
    ]
    shown = rw("soc", "check", file).stdout
    assert "copy-dma-2: registers at 0x20002000 to 0x20002fff, for all harts" in shown
    (tmp_path / "main.c").write_text("int main(void) { return 5; }\n", encoding="utf-8")
    program = compile_bare_metal([tmp_path / "main.c"], tmp_path / "main.elf")
    assert run_modelled(replace(Soc.load(file), harts=(HartConfig(),)), program).exit_code == 5


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (
            {"of": "hyperscale-chip.yaml", "joined_by": "nic"},
            "pair.of.*chip.yaml is a pair itself",
        ),
        ({"of": "dma.yaml", "joined_by": "nic"}, "pair.joined_by: nic is no unit on the buses"),
        ({"of": "dma.yaml", "joined_by": "stream-copy"}, "stream-copy has not one stream in each direction"),
        ({"of": "absent.yaml", "joined_by": "nic"}, "absent.yaml"),
    ],
)
def test_pairs_that_cannot_be_name_what_is_wrong(pair: dict[str, str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    of = str(EXAMPLES / pair["of"])
    path.write_text(yaml.safe_dump({"name": "both", "pair": {**pair, "of": of}}), encoding="utf-8")
    with pytest.raises(RackwrightError, match=said):
        checked(Soc.load(path))


def test_a_pair_of_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    path.write_text("name: both\npair: {of: pair.yaml, joined_by: nic}\n", encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"pair.of.*pair.yaml is a pair itself"):
        Soc.load(path)


def test_a_unit_that_translates_has_the_ports_of_its_elaboration() -> None:
    (unit,) = checked(replace(Soc("s"), harts=(HartConfig(tuple(unit_configs(["stream-copy"])), True),)))
    record = json.loads(elaborate("stream-copy", translation=True).read_text(encoding="utf-8"))
    found = {port["name"]: port for port in unit.ports if port["contract"] != "event"}
    made = {port["name"]: port for port in record["ports"] if port["contract"] != "event"}
    assert [each["funct"] for each in found["command"].pop("commands")] == [
        each["funct"] for each in made["command"].pop("commands")
    ]
    assert found == made
    assert [route.last for route in unit.routes] == [127]
    text = elaborate("stream-copy", translation=True).with_name("StreamCopyTranslated.sv").read_text("utf-8")
    assert not [pin for pin in pins_of(record) if not re.search(rf"\b{pin}\b", text)]


def test_a_comparison_is_of_one_program_without_arguments() -> None:
    chip, program = EXAMPLES / "nic.yaml", EXAMPLES / "ping.c"
    for further in (["--second", program], ["--", "172.16.0.3"]):
        ended = rw("soc", "run", chip, program, "--compare", *further)
        assert ended.status == 1
        assert ended.stderr.strip().endswith("programs on the models have no arguments and no second chip")


def test_a_program_that_is_none_is_refused_before_the_chip_is_generated(tmp_path: Path) -> None:
    chip, output = EXAMPLES / "tiny.yaml", tmp_path / "tiny"
    for program in (EXAMPLES / "copy.c", Path(sys.executable)):
        ended = rw("soc", "run", chip, program, "-o", output)
        assert ended.status == 1
        assert ended.stderr.strip().endswith(f"{program.name}: is no static ELF file for RV64")
        assert not output.exists()


def test_harts_share_units_by_their_commands(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLES / "shared.yaml")
    (unit,) = checked(soc)
    assert (unit.hart, unit.registers, [route.opcode for route in unit.routes]) == (None, None, [2])
    assert re.search(r"all\s+stream-copy\s+2\s+0 to 127", rw("soc", "check", EXAMPLES / "shared.yaml").stdout)
    assert list(write_headers(soc, [unit], [elaborate("stream-copy")], {}, tmp_path)) == ["shared.h"]
    compile_bare_metal(
        [EXAMPLES / "shared.c"], tmp_path / "shared.elf", [f"-I{tmp_path}", "-Wall", "-Werror"]
    )


def test_pins_of_a_port_in_axi_are_those_of_its_verilog() -> None:
    record = json.loads(DMA.read_text(encoding="utf-8"))
    (top,) = VerilogDesign(VerilogSources.of_manifest(DMA)).tops
    there = {pin.name: (pin.type.bitWidth, pin.direction.name == "In") for pin in top.body.portList}
    ports = [port for port in record["ports"] if port["contract"].startswith("axi4")]
    named = {pin.name: (pin.bits, pin.input) for port in ports for pin in bus_pins(port).values()}
    assert named == {name: pin for name, pin in there.items() if "axi" in name}
    reads = bus_pins({**ports[1], "direction": "read", "id_bits": 0, "naming": "upper"})
    assert {signal.split("_")[0] for signal in reads} == {"ar", "r"}
    assert "ar_bits_id" not in reads
    assert reads["r_bits_data"].name == "m_axi_gmem_RDATA"


TREE = """copy-dma@20000000 {
  compatible = "rackwright,copy-dma";
  interrupts = <3>;
  reg = <0x20000000 0x1000>;
};
"""


def test_a_header_has_registers_and_interrupts_of_units_on_the_buses(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLES / "dma.yaml")
    units = checked(soc)
    numbers = interrupt_numbers(units, TREE)
    manifests = [DMA, elaborate("stream-copy", command="mmio")]
    assert list(write_headers(soc, units, manifests, numbers, tmp_path)) == ["bus.h"]
    (tmp_path / "units.h").write_bytes((tmp_path / "bus.h").read_bytes())
    text = (tmp_path / "bus.h").read_text(encoding="utf-8")
    assert "#define COPY_DMA_INTERRUPT 3 " in text
    assert "#define STREAM_COPY_REGISTERS 0x20001000 " in text
    compile_bare_metal([EXAMPLES / "dma.c"], tmp_path / "dma.elf", [f"-I{tmp_path}", "-Wall", "-Werror"])
    with pytest.raises(RackwrightError, match="copy-dma: the device tree of the chip has no interrupts"):
        interrupt_numbers(units, TREE.replace("interrupts", "reg"))


def test_what_a_unit_includes_is_copied_beside_it(tmp_path: Path) -> None:
    copied = copy_verilog([DMA], [json.loads(DMA.read_text(encoding="utf-8"))], [""], tmp_path / "units")
    assert copied == {DMA: ["copy-dma/dma_pkg.sv", "copy-dma/CopyDma.sv"]}
    files = tuple(tmp_path / "units" / file for file in copied[DMA])
    again = VerilogSources(files, include=(files[0].parent,), top="CopyDma")
    assert [each for each in VerilogDesign(again).complaints if each.is_error] == []


def own_manifest(folder: Path, **changes: Any) -> Path:
    """The manifest of the guide's unit, changed, with its Verilog beside it."""
    record = json.loads((OWN / "manifest.json").read_text(encoding="utf-8"))
    (folder / "PopulationCount.sv").write_bytes((OWN / "PopulationCount.sv").read_bytes())
    path = folder / "manifest.json"
    path.write_text(json.dumps({**record, **changes}), encoding="utf-8")
    return path


def test_a_unit_of_ones_own_that_does_not_say_its_commands_has_its_opcode_alone(tmp_path: Path) -> None:
    record = json.loads((OWN / "manifest.json").read_text(encoding="utf-8"))
    del record["ports"][0]["commands"]
    manifest = own_manifest(tmp_path, ports=record["ports"])
    with pytest.raises(
        RackwrightError, match=r"units\[0\] \(population-count\) and .*\[1\] \(protobuf-ser.*custom-3"
    ):
        checked(Soc.load(chip(tmp_path, str(manifest), "protobuf-serialize")))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"idle": "asleep"}, "needs the pin asleep, which module PopulationCount does not have"),
        ({"top": "Count"}, "'Count' is not a valid top-level module"),
        (
            {"ports": [{"contract": "command", "name": "command", "opcodes": [3]}]},
            "the input read_request_ready of module PopulationCount is of no port in .*: nothing would drive",
        ),
        (
            {
                "ports": [
                    {"contract": "command", "name": "command", "opcodes": [3]},
                    {"contract": "memory", "name": "read", "bytes": 32, "tag_bits": 4},
                ]
            },
            "the pin read_request_bits_data has 256 bits by .*, but 128 in PopulationCount",
        ),
        (
            {
                "ports": [
                    {"contract": "command", "name": "command", "opcodes": [3]},
                    {"contract": "memory", "name": "read", "bytes": 16, "tag_bits": 4, "watch": True},
                ]
            },
            "its port read watches lines; there are command, memory, event, interrupt",
        ),
    ],
)
def test_verilog_that_is_not_what_its_manifest_says(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(RackwrightError, match=rf"harts\[0\].units\[0\].*{said}"):
        checked(Soc.load(chip(tmp_path, str(own_manifest(tmp_path, **changes)))))


def test_check_says_how_units_are_reached_or_what_is_wrong(tmp_path: Path) -> None:
    ended = rw("soc", "check", EXAMPLES / "tiny.yaml", "--json")
    assert ended.json() == {
        "legal": True,
        "witness": None,
        "top": "TinySoc",
        "opcodes": [{"unit": "stream-copy", "hart": 0, "opcode": 2, "first": 0, "last": 127}],
        "registers": [],
    }
    assert re.search(r"0\s+stream-copy\s+2\s+0 to 127", rw("soc", "check", EXAMPLES / "tiny.yaml").stdout)
    without = rw("soc", "check", EXAMPLES / "debug.yaml")
    assert without.stdout.strip() == "debug: 1 hart, buses of 64 bits, 0 units"
    wrong = chip(tmp_path, "nic")
    ended = rw("soc", "check", wrong, "--json")
    assert (ended.status, ended.json()["legal"]) == (1, False)
    assert "nic: its port mmio is mmio" in ended.json()["witness"]
    composed = rw("soc", "compose", wrong, "-o", tmp_path / "wrong", "--json")
    assert (composed.status, composed.json()) == (1, ended.json())
    ended = rw("soc", "check", wrong)
    assert (ended.status, len(ended.stderr.splitlines())) == (1, 1)


def test_checks_load_nothing_that_writes_chips_or_reads_verilog() -> None:
    code = "import sys, rackwright.soc; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    slow = {"pyslang", "rich.progress", "rackwright.soc.composition", "rackwright.synthesis.flow"}
    assert slow & set(loaded.split()) == set()
    assert "rackwright.soc.check" in loaded.split()


def test_a_folder_that_is_no_chip_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("all my work")
    with pytest.raises(RackwrightError, match="was not made by `rw soc compose`"):
        compose(Soc.load(EXAMPLES / "tiny.yaml"), tmp_path)
    with pytest.raises(RackwrightError, match="was not made by"):
        compose(Soc.load(EXAMPLES / "tiny.yaml"), tmp_path / "thesis.tex")
    with pytest.raises(RackwrightError, match=r"tiny: .*thesis\.tex is no folder that can be written to"):
        compose(Soc.load(EXAMPLES / "tiny.yaml"), tmp_path / "thesis.tex" / "chips" / "tiny")
    assert (tmp_path / "thesis.tex").read_text() == "all my work"


def test_modules_of_a_unit_have_its_name_before_theirs(tmp_path: Path) -> None:
    source = elaborate("stream-copy").with_name("StreamCopy.sv")
    before = source.read_text(encoding="utf-8")
    after = with_prefix(before, "own_")
    assert module_names(after) == [f"own_{name}" for name in module_names(before)]
    (tmp_path / "own.sv").write_text(after, encoding="utf-8")
    design = VerilogDesign(VerilogSources((tmp_path / "own.sv",), top="own_StreamCopy"))
    assert [complaint for complaint in design.complaints if complaint.is_error] == []
    # Every instance is of a module that is there: a module that is not would leave its place empty.
    instances = re.findall(r"^  (?:  )*(\w+) (?:#\(|\w+ \()", after, flags=re.MULTILINE)
    assert {name for name in instances if name in module_names(before)} == set()


def test_what_is_around_units_stays_when_the_contents_of_one_change() -> None:
    soc = Soc.load(EXAMPLES / "tiny.yaml")
    units = checked(soc)
    record = json.loads(elaborate("stream-copy").read_text(encoding="utf-8"))
    changed = {**record, "hash": "0" * len(record["hash"])}
    assert specification(soc, units, [record]) == specification(soc, units, [changed])
    assert by_number([record, changed, record]) == ["stream_copy_", "stream_copy_2_", "stream_copy_"]
    assert len(set(by_content([record, changed]))) == 2


@pytest.mark.parametrize(("port", "reads", "writes"), [("read", True, False), ("write", False, True)])
def test_a_port_that_only_reads_or_only_writes_is_known_by_its_verilog(
    port: str, reads: bool, writes: bool
) -> None:
    manifest = elaborate("stream-copy")
    found = with_directions(manifest, json.loads(manifest.read_text(encoding="utf-8")))
    (memory,) = (each for each in found["ports"] if each["name"] == port)
    assert (memory["reads"], memory["writes"]) == (reads, writes)


def test_ports_in_ones_own_verilog_read_and_write() -> None:
    found = with_directions(Path(COUNTER), read_manifest(Path(COUNTER)))
    memories = [port for port in found["ports"] if port["contract"] == "memory"]
    assert memories
    assert all(port["reads"] and port["writes"] for port in memories)


def test_a_generator_that_fails_says_its_first_cause() -> None:
    soc = Soc.load(EXAMPLES / "tiny.yaml")
    units = checked(soc)
    record = json.loads(elaborate("stream-copy").read_text(encoding="utf-8"))
    wrong = {**specification(soc, units, [record]), "trackers": 0}
    with pytest.raises(RackwrightError, match=r"^the generator: requirement failed") as raised:
        generate(wrong, soc.top)
    assert "\n" not in str(raised.value)


def test_fusesoc_finds_the_sources_of_a_chip(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLES / "tiny.yaml")
    harness = ["harness/board.h", "harness/main.cpp"]
    for name in ("TinySoc.v", *harness):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("module TinySoc; endmodule\n")
    (tmp_path / "tiny.core").write_text(core_file(soc, ["TinySoc.v"], [], harness), encoding="utf-8")
    for target in ("default", "simulation"):
        found = read_core(tmp_path / "tiny.core", target).sources
        assert ([file.name for file in found.files], found.top) == (["TinySoc.v"], "TinySoc")
    assert "-period 0.5000 [get_ports clock]" in constraints(soc)


def test_a_drawing_has_every_hart_and_unit(tmp_path: Path) -> None:
    path = tmp_path / "chip.svg"
    assert rw("soc", "draw", EXAMPLES / "hyperscale.yaml", "-o", path).status == 0
    texts = [text.text for text in ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")]
    units = checked(Soc.load(EXAMPLES / "hyperscale.yaml"))
    assert {"hart 0", "256 bits", "0x80000000", *(unit.name for unit in units)} <= set(texts)


def test_what_a_program_measures_is_paired_by_its_name() -> None:
    chip = "64 bytes in 96 cycles\nhello\nonly here in 3 cycles\n8 of 8 are right, in 1804 cycles\n"
    model = "64 bytes in 80 cycles\n8 of 8 are right, in 1804 cycles\n"
    found = list(operations(chip, model))
    assert found == [Operation("64 bytes", 96, 80), Operation("8 of 8 are right,", 1804, 1804)]
    assert [each.over_model for each in found] == [1.2, 1.0]


def copy_program(folder: Path, header: Path, source: str = "copy.c") -> Path:
    (folder / "units.h").write_bytes(header.read_bytes())
    return compile_bare_metal([EXAMPLES / source], folder / "copy.elf", [f"-I{folder}", "-Wall", "-Werror"])


@pytest.mark.long("generating and compiling a chip takes minutes")
def test_the_smallest_chip_alone_runs_the_program_that_the_engine_runs(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    description = compose(Soc.load(EXAMPLES / "tiny.yaml"), folder)
    assert description == json.loads((folder / "soc.json").read_text(encoding="utf-8"))
    assert all((folder / file).is_file() for file in [*description["files"], *description["headers"]])
    program = copy_program(tmp_path, folder / "hart0.h")
    alone = run_program(folder, program)
    modelled = Server("rocket", ["stream-copy"]).run(program)
    assert (alone.exit_code, modelled.exit_code) == (0, 0)
    sizes = [line.split()[0] for line in alone.stdout.splitlines()]
    assert sizes == [line.split()[0] for line in modelled.stdout.decode().splitlines()]
    assert run_program(folder, program).cycles == alone.cycles
    modelled = run_modelled(Soc.load(EXAMPLES / "tiny.yaml"), program)
    assert modelled.cycles == pytest.approx(alone.cycles, rel=0.15)
    assert run_program(folder, program, max_cycles=1000).exit_code is None
    with pytest.raises(RackwrightError, match="is no static ELF file"):
        run_program(folder, EXAMPLES / "copy.c")


@pytest.mark.long("generating and compiling a chip takes minutes")
def test_a_program_reaches_units_on_the_buses_and_takes_their_interrupts(tmp_path: Path) -> None:
    folder = tmp_path / "dma"
    description = compose(Soc.load(EXAMPLES / "dma.yaml"), folder)
    assert [(row["unit"], row["hart"]) for row in description["interrupts"]] == [("copy-dma", None)]
    assert {"name": "stream-copy", "base": 0x2000_1000, "size": 0x1000} in description["address_map"]
    ended = run_program(folder, copy_program(tmp_path, folder / "bus.h", "dma.c"))
    assert ended.exit_code == 0
    assert description["include"] == ["units/copy-dma"]
    assert re.fullmatch(r"DMA in \d+ cycles\ncopy unit in \d+ cycles\n", ended.stdout)


@pytest.mark.long("generating and compiling a chip takes minutes")
def test_operations_take_as_long_as_beside_the_model(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLES / "tiny.yaml")
    folder = tmp_path / "tiny"
    compose(soc, folder)
    program = copy_program(tmp_path, folder / "hart0.h", "states.c")
    alone, modelled = run_program(folder, program), run_modelled(soc, program)
    found = {each.name: each for each in operations(alone.stdout, modelled.stdout.decode())}
    assert len(found) == 5
    for each in found.values():
        assert each.over_model == pytest.approx(1, abs=0.1), each
    assert alone.cycles == pytest.approx(modelled.cycles, rel=0.15)


@pytest.mark.long("generating and compiling a chip takes minutes")
def test_eight_units_on_one_opcode_work_at_the_same_time(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLES / "eight-units.yaml")
    folder = tmp_path / "eight"
    compose(soc, folder)
    (tmp_path / "units.h").write_bytes((folder / "hart0.h").read_bytes())
    options = [f"-I{tmp_path}", "-Wall", "-Werror"]
    program = compile_bare_metal([EXAMPLES / "count.c"], tmp_path / "count.elf", options)
    alone, modelled = run_program(folder, program), run_modelled(soc, program)
    assert (alone.exit_code, modelled.exit_code) == (0, 0)
    assert alone.stdout.startswith("8 of 8 units are right")
    assert modelled.cycles == pytest.approx(alone.cycles, rel=0.15)


@pytest.mark.long("a quarter of an hour of a processor: a chip with large units is generated and compiled")
def test_the_hyperscale_chip_computes_what_the_engine_computes(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLES / "hyperscale.yaml")
    folder = tmp_path / "hyperscale"
    description = compose(soc, folder)
    program = compression_workload(tmp_path).build(header_of([folder / "hart0.h"]))
    assert {row["unit"] for row in description["opcodes"]} >= {"protobuf-serialize", "snappy-compress"}
    simulator(folder)
    before = os.times()
    alone = run_program(folder, program)
    seconds = os.times().children_user - before.children_user
    print(f"{alone.cycles / seconds / 1000:.1f} kHz by processor time")
    modelled = run_modelled(soc, program)
    assert (alone.exit_code, modelled.exit_code) == (0, 0)
    of_model = modelled.stdout.decode()
    for each in operations(alone.stdout, of_model):
        print(each, f"{each.over_model - 1:+.1%}")
    without = re.compile(r" in \d+ cycles")
    assert without.sub("", alone.stdout) == without.sub("", of_model)
    assert alone.cycles == pytest.approx(modelled.cycles, rel=0.15)
    # Other programs on this machine do not count.
    assert alone.cycles / seconds > 8000


def compression_workload(folder: Path) -> WorkloadFile:
    """The workload of `compression.c`, with a text that the official library has compressed."""
    text = (REPOSITORY / "LICENSE").read_bytes()[:8192]
    (folder / "plain.txt").write_bytes(text)
    (folder / "plain.snappy").write_bytes(compress(text))
    files = {"plain": "plain.txt", "compressed": "plain.snappy"}
    path = folder / "compression.yaml"
    path.write_text(yaml.safe_dump({"sources": [str(EXAMPLES / "compression.c")], "files": files}), "utf-8")
    return WorkloadFile.load(path)


PING = ["172.16.0.3", "3"]


def wire_of_servers(folder: Path) -> list[bytes]:
    """What two servers send each other that do the same."""
    answers = Server(workload=BareMetal("ping.elf"))
    switch = Switch("tor")
    switch.add_downlinks([Server(workload=BareMetal("ping.elf", [answers, PING[1]])), answers])
    capture = folder / "servers.pcapng"
    Cluster(switch, link=Ethernet(latency_us=0.1)).run(until_ms=1, pcap=capture, pcap_ports=["tor.port0"])
    return frames_of_pcapng(capture)


def ping_program(folder: Path) -> Path:
    options = ["-include", str(folder / "bus.h"), "-Wall", "-Werror"]
    return compile_network_program([EXAMPLES / "ping.c"], folder / "ping.elf", options)


@pytest.mark.long("generating and compiling a chip takes minutes, and two of it more")
def test_two_chips_send_what_two_servers_send(tmp_path: Path) -> None:
    folder = tmp_path / "nic"
    compose(Soc.load(EXAMPLES / "nic.yaml"), folder)
    program, capture = ping_program(folder), tmp_path / "chips.pcap"
    apart = run_program(folder, program, arguments=PING, second=program, frames=capture)
    assert (apart.exit_code, len(apart.stdout.split())) == (0, 3)
    frames = frames_of_pcap(capture)
    assert len(frames) == 2 + 2 * 3
    assert frames == wire_of_servers(tmp_path)
    # The same on one die: the link is a cycle shorter each way.
    pair = tmp_path / "pair.yaml"
    of = str(EXAMPLES / "nic.yaml")
    pair.write_text(
        yaml.safe_dump({"name": "both", "pair": {"of": of, "joined_by": "nic"}}), encoding="utf-8"
    )
    die = tmp_path / "both"
    assert compose(Soc.load(pair), die)["systems"] == 2
    joined = run_program(die, program, arguments=PING, second=program)
    assert joined.exit_code == 0
    assert [int(line) for line in joined.stdout.split()] == pytest.approx(
        [int(line) for line in apart.stdout.split()], rel=0.05
    )


@pytest.mark.long("generating and compiling a chip takes minutes")
def test_units_have_virtual_addresses_and_interrupts_in_supervisor_mode(tmp_path: Path) -> None:
    folder = tmp_path / "supervisor"
    description = compose(Soc.load(EXAMPLES / "supervisor.yaml"), folder)
    assert set(description["headers"]) == {"hart0.h", "bus.h"}
    options = [f"-I{folder}", "-Wall", "-Werror"]
    program = compile_bare_metal([EXAMPLES / "supervisor.c"], tmp_path / "supervisor.elf", options)
    ended = run_program(folder, program, 1_000_000)
    assert ended.exit_code == 0
    assert re.fullmatch(r"\d+ cycles for 8176 bytes\n", ended.stdout)


@pytest.mark.long("generating and compiling a chip of two harts takes minutes")
def test_two_harts_share_a_unit_and_each_gets_its_answers(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    assert compose(Soc.load(EXAMPLES / "shared.yaml"), folder)["headers"] == ["shared.h"]
    options = [f"-I{folder}", "-Wall", "-Werror"]
    program = compile_bare_metal([EXAMPLES / "shared.c"], tmp_path / "shared.elf", options)
    ended = run_program(folder, program, 5_000_000)
    assert ended.exit_code == 0
    assert ended.stdout.startswith("16 of 16 are right")
    run_kernels(folder, tmp_path)


KERNELS = REPOSITORY / "validation" / "coherence" / "kernels"


def run_kernels(folder: Path, work: Path) -> None:
    """The kernels with shared memory return on a chip of two harts what they return on Rocket's RTL."""
    with (KERNELS.parent / "reference.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["kernel"]: row for row in csv.DictReader(file) if row["harts"] == "2"}
    assert len(rows) >= 7
    for name, row in rows.items():
        sources = [KERNEL_MAIN, KERNELS / f"{name}.c"]
        options = [f"-I{KERNELS}", f"-I{EXAMPLES}", "-fno-tree-loop-distribute-patterns"]
        ended = run_program(folder, compile_bare_metal(sources, work / f"{name}.elf", options), 5_000_000)
        *values, cycles = ended.stdout.split()
        print(f"{name}: {cycles} cycles, {row['cycles']} on LitexFull4D")
        assert (ended.exit_code, values) == (0, row["values"].split()), name


UNITS = ("stream-copy", "snappy", "protobuf", "zstd", COUNTER, "nic", "page-fault")


SHARED = ("stream-copy", "aes", "nic")
ON_BUSES = ("stream-copy", "snappy", "nic")


@given(
    harts=st.lists(st.lists(st.sampled_from(UNITS), max_size=6), min_size=1, max_size=9),
    translation=st.booleans(),
    shared=st.lists(st.sampled_from(SHARED), max_size=2),
    on_buses=st.lists(st.sampled_from(ON_BUSES), max_size=2),
    registers=st.sampled_from((0x2000_0000, 0x2000_0001, 0x0BFF_F000)),
    bus_bits=st.sampled_from((64, 128, 256, 512)),
    trackers=st.integers(0, 65),
    sets=st.sampled_from((32, 64, 96)),
    base=st.sampled_from((0x0, 0x1000_0000, 0x2000_0000, 0x8000_0000)),
    size=st.sampled_from((0x1000, 0x1000_0000, 0x1800_0000)),
)
def test_a_random_chip_is_refused_in_one_line_or_reaches_every_unit(
    harts: list[list[str]],
    translation: bool,
    shared: list[str],
    on_buses: list[str],
    registers: int,
    bus_bits: int,
    trackers: int,
    sets: int,
    base: int,
    size: int,
) -> None:
    configs = [HartConfig(tuple(unit_configs(units)), translation) for units in harts]
    soc = Soc(
        "random",
        tuple(configs),
        tuple(unit_configs(shared)),
        tuple(unit_configs(on_buses)),
        registers=registers,
        bus_bits=bus_bits,
        trackers=trackers,
        data_cache=CacheConfig(sets=sets),
        devices=AddressRange(base, size),
        to_host=base,
        console=base + 8,
        uart=base + 0x1000,
    )
    units, refused = [], ""
    try:
        units = checked(soc)
    except RackwrightError as error:
        refused = str(error)
    if refused:
        where = "harts|shared|units|registers|bus_bits|trackers|data_cache|pins|harness"
        assert re.match(rf"({where}).*[^\n]$", refused)
        return
    assert bus_bits <= 256
    assert sets in (32, 64)
    reached: set[tuple[int, int, int]] = set()
    for unit in units:
        for route in unit.routes:
            by = range(len(harts)) if unit.hart is None else [unit.hart]
            functs = {
                (hart, route.opcode, funct) for hart in by for funct in range(route.first, route.last + 1)
            }
            assert functs
            assert not functs & reached
            reached |= functs
    pages = [unit.registers.base for unit in units if unit.registers is not None]
    assert pages == [registers + 0x1000 * place for place in range(len(soc.units))]
    assert len(units) == sum(len(config.units) for config in configs) + len(soc.shared) + len(pages)
