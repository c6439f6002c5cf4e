"""Units with the commands of streams on tiles: those of Snappy, judged by the official library; an index."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import REPOSITORY
from tile_programs import run, said, tiles_of

from rackwright import compile_program
from rackwright.compression import libsnappy

SOURCE = REPOSITORY / "software" / "tiles" / "convert.c"
PLAIN = (REPOSITORY / "ARCHITECTURE.md").read_bytes()[:6000]

pytestmark = pytest.mark.long("each unit is compiled behind queues, for half a minute to two")


def converted(unit: str, data: bytes, folder: Path) -> tuple[list[str], bytes]:
    """The statuses of the file and of its first half, and what became of the file."""
    source, output = folder / "input", folder / "output"
    source.write_bytes(data)
    program = compile_program([SOURCE])
    tiles = tiles_of(folder, unit)
    record = run(tiles, program, "--write-folder", folder, "--", source, output, 2 * len(PLAIN)).json()
    assert record["exit_code"] == 0
    return str(record["stdout"]).splitlines(), output.read_bytes()


def test_the_library_restores_what_the_unit_has_compressed(tmp_path: Path) -> None:
    statuses, packed = converted("snappy-compress", PLAIN, tmp_path)
    assert statuses == ["ok", "ok"]
    assert len(packed) < len(PLAIN)
    assert libsnappy.decompress(packed) == PLAIN


def test_the_unit_restores_what_the_library_has_compressed_and_refuses_half_of_it(tmp_path: Path) -> None:
    statuses, plain = converted("snappy-decompress", libsnappy.compress(PLAIN), tmp_path)
    assert statuses == ["ok", "malformed"]
    assert plain == PLAIN


def test_an_ordered_index_sums_ranges_of_keys(tmp_path: Path) -> None:
    """Its tree is set before the tile is opened."""
    program = compile_program([SOURCE.with_name("ranges.c")])
    assert said(tiles_of(tmp_path, "ordered-index"), program) == ["64 of 64", "malformed"]
