"""`rw bench compression`, and programs whose calls of official libraries go to the units."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw

from bootstrap import __main__ as entry
from bootstrap.builds import COMPRESSION
from rackwright import Server, compile_program
from rackwright.benchmarks import compression
from rackwright.compression import libzstd
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError
from rackwright.unit.config import UnitConfig

SMALL = {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8}
UNITS = (UnitConfig("zstd-compress", SMALL), "zstd-decompress")
"""That of test_zstd_compress.py, so that it is compiled once."""

EXAMPLE = REPOSITORY / "examples" / "compression" / "round_trip.c"

SMALL_DEFLATE = {"block-kib": 8, "hash-log2": 10, "hash-ways": 1, "hash-banks": 8, "history-kib": 8}
"""That of test_deflate_compress.py."""

ZLIB = """
#include <stdio.h>
#include <zlib.h>
static unsigned char plain[1 << 20], packed[1 << 20], again[1 << 20];
int main(void) {
    const size_t size = fread(plain, 1, sizeof plain, stdin);
    for (int level = 0; level < 2; level++) {
        uLongf length = sizeof packed, back = sizeof again, shorter = sizeof again, few = 10;
        printf("%d ", compress2(packed, &length, plain, size, level));
        printf("%d ", uncompress(again, &back, packed, length));
        printf("%d ", uncompress(again, &shorter, packed, length / 2));
        printf("%d %d ", compress(again, &few, plain, size), compress2(again, &few, plain, size, 10));
        printf("%zu %zu\\n", (size_t)back, (size_t)length);
        fwrite(packed, 1, length, stdout);
    }
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
        # Not assumed: there is a row of synthesis, which may be faster than a server's clock.
        assert unit["unit_clock_source"] in ("synthesised", "limit")
        assert library["unit_clock_source"] is None
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


def test_gzip_is_measured_on_the_host_and_by_the_unit(plain: Path) -> None:
    inputs = [("plain", plain.read_bytes())]
    packs = list(compression.measure(inputs, "gzip", operations=["compress"], targets=["host"]))
    unpacks = list(
        compression.measure(inputs, "gzip", operations=["decompress"], targets=["host", "rocket+unit"])
    )
    assert [row.target for row in (*packs, *unpacks)] == ["host", "host", "rocket+unit"]
    assert all(row.verified for row in (*packs, *unpacks))
    assert packs[0].library_compressed_bytes == pytest.approx(
        len(gzip.compress(plain.read_bytes(), 6)), abs=16
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--format", "snappy", "--level", "3"], "snappy has no levels"),
        (["--format", "zlib", "--level", "10"], "zlib has levels 1 to 9, not 10"),
        (["--format", "zstd", "--level", "0"], "zstd has levels 1 to 22, not 0"),
        ([], "is empty; nothing to measure"),
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
    ended = Server(cpu, UNITS).run(program, stdin=data)
    alone = Server(cpu).run(compile_program([EXAMPLE]), stdin=data)
    assert (ended.exit_code, alone.exit_code) == (0, 0)
    assert ended.unit_cycles > 0
    first, refusal = ended.stdout.decode().splitlines()
    assert first.startswith("30000 -> ")
    assert refusal == alone.stdout.decode().splitlines()[1] == libzstd.decompress(b"not a frame", 100)
    assert ended.cycles < alone.cycles / 2


def test_zlib_goes_to_the_units_and_what_they_refuse_to_the_library(tmp_path: Path) -> None:
    source = tmp_path / "zlib.c"
    source.write_text(ZLIB, encoding="utf-8")
    program = compile_program([source], tmp_path / "zlib.elf", by_units=["zlib"])
    data = default_archive(10_000)
    units = [UnitConfig("deflate-compress", SMALL_DEFLATE), UnitConfig("deflate-decompress")]
    ended = Server("rocket", units).run(program, stdin=data)
    assert ended.exit_code == 0
    assert ended.unit_cycles > 0
    # Level 0 is zlib's own, to the byte; the unit's result at level 1 is another one than zlib's.
    statuses = b"0 0 -3 -5 -2 10000 %d\n"
    stored = zlib.compress(data, 0)
    head = statuses % len(stored) + stored
    assert ended.stdout.startswith(head)
    line, _, packed = ended.stdout[len(head) :].partition(b"\n")
    assert line + b"\n" == statuses % len(packed)
    assert zlib.decompress(packed) == data
    assert packed != zlib.compress(data, 1)


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
    with pytest.raises(
        RackwrightError, match="no library lzma that units can replace; there are zstd, zlib, snappy, malloc"
    ):
        compile_program([EXAMPLE], by_units=["lzma"])
