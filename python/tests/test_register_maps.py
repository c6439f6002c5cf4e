"""Register maps in SystemRDL, read into manifests and written from them; its own compiler is the judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import rw
from systemrdl.compiler import RDLCompiler

from bootstrap.paths import REPOSITORY
from rackwright import RackwrightError
from rackwright.hardware.registers import RegisterMap, register_map
from rackwright.verilog.register_maps import read_register_map, write_register_map

AXI = REPOSITORY / "examples" / "bring-your-own" / "axi"

MAP = """
reg status_t {
    regwidth = 32;
    desc = "How the last
            copy ended.";
    field { sw = r; hw = w; } busy[0:0] = 0;
    field { sw = r; hw = w; desc = "4 is an access fault"; } code[7:4] = 0x3;
};
addrmap dma {
    default regwidth = 32;
    reg { field { sw = rw; hw = r; } start[0:0] = 0; } control @ 0x0;
    status_t status @ 0x4;
    reg { field { sw = w; hw = r; } value[31:0] = 0; } doorbell[4] @ 0x10 += 0x8;
    regfile {
        reg { field { sw = r; hw = w; counter; } value[31:0] = 0; } bytes @ 0x0;
        reg { regwidth = 16; field { sw = rw; hw = r; } value[15:0] = 0xbeef; } limit @ 0x4;
    } channel[2] @ 0x40 += 0x10;
};
"""

ROWS = [
    {"name": "control", "offset": 0, "fields": [{"name": "start", "bit": 0, "bits": 1}]},
    {
        "name": "status",
        "offset": 4,
        "access": "read",
        "reset": 0x30,
        "meaning": "How the last copy ended.",
        "fields": [
            {"name": "busy", "bit": 0, "bits": 1},
            {"name": "code", "bit": 4, "bits": 4, "meaning": "4 is an access fault"},
        ],
    },
    {"name": "doorbell", "offset": 0x10, "count": 4, "stride": 8, "access": "write"},
    {"name": "channel_0_bytes", "offset": 0x40, "access": "read", "counter": True},
    {"name": "channel_0_limit", "offset": 0x44, "bits": 16, "reset": 0xBEEF},
    {"name": "channel_1_bytes", "offset": 0x50, "access": "read", "counter": True},
    {"name": "channel_1_limit", "offset": 0x54, "bits": 16, "reset": 0xBEEF},
]


@pytest.fixture
def map_file(tmp_path: Path) -> Path:
    path = tmp_path / "dma.rdl"
    path.write_text(MAP)
    return path


def test_registers_arrays_groups_and_fields_are_read(map_file: Path) -> None:
    assert read_register_map(map_file, 4) == ROWS


@pytest.mark.parametrize(
    ("changed", "by", "said"),
    [
        ("sw = w;", "sw = sometimes;", r"dma.rdl:\d+: .*sometimes"),
        (
            "regfile {",
            "external mem { mementries = 4; memwidth = 32; } scratch @ 0x80; regfile {",
            "scratch is a memory",
        ),
        (
            "} channel[2]",
            "reg { regwidth = 64; field {} whole[63:0]; } wide @ 0x8; } channel[2]",
            "channel_0_wide has 64 bits, registers of the port 32",
        ),
        ("@ 0x4;", "@ 0x0;", r"dma.rdl:\d+: .*overlap"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(map_file: Path, changed: str, by: str, said: str) -> None:
    map_file.write_text(MAP.replace(changed, by, 1))
    with pytest.raises(RackwrightError, match=said) as raised:
        read_register_map(map_file, 4)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("folder", ["nic", "nic/virtio"])
def test_maps_of_our_units_come_back_as_they_were(folder: str, tmp_path: Path) -> None:
    """What `--rdl` writes is SystemRDL by the official compiler, and read again says the same."""
    registers = register_map(folder)
    path = tmp_path / "unit.rdl"
    path.write_text(write_register_map(folder.replace("/", "-"), registers, 8))
    RDLCompiler().compile_file(str(path))
    again = RegisterMap(read_register_map(path, 8))
    assert list(again) == list(registers)
    for one, other in zip(again.values(), registers.values(), strict=True):
        assert (one.offset, one.access, one.fields, one.count) == (
            other.offset,
            other.access,
            other.fields,
            other.count,
        )


def test_the_command_line_takes_a_map_and_writes_one(tmp_path: Path) -> None:
    made, manifest, back = tmp_path / "dma.rdl", tmp_path / "manifest.json", tmp_path / "back.rdl"
    assert rw("units", AXI / "manifest.json", "--rdl", made).status == 0
    files = AXI / "rtl" / "files.f"
    assert rw("units", "scan", files, "--registers", made, "-o", manifest).status == 0
    port = json.loads(manifest.read_text())["ports"][0]
    assert [row["name"] for row in port["registers"]][:2] == ["control", "source"]
    assert rw("units", manifest, "--rdl", back).status == 0
    lines = (made.read_text().splitlines()[3:], back.read_text().splitlines()[3:])
    assert lines[0] == lines[1]


def test_a_unit_without_registers_has_no_map(tmp_path: Path) -> None:
    refused = rw("units", "snappy-decompress", "--rdl", tmp_path / "unit.rdl")
    assert (refused.status, refused.stderr) == (
        1,
        "rw: snappy-decompress: its manifest names no registers\n",
    )
