"""Processes of Linux and the units on tiles: virtual addresses, pages that are not there, `fork`, death."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rw
from tile_programs import TILES

from rackwright import compile_program, design
from rackwright._engine import Design
from rackwright.hardware.designs import elaborate
from rackwright.linux.boot import BootResult, boot, restore
from rackwright.linux.image import default_image, load_image
from rackwright.tiles import Layout, Mesh, Place, Tile
from rackwright.tiles.timing import chip_mesh

SOURCE = Path(__file__).parent / "fixtures" / "tile_processes.c"

TILES_OF_MESH = (
    Tile("hart0", Place(0, 0)),
    Tile("hart1", Place(1, 0)),
    Tile("copy", Place(0, 1), "stream-copy"),
)

booting = pytest.mark.long("a tile with translation is compiled, and Debian boots")


@pytest.fixture(scope="module")
def booted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine of two harts that has booted, with the program in /root."""
    folder = tmp_path_factory.mktemp("booted")
    options = ["-Wall", "-Wextra", "-Werror"]
    program = compile_program([SOURCE], folder / "processes", options)
    checkpoint = folder / "booted.checkpoint"
    boot(load_image(default_image()), harts=2, memory_bytes=256 << 20, files=[program], checkpoint=checkpoint)
    return checkpoint


def tile() -> Design:
    """A tile whose assertions are checked."""
    return design(elaborate("stream-copy", command="queue", translation=True, assertions=True))


def said(
    booted: Path, words: str, cpu: str = "functional", mesh: Mesh | None = None, before: str = ""
) -> BootResult:
    """A run of the program, beside a tile; memory may be behind a mesh."""
    chip = None if mesh is None else chip_mesh(Layout(mesh, TILES_OF_MESH))
    return restore(booted, f"{before} ./processes {words}", cpu=cpu, accelerators=[tile()], chip=chip)


@booting
@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_a_process_on_locked_pages(booted: Path, cpu: str) -> None:
    result = said(booted, "locked", cpu)
    assert (result.exit_code, result.stdout) == (0, b"4 right, state 0, all pages there\n")
    assert result.counters["stream-copy.queue_taken"] == 4
    assert result.counters["stream-copy.page_walks"] > 8


@booting
@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_processes_with_memory_behind_the_mesh(booted: Path, cpu: str) -> None:
    """The same answers, later for each register between routers, and the same run twice."""
    near, far = Mesh(2, 2), Mesh(2, 2, stages=4)
    results = [said(booted, "locked", cpu, mesh) for mesh in (near, far, far)]
    for result in results:
        assert (result.exit_code, result.stdout) == (0, b"4 right, state 0, all pages there\n")
    assert results[0].digest != results[1].digest == results[2].digest


@booting
def test_pages_that_are_not_there_are_provided(booted: Path) -> None:
    result = said(booted, "absent")
    assert (result.exit_code, result.stdout) == (0, b"4 right, state 0, pages provided\n")
    assert result.counters["stream-copy.refused_accesses"] > 4


@booting
def test_three_processes_on_one_tile(booted: Path) -> None:
    """Whose turns alternate; and the run is the same twice."""
    first, second = said(booted, "together"), said(booted, "together")
    assert first.exit_code == 0, first.stdout
    assert first.stdout == 3 * b"20 right, state 0, pages provided\n"
    assert first.digest == second.digest


@pytest.fixture(scope="module")
def sleeping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `booted`, with the driver by which processes sleep: it comes with tiles."""
    folder = tmp_path_factory.mktemp("sleeping")
    program = compile_program([SOURCE], folder / "processes", ["-Wall", "-Wextra", "-Werror"])
    checkpoint = folder / "booted.checkpoint"
    image = load_image(default_image())
    boot(
        image, harts=2, memory_bytes=256 << 20, files=[program], checkpoint=checkpoint, accelerators=[tile()]
    )
    return checkpoint


@booting
@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_a_process_sleeps_until_its_tile_interrupts_it(sleeping: Path, cpu: str) -> None:
    """At least once in each round, as the kernel has counted."""
    result = said(sleeping, "asleep", cpu, before="modprobe uio_pci_generic;")
    assert (result.exit_code, result.stdout) == (0, b"0 wrong, state 0, asleep\n")


@booting
@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_no_wake_up_of_several_processes_is_lost(sleeping: Path, cpu: str) -> None:
    """They share the interrupt; the same run twice."""
    first, second = (
        said(sleeping, "asleep-together", cpu, before="modprobe uio_pci_generic;") for _ in range(2)
    )
    assert (first.exit_code, first.stdout) == (0, 3 * b"0 wrong, state 0, asleep\n")
    assert first.digest == second.digest


@booting
def test_without_the_driver_there_is_no_line(booted: Path) -> None:
    assert said(booted, "asleep").stdout == b"no line\n"


@booting
def test_an_endpoint_is_that_of_the_process_that_has_forked(booted: Path) -> None:
    result = said(booted, "forked")
    assert (result.exit_code, result.stdout) == (0, b"the parent's alone\n")


@booting
def test_processes_that_die_free_their_endpoints(booted: Path) -> None:
    """40 of them, of 16 endpoints, in the midst of what they have pushed."""
    result = said(booted, "dying")
    assert (result.exit_code, result.stdout) == (0, b"3 right, state 0, pages provided\n")


@booting
def test_a_queue_that_is_unmapped_stops_its_endpoint(booted: Path) -> None:
    result = said(booted, "unmapped")
    assert (result.exit_code, result.stdout) == (0, b"state 4\n2 right, state 0, all pages there\n")


@booting
def test_the_command_line(booted: Path, tmp_path: Path) -> None:
    tiles = tmp_path / "tiles.yaml"
    tiles.write_text(TILES)
    words = ["boot", "--from", booted, "--tiles", tiles, "--run", "./processes locked"]
    assert rw(*words).stdout == "4 right, state 0, all pages there\n"
    tiles.write_text(TILES + "  hart2: {at: [1, 1], hart: true}\n")
    assert complaint(*words) == f"{tiles}: the tiles have 3 harts, and the machine 2"


def complaint(*words: object) -> str:
    """The line of a refused command."""
    ended = rw(*words)
    assert ended.status == 1
    return ended.stderr.strip().removeprefix("rw: ")


def test_what_does_not_go_with_tiles_is_refused_in_a_line(tmp_path: Path) -> None:
    tiles = tmp_path / "tiles.yaml"
    tiles.write_text(TILES)
    words = ["boot", "--tiles", tiles, "--run", "true"]
    assert complaint(*words, "--harts", 2) == "--harts: --tiles says which harts and units there are"
    tiles.write_text(TILES.replace("unit: stream-copy", "unit: aes, packets: true"))
    assert complaint(*words) == f"{tiles}: tile copy takes packets, which processes cannot use"
