"""Units on tiles by their own commands: those without the commands of streams, and one by its manifest."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import REPOSITORY, rw
from test_tile_units import NOT_THERE
from tile_programs import said, tiles_of

from rackwright import RackwrightError, compile_program
from rackwright.hardware.designs import Elaboration, elaborate_all
from rackwright.tiles import read_layout
from rackwright.tiles.hosting import tile_units

COMMANDS = REPOSITORY / "software" / "tiles" / "commands.c"
EXAMPLES = REPOSITORY / "examples" / "tiles"
OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"


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
