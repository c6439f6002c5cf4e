"""Programs and units that talk through queues in memory, on the tiles of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw
from tiers import long
from tile_programs import TILES, record_of, run

from rackwright import compile_program
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import elaborate

EXAMPLES = REPOSITORY / "examples" / "tiles"
SOURCE = Path(__file__).parent / "fixtures" / "tile_queues.c"


@pytest.fixture(scope="module")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two harts and one unit: one design to compile."""
    file = tmp_path_factory.mktemp("tiles") / "tiles.yaml"
    file.write_text(TILES)
    return file


@pytest.fixture(scope="module")
def program() -> Path:
    return compile_program([SOURCE], options=["-pthread", "-Wall", "-Wextra", "-Werror"])


def said(tiles: Path, program: Path, *words: object) -> list[str]:
    """The lines of a program that ends well."""
    record = record_of(tiles, program, *words)
    assert record["harts"] == 2
    assert record["accelerators"] == ["stream-copy"]
    return str(record["stdout"]).splitlines()


def test_queues_of_programs_alone(tiles: Path, program: Path) -> None:
    assert said(tiles, program, "alone") == ["as it should be"]


def test_an_element_there_and_back(tiles: Path, program: Path) -> None:
    """As the contract page says, to the cycle: the model of the hart and the RTL are exact."""
    assert said(tiles, program, "round-trip") == ["290 cycles"]


def test_a_full_queue_holds_the_tile_up_and_loses_nothing(tiles: Path, program: Path) -> None:
    """Four endings, one that finds no place, one behind it, one that has been read, and four descriptors."""
    assert said(tiles, program, "back-pressure") == ["11 under way, state 0"]


def test_a_wrong_descriptor_is_answered_and_the_tile_goes_on(tiles: Path, program: Path) -> None:
    assert said(tiles, program, "wrong-descriptors") == [
        "1 access_fault 0",
        "2 access_fault 100",
        "3 output_full 40",
        "4 ok 100",
        "state 1",
    ]


def test_a_wrong_queue_stops_the_tile_which_says_why(tiles: Path, program: Path) -> None:
    expected = ["magic 2", "length 2", "index 2", "size 3", "address 4", "right 1"]
    assert said(tiles, program, "wrong-queues") == expected


@pytest.mark.parametrize("seed", [5, *(long(seed, why="other pauses") for seed in range(6, 30))])
def test_one_hart_pushes_and_another_pops(tiles: Path, program: Path, seed: int) -> None:
    assert said(tiles, program, "two-harts", seed) == ["400 endings, 0 wrong, state 0"]


def test_a_file_is_copied_by_the_tile(tiles: Path, tmp_path: Path) -> None:
    """The example of the guide, on its graph; idle tiles that are clocked and threads change nothing."""
    program = compile_program([EXAMPLES / "copy.c"])
    source, copied = REPOSITORY / "README.md", tmp_path / "copied"
    words = (program, "--write-folder", tmp_path, "--graph", EXAMPLES / "copy.graph.yaml")
    record = run(tiles, *words, "--", source, copied).json()
    assert record["stdout"] == f"{source.stat().st_size} bytes copied by the tile, 0 blocks failed\n"
    assert copied.read_bytes() == source.read_bytes()
    again = run(tiles, *words, "--check-idle", "--", source, copied).json()
    assert again["digest"] == record["digest"]


def test_a_graph_that_can_stall_is_not_run(tiles: Path, program: Path, tmp_path: Path) -> None:
    graph = tmp_path / "graph.yaml"
    graph.write_text((EXAMPLES / "copy.graph.yaml").read_text().replace("window: 16", "window: 99"))
    ended = rw("run", "--tiles", tiles, "--graph", graph, program)
    assert ended.status == 1
    assert "elements fill client → to-copy → copier → from-copy → client" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--harts", 3), "--harts does not apply: --tiles says which harts and units there are"),
        (("--accelerator", "snappy"), "--accelerator does not apply: --tiles says which"),
        (("--cpu", "rocket-rtl"), "--tiles does not apply: rocket-rtl"),
    ],
)
def test_what_tiles_say_already_is_refused(
    tiles: Path, program: Path, options: tuple[object, ...], complaint: str
) -> None:
    ended = rw("run", "--tiles", tiles, *options, program)
    assert ended.status == 1
    assert complaint in ended.stderr


def test_a_graph_alone_is_refused(program: Path) -> None:
    ended = rw("run", "--graph", EXAMPLES / "copy.graph.yaml", program)
    assert "--graph goes with --tiles" in ended.stderr


@pytest.mark.parametrize(
    ("unit", "translation", "complaint"),
    [
        ("gather", True, "a tile of processes is for units with the commands of streams, unlike Gather"),
        ("mesh", False, "--command queue is for units with one port for commands, unlike Mesh"),
    ],
)
def test_a_unit_that_no_queue_serves_is_refused_in_a_line(
    unit: str, translation: bool, complaint: str
) -> None:
    with pytest.raises(RackwrightError) as raised:
        elaborate(unit, command="queue", translation=translation)
    assert str(raised.value) == complaint


def test_the_manifest_has_registers_and_the_units_own_ports() -> None:
    manifest = json.loads(elaborate("stream-copy", command="queue").read_text())
    ports = {port["name"]: port["contract"] for port in manifest["ports"] if port["contract"] != "event"}
    units = {"read": "memory", "write": "memory"}
    assert ports == {"mmio": "mmio", "queues": "memory", "queue": "interrupt", **units}
