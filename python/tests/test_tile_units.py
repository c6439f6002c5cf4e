"""Every unit with commands and memory ports on a tile, unchanged, and what judges its answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import REPOSITORY, rw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from drx_random import of
from protobuf_programs import PROGRAMS
from tiers import long
from tile_conversions import Converter
from tile_programs import said, tiles_of

from rackwright import compile_program
from rackwright.compression import libsnappy, libz, libzstd
from rackwright.drx import Configuration, compile_kernel
from rackwright.protobuf.program import compile_service
from rackwright.tiles.hosting import tile_units
from rackwright.unit.aes import Cipher
from rackwright.unit.store import Oracle, Request, empty_region, responses

ON_TILES = REPOSITORY / "software" / "tiles"
PLAIN = (REPOSITORY / "ARCHITECTURE.md").read_bytes()[:6000]
ROOM = 2 * len(PLAIN)

DRX = {"lanes": 8, "scratchpad-kib": 4, "banks": 2, "instruction-kib": 4}
"""A small one, which is quick to compile."""

PROTOBUF = """
mesh: {width: 3, height: 1}
tiles:
  hart: {at: [0, 0], hart: true}
  serialize: {at: [1, 0], unit: protobuf-serialize}
  parse: {at: [2, 0], unit: protobuf-deserialize}
"""


def packed(form: str) -> bytes:
    """What the official library makes of the text."""
    match form:
        case "snappy":
            return libsnappy.compress(PLAIN)
        case "zstd":
            return libzstd.compress(PLAIN, write_checksum=1)
        case "deflate" | "zlib" | "gzip":
            return libz.compress(PLAIN, 6, form)
    raise AssertionError(form)


def restored(form: str, data: bytes) -> object:
    """What the official library makes of a unit's output."""
    match form:
        case "snappy":
            return libsnappy.decompress(data)
        case "zstd":
            return libzstd.decompress(data, len(PLAIN))
        case "deflate" | "zlib" | "gzip":
            return libz.decompress(data, form)[0]
    raise AssertionError(form)


def codec(unit: str, forms: dict[str, dict[str, int]], folder: Path) -> None:
    """A compressor or decompressor, and the settings of each of its formats."""
    tile = Converter(folder, unit)
    for form, settings in forms.items():
        if unit.endswith("-compress"):
            converted = tile.run(PLAIN, ROOM, **settings)
            assert converted.statuses == ["ok", "ok"], form
            assert len(converted.output) < len(PLAIN), form
            assert restored(form, converted.output) == PLAIN, form
        else:
            converted = tile.run(packed(form), ROOM, **settings)
            assert converted.statuses == ["ok", "malformed"], form
            assert converted.output == PLAIN, form


def stream_copy(folder: Path) -> None:
    """The whole and its half are what they were."""
    converted = Converter(folder, "stream-copy").run(PLAIN, ROOM)
    assert converted.statuses == ["ok", "ok"]
    assert converted.output == PLAIN


def aes(folder: Path) -> None:
    """GCM with additional data, as OpenSSL has it."""
    cipher = Cipher("gcm", bytes(range(32)), bytes(range(12)), aad_bytes=20)
    converted = Converter(folder, "aes").run(PLAIN, ROOM, **cipher.settings())
    assert converted.statuses == ["ok", "ok"]
    assert converted.output == AESGCM(cipher.key).encrypt(cipher.start, PLAIN[20:], PLAIN[:20])


def store(folder: Path) -> None:
    """Sets and gets, answered as by a dictionary."""
    names = [f"key {number}".encode() for number in range(20)]
    requests = [Request("set", name, PLAIN[place : 9 * place]) for place, name in enumerate(names)]
    requests += [Request("get", name, tag=tag) for tag, name in enumerate([*names, b"none"])]
    region = empty_region(1 << 16, 8, bytes(range(16)))
    asked = b"".join(request.encoded() for request in requests)
    converted = Converter(folder, "store").run(asked, ROOM, region=region)
    oracle = Oracle()
    assert converted.statuses[0] == "ok"
    assert responses(converted.output) == [oracle.answer(request) for request in requests]


def drx(folder: Path) -> None:
    """A kernel whose result is NumPy's; half of its program has no end."""
    inputs = [np.arange(600, dtype=np.int16) * factor for factor in (7, -3)]
    case = of(lambda x, y: 3 * x - y, inputs)
    program = compile_kernel(case.kernel, Configuration.of(DRX)).program.to_bytes()
    tile = Converter(folder, "drx", DRX)
    first, second = (data.tobytes() for data in inputs)
    converted = tile.run(program, inputs[0].nbytes, input1_address=first, input2_address=second)
    assert converted.statuses == ["ok", "malformed"]
    assert converted.output == (3 * inputs[0] - inputs[1]).tobytes()


def ordered_index(folder: Path) -> None:
    """Sums of ranges of keys; its tree is set before the tile is opened."""
    program = compile_program([ON_TILES / "ranges.c"])
    assert said(tiles_of(folder, "ordered-index"), program) == ["64 of 64", "malformed"]


def protobuf(folder: Path) -> None:
    """Both units write and read messages of the official library."""
    tiles = folder / "tiles.yaml"
    tiles.write_text(PROTOBUF)
    program = compile_service([ON_TILES / "messages.cpp"], PROGRAMS / "modern.proto")
    assert said(tiles, program) == ["6 of 6", "output_full", "malformed", "right"]


def commands(unit: str, told: str, folder: Path) -> None:
    """Each element is a command; the program knows what is right."""
    assert said(tiles_of(folder, unit), compile_program([ON_TILES / "commands.c"]), unit) == [told]


WRAPPERS = {form: {"format": code} for code, form in enumerate(("deflate", "zlib", "gzip"))}
ALGORITHMS = {"snappy": 0, "zstd": 1, "deflate": 4, "zlib": 5, "gzip": 6}
COMBINED = {form: {"algorithm": code} for form, code in ALGORITHMS.items()}

COPY = ("stream-copy",)
JUDGES: dict[tuple[str, ...], Callable[[Path], None]] = {
    COPY: stream_copy,
    ("snappy-compress",): partial(codec, "snappy-compress", {"snappy": {}}),
    ("snappy-decompress",): partial(codec, "snappy-decompress", {"snappy": {}}),
    ("zstd-compress",): partial(codec, "zstd-compress", {"zstd": {"checksum": 1}}),
    ("zstd-decompress",): partial(codec, "zstd-decompress", {"zstd": {}}),
    ("deflate-compress",): partial(codec, "deflate-compress", WRAPPERS),
    ("deflate-decompress",): partial(codec, "deflate-decompress", WRAPPERS),
    ("combined-compress",): partial(codec, "combined-compress", COMBINED),
    ("combined-decompress",): partial(codec, "combined-decompress", COMBINED),
    ("protobuf-serialize", "protobuf-deserialize"): protobuf,
    ("aes",): aes,
    ("store",): store,
    ("ordered-index",): ordered_index,
    ("gather",): partial(commands, "gather", "gather 1 0"),
    ("allocate",): partial(commands, "allocate", "allocate 1 1 0"),
    ("drx",): drx,
}
"""What judges the answers of each unit: an official library, NumPy, a dictionary, or the program."""

NOT_THERE = {
    "nic": "it has no commands: a driver writes its registers",
    "page-fault": "its requests and pages go over a network",
    "daronpon": "it has no commands: its requests are frames",
    "mesh": "it is what tiles are connected by",
    "crossbar": "it is a network",
    "traffic": "it is a part of the fabric",
}
"""Units that no tile can have, and why."""

PACKETS = {"network"}
"""Units whose elements are packets: test_tile_packets.py judges them."""

COMPILED = "each unit is compiled behind queues, for half a minute to three"


def test_every_unit_is_judged_on_a_tile_or_there_is_a_reason() -> None:
    listed = {row["name"]: row for row in rw("units", "--json").json()["units"]}
    judged = [unit for units in JUDGES for unit in units]
    assert sorted([*judged, *PACKETS, *NOT_THERE]) == sorted(listed)
    assert {*judged, *PACKETS} == set(tile_units())
    both = {unit for unit, row in listed.items() if {"command", "memory"} <= contracts(row)}
    assert both - {*judged} == {"page-fault"}


def contracts(row: dict[str, Any]) -> set[str]:
    """The contracts of a unit's ports."""
    return {str(port["contract"]) for port in row["ports"]}


@pytest.mark.parametrize(
    "units",
    [
        pytest.param(COPY, id="stream-copy"),
        *(long(units, why=COMPILED, name="-and-".join(units)) for units in JUDGES if units != COPY),
    ],
)
def test_a_unit_answers_on_a_tile_as_its_judge_does(units: tuple[str, ...], tmp_path: Path) -> None:
    JUDGES[units](tmp_path)
