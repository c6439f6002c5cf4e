"""Units on tiles by their own commands: those without the commands of streams, and one by its manifest."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import REPOSITORY, rw
from protobuf_programs import PROGRAMS
from tile_programs import said, tiles_of

from rackwright import RackwrightError, compile_program
from rackwright.hardware.designs import Elaboration, elaborate_all, units
from rackwright.protobuf.program import compile_service
from rackwright.tiles import read_layout
from rackwright.tiles.hosting import tile_units

COMMANDS = REPOSITORY / "software" / "tiles" / "commands.c"
MESSAGES = COMMANDS.with_name("messages.cpp")
EXAMPLES = REPOSITORY / "examples" / "tiles"
OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"

PROTOBUF = """
mesh: {width: 3, height: 1}
tiles:
  hart: {at: [0, 0], hart: true}
  serialize: {at: [1, 0], unit: protobuf-serialize}
  parse: {at: [2, 0], unit: protobuf-deserialize}
"""

NOT_THERE = {
    "nic": "it has no commands: a driver writes its registers",
    "page-fault": "its requests and pages go over a network",
    "daronpon": "it has no commands: its requests are frames",
    "mesh": "it is what tiles are connected by",
    "crossbar": "it is a network",
    "traffic": "it is a part of the fabric",
}
"""Units that no tile can have, and why."""


@pytest.mark.long("two units are compiled; the one of ones own is a short test")
@pytest.mark.parametrize(("unit", "told"), [("gather", "gather 1 0"), ("allocate", "allocate 1 1 0")])
def test_each_element_is_a_command_of_the_unit(unit: str, told: str, tmp_path: Path) -> None:
    assert said(tiles_of(tmp_path, unit), compile_program([COMMANDS]), unit) == [told]


@pytest.mark.long("two units are compiled that take a minute each")
def test_units_of_protobuf_write_and_read_messages_of_the_official_library(tmp_path: Path) -> None:
    tiles = tmp_path / "tiles.yaml"
    tiles.write_text(PROTOBUF)
    program = compile_service([MESSAGES], PROGRAMS / "modern.proto")
    assert said(tiles, program) == ["6 of 6", "output_full", "malformed", "right"]


def test_a_unit_of_ones_own_by_its_manifest() -> None:
    program = compile_program([EXAMPLES / "own.c"])
    words = ["seven", "tiles", ""]
    ones = [sum(letter.bit_count() for letter in word.encode()) for word in words]
    told = said(EXAMPLES / "own.yaml", program, *words)
    assert told == [f"{word} has {count} ones" for word, count in zip(words, ones, strict=True)]


def test_commands_that_the_unit_does_not_have_in_this_form_are_unsupported() -> None:
    wrong = (3, 1, 0 | 128, 1 << 20)
    told = said(EXAMPLES / "own.yaml", compile_program([COMMANDS]), "wrong", *wrong)
    assert told == ["unsupported"] * len(wrong)


def test_each_unit_can_be_on_a_tile_or_there_is_a_reason() -> None:
    assert {unit.name for unit in units()} == {*tile_units(), *NOT_THERE}
    assert not set(tile_units()) & set(NOT_THERE)


@pytest.mark.long("each unit is elaborated with queues")
def test_each_unit_is_elaborated_with_queues() -> None:
    on_tiles = [unit for unit in tile_units() if unit != "network"]
    made = elaborate_all([Elaboration(unit, command="queue") for unit in on_tiles])
    assert all(manifest.exists() for manifest in made)
    for unit in NOT_THERE:
        with pytest.raises(RackwrightError):
            elaborate_all([Elaboration(unit, command="queue")])


def test_a_manifest_is_looked_for_beside_the_file_and_others_are_refused(tmp_path: Path) -> None:
    assert Path(read_layout(EXAMPLES / "own.yaml", tile_units()).tiles[1].holds) == OWN.resolve()
    ended = rw("tiles", "check", tiles_of(tmp_path, "nic"))
    assert ended.status == 1
    assert "has unit nic, which cannot be placed on a tile" in ended.stderr
    ended = rw("run", "--tiles", tiles_of(tmp_path, "none.json"), compile_program([COMMANDS]))
    assert ended.status == 1
    assert ended.stderr.splitlines()[-1] == f"rw: {tmp_path / 'none.json'}: no such manifest"
