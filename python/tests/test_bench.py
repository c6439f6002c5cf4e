"""`rw bench`: rows with the documented keys, totals that add up, errors that name the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rw

from rackwright.benchmarks.idle_worker import proportional_bytes
from rackwright.benchmarks.rtl import cost
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain"
    path.write_bytes(default_archive(20_000))
    return path


@pytest.mark.parametrize("operation", ["compress", "decompress"])
def test_files_add_up_to_the_total(operation: str, plain: Path) -> None:
    ended = rw("bench", "snappy", operation, plain, plain, "--json")
    assert ended.status == 0
    first, second, total = ended.json()["rows"]
    assert [first["file"], second["file"], total["file"]] == ["plain", "plain", "total"]
    assert total["cycles"] == first["cycles"] + second["cycles"]
    assert total["uncompressed_bytes"] == 40_000
    assert total["verified"]
    assert first["library_compressed_bytes"] == len(libsnappy.compress(plain.read_bytes()))


def test_the_cost_of_the_engine_is_given_for_both_units(plain: Path) -> None:
    ended = rw("bench", "rtl", plain, "--json")
    assert ended.status == 0
    rows = ended.json()["rows"]
    assert [row["unit"] for row in rows] == ["snappy-compress", "snappy-decompress"]
    for row in rows:
        # A unit takes at most 32 bytes in a cycle, and here no more than 16 cycles for one.
        assert 20_000 / 32 < row["cycles"] < 20_000 * 16
        # How long it takes is for people to look at: other tests want the machine too.
        assert all(row[figure] > 0 for figure in ("engine_seconds", "bare_seconds", "ratio"))


def test_the_cost_of_the_engine_is_that_of_runs_beside_each_other() -> None:
    made = cost("unit", 120, engine=[4.0, 6.0, 9.0], bare=[2.0, 2.0, 3.0])
    assert (made.engine_seconds, made.bare_seconds, made.ratio) == (6.0, 2.0, 3.0)
    assert made.cycles_per_second == 20.0


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    ended = rw("bench", "snappy", "compress", tmp_path / "absent")
    assert ended.status == 1
    assert "absent" in ended.stderr


def test_threads_are_compared_with_processes() -> None:
    ended = rw("bench", "cluster", "hosts-64", "--threads", "2", "--repetitions", "1", "--json")
    assert ended.status == 0
    (row,) = ended.json()["rows"]
    assert (row["scenario"], row["threads"], row["same"]) == ("hosts-64", 2, True)
    assert row["speedup"] > 0
    assert row["ceiling"] > 0


def test_an_unknown_cluster_is_refused() -> None:
    ended = rw("bench", "cluster", "hosts-65")
    assert ended.status == 1
    assert "no scenario hosts-65; there are hosts-64, " in ended.stderr


@pytest.mark.long
def test_every_core_is_compared_with_qemu() -> None:
    ended = rw("bench", "cpu", "--json", timeout=1800)
    assert ended.status == 0
    rows = ended.json()["rows"]
    assert {row["cpu"] for row in rows} == {"functional", "rocket", "boom"}
    assert all(row["instructions"] > 0 for row in rows)
    assert all(row["ratio"] > 0 for row in rows)


def test_memory_that_is_shared_counts_in_parts() -> None:
    text = "Rss:               14216 kB\nPss:                9500 kB\nPss_Dirty:          3784 kB\n"
    assert proportional_bytes(text) == 9500 * 1024
