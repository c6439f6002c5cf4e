"""Headers are what manifests say, and programs that use them reach their units.

`pytest tests/test_headers.py --update-docs` makes those of the product's software again.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from test_combined_compress import SMALL as SMALL_COMPRESS
from test_combined_decompress import SMALL as SMALL_DECOMPRESS

from bootstrap.paths import HARDWARE, REPOSITORY, SOFTWARE
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue, elaborate
from rackwright.hardware.headers import HeaderUnit, library_header, registers_header, server_header
from rackwright.hardware.registers import register_map, register_rows
from rackwright.unit.commands import STATUS_NAMES

LIBRARY: dict[str, list[tuple[str, dict[str, ParameterValue], str | None]]] = {
    "snappy/snappy_commands.h": [("snappy-compress", {}, "SNAPPY"), ("snappy-decompress", {}, "SNAPPY")],
    "compression/unit_commands.h": [
        ("combined-compress", {**SMALL_COMPRESS}, "UNIT"),
        ("combined-decompress", {**SMALL_DECOMPRESS}, "UNIT"),
        ("deflate-compress", {}, None),
        ("deflate-decompress", {}, None),
    ],
    "protobuf/protobuf_commands.h": [
        ("protobuf-deserialize", {}, "DESERIALIZE"),
        ("protobuf-serialize", {}, "SERIALIZE"),
    ],
    "remote-memory/page_fault_commands.h": [("page-fault", {}, None)],
    "include/rackwright/allocate_commands.h": [("allocate", {}, None)],
    "include/rackwright/gather_commands.h": [("gather", {}, None)],
    "include/rackwright/store_commands.h": [("store", {}, None)],
    "include/rackwright/ordered_commands.h": [("ordered-index", {}, None)],
}
"""The headers of the product's software: units, their parameters, and what constants begin with.

Sizes change no command. Those of units with input in pieces are as other tests compile them.
"""


@pytest.mark.parametrize("path", LIBRARY)
def test_the_headers_of_our_software_are_made_of_manifests(path: str, request: pytest.FixtureRequest) -> None:
    units = [
        HeaderUnit(elaborate(unit, given, assertions=bool(given)), prefix)
        for unit, given, prefix in LIBRARY[path]
    ]
    check_library(path, units, request)


def test_the_commands_of_a_tile_are_those_of_the_hardware(request: pytest.FixtureRequest) -> None:
    manifest = elaborate("stream-copy", command="queue", translation=True)
    units = [HeaderUnit(manifest, "TILE", name="tile")]
    check_library("include/rackwright/endpoint_commands.h", units, request)


def check_library(path: str, units: list[HeaderUnit], request: pytest.FixtureRequest) -> None:
    """Compares, or makes again, a header in software/."""
    guard = f"RACKWRIGHT_{Path(path).stem.upper()}_H"
    made = library_header(units, guard)
    if request.config.getoption("--update-docs"):
        (SOFTWARE / path).write_text(made, encoding="utf-8")
    assert (SOFTWARE / path).read_text(encoding="utf-8") == made


REGISTERS: dict[str, tuple[str, str, str]] = {
    "network/nic_registers.h": ("the network interface", "NIC", "nic"),
    "include/rackwright/command_registers.h": ("a queue of commands", "RACKWRIGHT_REGISTER", "adapter"),
    "include/rackwright/tile_registers.h": ("a tile with a unit", "RW_TILE_REGISTER", "queue"),
    "include/rackwright/traffic_registers.h": ("the unit `traffic`", "RW_TRAFFIC_REGISTER", "pcie"),
    "include/rackwright/mover_registers.h": ("a stream behind a mover", "RW_MOVER_REGISTER", "mover"),
    "include/rackwright/network_registers.h": ("the unit `network`", "RW_NETWORK_REGISTER", "internet"),
}
"""Headers of registers: what has them, what constants begin with, and the folder of their map."""


@pytest.mark.parametrize("path", REGISTERS)
def test_the_registers_of_our_software_are_those_of_the_hardware(
    path: str, request: pytest.FixtureRequest
) -> None:
    name, prefix, folder = REGISTERS[path]
    made = registers_header(name, prefix, register_map(folder), f"RACKWRIGHT_{Path(path).stem.upper()}_H")
    if request.config.getoption("--update-docs"):
        (SOFTWARE / path).write_text(made, encoding="utf-8")
    assert (SOFTWARE / path).read_text(encoding="utf-8") == made


def test_a_unit_with_registers_has_them_in_its_header() -> None:
    found = constants(server_header([elaborate("nic", {"virtio": 1})]))
    assert (found["NIC_RATE"], found["NIC_RATE_PERIOD_BIT"], found["NIC_WINDOW_LAST"]) == (0x38, 16, 0x8C0)
    assert found["NIC_REGISTERS"] % 0x1000 == 0


_TABLE = re.compile(r"<!-- registers: (?P<folder>\S+) -->\n.*?<!-- end of registers -->\n", re.DOTALL)
PAGES = [
    page
    for page in sorted((HARDWARE / "src" / "main" / "scala").rglob("README.md"))
    if _TABLE.search(page.read_text(encoding="utf-8"))
]


def with_tables(text: str) -> str:
    """A page with its tables of registers as the maps have them."""

    def table(match: re.Match[str]) -> str:
        folder = match["folder"]
        rows = [["offset", "name", "access", ""], ["---"] * 4, *register_rows(register_map(folder))]
        lines = "".join(f"| {' | '.join(row)} |\n" for row in rows)
        return f"<!-- registers: {folder} -->\n{lines}<!-- end of registers -->\n"

    return _TABLE.sub(table, text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_pages_have_the_registers_of_the_hardware(page: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text(encoding="utf-8")
    if request.config.getoption("--update-docs"):
        page.write_text(with_tables(text), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == with_tables(text)


def test_every_map_is_on_a_page() -> None:
    maps = (HARDWARE / "src" / "main" / "resources" / "rackwright").rglob("registers.json")
    assert len(PAGES) == len(list(maps))


def test_statuses_are_those_of_the_hardware() -> None:
    record = json.loads(elaborate("stream-copy").read_text(encoding="utf-8"))
    (port,) = (port for port in record["ports"] if port["contract"] == "command")
    assert port["statuses"] == list(STATUS_NAMES)
    header = (SOFTWARE / "include" / "rackwright" / "status.h").read_text(encoding="utf-8")
    numbers = {name.lower(): int(value) for name, value in re.findall(r"RACKWRIGHT_(\w+) = (\d)", header)}
    assert numbers == {name: number for number, name in enumerate(STATUS_NAMES)}


def constants(header: str) -> dict[str, int]:
    """The numbers that a header defines, by name."""
    return {name: int(value, 0) for name, value in re.findall(r"#define (\w+) (\w+)", header)}


def test_units_of_one_opcode_have_numbers_of_their_own() -> None:
    names = ("snappy-decompress", "zstd-decompress", "deflate-decompress", "combined-decompress")
    found = constants(server_header([elaborate(name) for name in names]))
    firsts = [found[f"{name.upper().replace('-', '_')}_SFENCE"] for name in names]
    assert firsts == [0, 32, 64, 96]
    assert {found[f"{name.upper().replace('-', '_')}_CUSTOM"] for name in names} == {0}
    assert found["ZSTD_DECOMPRESS_STATUS"] == 32 + 17
    assert (found["SNAPPY_DECOMPRESS_FAULT"], found["COMBINED_DECOMPRESS_FAULT"]) == (31, 127)


def test_what_a_manifest_of_ones_own_says_is_c(tmp_path: Path) -> None:
    manifest = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"
    assert constants(server_header([manifest]))["POPULATION_COUNT_RESULT"] == 1
    odd = json.loads(manifest.read_text(encoding="utf-8"))
    odd["ports"][0]["commands"][0]["rs1"] = "ends */ here\nand goes on"
    (tmp_path / "manifest.json").write_text(json.dumps(odd), encoding="utf-8")
    assert "/* rs1: ends * / here and goes on, rs2: bytes */" in server_header([tmp_path / "manifest.json"])
    odd["ports"][0]["commands"][0]["name"] = "1 + 1"
    (tmp_path / "manifest.json").write_text(json.dumps(odd), encoding="utf-8")
    with pytest.raises(RackwrightError, match="'1 \\+ 1' can't be a part of a constant"):
        server_header([tmp_path / "manifest.json"])


def test_a_unit_that_says_nothing_of_its_commands_has_no_header() -> None:
    manifest = Path(__file__).parent / "fixtures" / "moody.json"
    with pytest.raises(RackwrightError, match="does not say which commands moody has"):
        server_header([manifest])
