"""Protobuf on a whole chip: its units and the official library have the same bytes of a message."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest
import yaml
from protobuf_samples import SAMPLES
from test_protobuf_official import official

from bootstrap.paths import REPOSITORY
from rackwright.machine.workload_file import WorkloadFile, header_of
from rackwright.soc import Soc, compose
from rackwright.soc.compare import run_modelled
from rackwright.soc.simulator import run_program
from rackwright.verification.protobuf_build import Builder
from rackwright.verification.protobuf_schema import Field, Kind, Message, Tables

SOURCE = Path(__file__).parent / "fixtures" / "soc_protobuf.c"
ARENA = 0xA3E4_A000
IMAGE = 0x8800_0000
"""Where the program copies the tables and the object to; both have pointers."""

INNER = Message("Inner", (Field(1, Kind.SINT64), Field(2, Kind.STRING)))
OUTER = Message(
    "Outer",
    (
        Field(1, Kind.INT32),
        Field(2, Kind.STRING),
        Field(3, Kind.BYTES),
        Field(4, Kind.UINT64, repeated=True, packed=True),
        Field(5, Kind.FIXED32, repeated=True),
        Field(6, Kind.MESSAGE, message=lambda: INNER),
        Field(7, Kind.MESSAGE, repeated=True, message=lambda: INNER),
        Field(8, Kind.STRING, repeated=True),
        Field(9, Kind.DOUBLE),
        Field(600, Kind.BOOL),
    ),
)
VALUE: dict[int, Any] = {
    1: -5,
    2: b"short",
    3: bytes(range(200)),
    4: SAMPLES[Kind.UINT64],
    5: [1, 2, 3],
    6: {1: -(1 << 40), 2: b"a text that does not lie within its object"},
    7: [{1: number, 2: b"x" * number} for number in range(20)],
    8: [b"", b"one", b"a longer one, beyond fifteen"],
    9: 1.5,
    600: True,
}


class Image:
    """Memory from a fixed address on."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def reserve(self, length: int, alignment: int) -> int:
        """The address of so many zeros."""
        start = -(-len(self.bytes) // alignment) * alignment
        self.bytes += bytes(start + length - len(self.bytes))
        return IMAGE + start

    def write(self, data: bytes, address: int) -> int:
        """Changes them."""
        self.bytes[address - IMAGE : address - IMAGE + len(data)] = data
        return address


def image() -> bytes:
    """The tables of `OUTER`, an object with `VALUE` and a new one, behind a list of where they are."""
    memory = Image()
    places = memory.reserve(40, 64)
    builder = Builder(memory, ARENA)
    table = Tables(memory.write, memory.reserve, builder.default_string).address(OUTER)
    with_values, fresh = builder.message(OUTER, VALUE), builder.message(OUTER, {})
    memory.write(struct.pack("<5Q", IMAGE, table, with_values, fresh, ARENA), places)
    memory.reserve(0, 64)
    return bytes(memory.bytes)


def workload(folder: Path) -> WorkloadFile:
    (folder / "image.bin").write_bytes(image())
    (folder / "official.bin").write_bytes(official(OUTER, VALUE).SerializeToString(deterministic=True))
    path = folder / "protobuf.yaml"
    files = {"image": "image.bin", "official": "official.bin"}
    path.write_text(yaml.safe_dump({"sources": [str(SOURCE)], "files": files}), encoding="utf-8")
    return WorkloadFile.load(path)


@pytest.mark.long("a quarter of an hour of a processor: a chip with large units is generated and compiled")
def test_the_hyperscale_chip_writes_and_reads_what_the_official_library_does(tmp_path: Path) -> None:
    soc = Soc.load(REPOSITORY / "examples" / "soc" / "hyperscale.yaml")
    folder = tmp_path / "hyperscale"
    compose(soc, folder)
    program = workload(tmp_path).build(header_of([folder / "hart0.h"]))
    modelled = run_modelled(soc, program)
    assert modelled.exit_code == 0
    alone = run_program(folder, program)
    assert alone.exit_code == 0
    print(alone.stdout, modelled.stdout.decode())
    without = re.compile(r" in \d+ cycles")
    assert without.sub("", alone.stdout) == without.sub("", modelled.stdout.decode())
    assert alone.stdout.endswith(" bytes are right\n")
    assert alone.cycles == pytest.approx(modelled.cycles, rel=0.15)
