"""`rw bench compression`, and programs whose calls of official libraries go to the units."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw

from bootstrap import __main__ as entry
from bootstrap.builds import COMPRESSION
from rackwright import Server, compile_program, libzstd
from rackwright.benchmarks import compression
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError

SMALL = {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8}
"""That of test_zstd_compress.py, so that it is compiled once."""

UNITS = ("zstd-compress", "zstd-decompress")
EXAMPLE = REPOSITORY / "examples" / "compression" / "round_trip.c"

UNCOMPRESS = """
#include <stdio.h>
#include <zlib.h>
static unsigned char packed[1 << 20], plain[1 << 20];
int main(void) {
    const size_t size = fread(packed, 1, sizeof packed, stdin);
    uLongf length = sizeof plain;
    const int status = uncompress(plain, &length, packed, size);
    printf("%d %d ", status, uncompress(plain, &length, packed, size / 2));
    fwrite(plain, 1, length, stdout);
    return 0;
}
"""


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain"
    path.write_bytes(default_archive(20_000))
    return path


def test_the_unit_is_measured_beside_the_library(plain: Path) -> None:
    targets = [word for name in ("host", "rocket", "rocket+unit") for word in ("--target", name)]
    ended = rw("bench", "compression", plain, plain, "--format", "snappy", *targets, "--json")
    assert ended.status == 0, ended.stderr
    rows = ended.json()["rows"]
    assert len(rows) == 2 * 3 * 3
    assert all(row["verified"] for row in rows)
    by_place = {(row["operation"], row["target"], row["file"]): row for row in rows}
    for operation in ("compress", "decompress"):
        library = by_place[operation, "rocket", "total"]
        unit = by_place[operation, "rocket+unit", "total"]
        assert unit["gigabytes_per_second"] > 4 * library["gigabytes_per_second"]
        assert unit["uncompressed_bytes"] == 40_000
        assert (unit["unit_clock_source"], library["unit_clock_source"]) == ("synthesised", None)
        density = unit["gigabytes_per_second"] / unit["area_mm2"]
        assert unit["gigabytes_per_second_per_mm2"] == pytest.approx(density)
        assert by_place[operation, "host", "total"]["cycles"] is None
    assert by_place["decompress", "rocket", "plain"]["ratio"] == pytest.approx(
        by_place["compress", "rocket", "plain"]["library_ratio"]
    )


def test_what_the_caches_hold_is_said_and_matters(plain: Path) -> None:
    found = {}
    for memory in ("warm", "cold"):
        (row,) = compression.measure(
            [("plain", plain.read_bytes())],
            "zstd",
            operations=["decompress"],
            targets=["boom+unit"],
            memory=memory,
        )
        assert (row.memory, row.verified, row.level) == (memory, True, 3)
        found[memory] = row.seconds
    assert found["warm"] < found["cold"]


def test_only_what_units_do_is_asked_of_them(plain: Path) -> None:
    rows = list(compression.measure([("plain", plain.read_bytes())], "gzip", targets=["host", "rocket+unit"]))
    assert [(row.operation, row.target) for row in rows] == [
        ("compress", "host"),
        ("decompress", "host"),
        ("decompress", "rocket+unit"),
    ]
    assert all(row.verified for row in rows)
    assert rows[0].library_compressed_bytes == pytest.approx(
        len(gzip.compress(plain.read_bytes(), 6)), abs=16
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--format", "snappy", "--level", "3"], "snappy has no levels"),
        (["--format", "zlib", "--level", "10"], "zlib has levels 1 to 9, not 10"),
        (["--format", "zstd", "--level", "0"], "zstd has levels 1 to 22, not 0"),
        ([], "is empty: there is nothing to measure"),
    ],
)
def test_what_cannot_be_measured_is_said_in_a_line(
    tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "nothing").touch()
    ended = rw("bench", "compression", tmp_path / "nothing", *arguments)
    assert ended.status == 1
    assert complaint in ended.stderr


@pytest.mark.parametrize("cpu", ["rocket", "boom"])
def test_a_program_of_zstd_runs_on_the_units_unchanged(cpu: str) -> None:
    data = default_archive(30_000)
    program = compile_program([EXAMPLE], options=["-Wall", "-Werror"], by_units=["zstd"])
    ended = Server(cpu, UNITS, parameters={"zstd-compress": SMALL}).run(program, stdin=data)
    alone = Server(cpu).run(compile_program([EXAMPLE]), stdin=data)
    assert (ended.exit_code, alone.exit_code) == (0, 0)
    assert ended.unit_cycles > 0
    first, refusal = ended.stdout.decode().splitlines()
    assert first.startswith("30000 -> ")
    assert refusal == alone.stdout.decode().splitlines()[1] == libzstd.decompress(b"not a frame", 100)
    assert ended.cycles < alone.cycles / 2


def test_uncompress_goes_to_the_unit_and_what_it_refuses_to_zlib(tmp_path: Path) -> None:
    source = tmp_path / "uncompress.c"
    source.write_text(UNCOMPRESS, encoding="utf-8")
    program = compile_program([source], tmp_path / "uncompress.elf", by_units=["zlib"])
    data = default_archive(10_000)
    ended = Server("rocket", ["deflate-decompress"]).run(program, stdin=zlib.compress(data))
    assert ended.exit_code == 0
    assert ended.unit_cycles > 0
    assert ended.stdout.startswith(b"0 -3 ")


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["bench", "compression", "--json"], True),
        (["bench", "snappy", "compress", "compression"], False),
        (["test"], True),
        (["demo"], False),
    ],
)
def test_the_libraries_are_made_for_what_uses_them(arguments: list[str], needed: bool) -> None:
    assert (COMPRESSION in entry.extras_of(arguments)) is needed


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(RackwrightError, match="no library lzma by units; there are zstd, zlib, snappy"):
        compile_program([EXAMPLE], by_units=["lzma"])
