"""The command line from end to end: results, JSON keys, exit statuses, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw, started

from rackwright import Server, compile_bare_metal, compile_program
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive

ACCELERATE_KEYS = [
    "unit",
    "operation",
    "input_bytes",
    "output_bytes",
    "uncompressed_bytes",
    "cycles",
    "clock_hz",
    "clock_source",
    "gigabytes_per_second",
    "ratio",
    "status",
    "input_offset",
    "verified",
    "note",
    "digest",
    "wall_seconds",
    "parameters",
]
RUN_KEYS = [
    "exit_code",
    "instructions",
    "cycles",
    "clock_hz",
    "digest",
    "wall_seconds",
    "cpu",
    "harts",
    "accelerators",
    "unit_clocks_hz",
    "timing",
    "stdout",
    "unknown_calls",
    "waves",
    "fabric",
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file worth compressing."""
    path = tmp_path_factory.mktemp("data") / "plain"
    path.write_bytes(default_archive(20_000))
    return path


@pytest.fixture(scope="module")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that greets and ends with the number of its arguments."""
    folder = tmp_path_factory.mktemp("hello")
    source = folder / "hello.c"
    source.write_text(
        "#include <stdio.h>\n"
        'int main(int n, char **words) { for (int i = 1; i < n; i++) printf("hello %s\\n", words[i]);\n'
        "  return n - 1; }\n"
    )
    return compile_program([source], folder / "hello.elf")


def test_accelerate_there_and_back(plain: Path, tmp_path: Path) -> None:
    packed, again = tmp_path / "packed", tmp_path / "again"
    there = rw("accelerate", "snappy", "compress", plain, "-o", packed, "--json")
    assert there.status == 0
    assert list(there.json()) == ACCELERATE_KEYS
    assert libsnappy.decompress(packed.read_bytes()) == plain.read_bytes()
    back = rw("accelerate", "snappy", "decompress", packed, "-o", again, "--history", 2, "--json").json()
    assert back["verified"] is True
    assert back["status"] == "ok"
    assert back["parameters"]["history-kib"] == 2
    assert again.read_bytes() == plain.read_bytes()


def test_accelerate_for_people(plain: Path) -> None:
    ended = rw("accelerate", "snappy", "compress", plain, "--hash-entries", 512)
    assert ended.status == 0
    assert "GB/s" in ended.stdout
    assert "official libsnappy" in ended.stdout


def test_malformed_input_tells_the_status_and_the_offset(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(libsnappy.compress(b"hello hello hello")[:-1])
    ended = rw("accelerate", "snappy", "decompress", bad, "--json")
    assert ended.status == 1
    assert ended.json()["status"] == "malformed"
    assert 0 <= ended.json()["input_offset"] <= bad.stat().st_size
    assert ended.json()["verified"] is True
    assert "malformed" in rw("accelerate", "snappy", "decompress", bad).stdout


def test_an_empty_file(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    assert rw("accelerate", "snappy", "compress", empty, "--json").json()["status"] == "ok"
    assert rw("accelerate", "snappy", "decompress", empty, "--json").json()["status"] == "malformed"


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["accelerate", "snappy", "compress", "no-such-file"], 1, "no-such-file"),
        (["accelerate", "snappy", "explode", "README.md"], 2, "explode"),
        (["accelerate", "snappy", "compress", "README.md", "--hash-entries", "1000"], 2, "power of two"),
        (["accelerate", "snappy", "compress", "README.md", "--hash-entries", "32768"], 2, "--hash-entries"),
        (["accelerate", "snappy", "decompress", "README.md", "--history", "0"], 2, "--history"),
        (["accelerate", "snappy", "decompress", "README.md", "--history", "-4"], 2, "--history"),
        (["accelerate", "snappy", "decompress", "README.md", "--history", "65"], 2, "--history"),
        (["accelerate", "snappy", "decompress", "README.md", "--history", "9" * 20], 2, "--history"),
        (["bench", "snappy", "compress", "README.md", "--hash-entries", "0"], 2, "--hash-entries"),
        (["run", "README.md", "--max-cycles", "9" * 20], 2, "--max-cycles"),
        (["run", "."], 1, "is a folder"),
        (["accelerate", "snappy", "compress", "README.md", "--history", "65"], 2, "--history"),
        (["accelerate", "snappy", "compress", "README.md", "--placement", "moon"], 2, "moon"),
        (["run", "no-such-program"], 1, "no-such-program"),
        (["run", "README.md"], 1, "README.md"),
        (["run", "README.md", "--cpu", "abacus"], 2, "abacus"),
        (["accelerate", "snappy", "compress", "README.md", "--set", "hash-log2=16"], 1, "from 9 to 15"),
        (["accelerate", "snappy", "compress", "README.md", "--set", "hash-log2"], 1, "PARAMETER=VALUE"),
        (["accelerate", "zstd", "compress", "README.md", "--level", "4"], 1, "has levels 1 to 3, not 4"),
        (
            ["accelerate", "gzip", "decompress", "README.md", "--level", "1"],
            1,
            "deflate-decompress has no levels",
        ),
        (["accelerate", "snappy", "compress", "README.md", "--clock", "fast"], 1, "--clock: fast"),
        (["units", "no-such-unit"], 1, "no-such-unit"),
        (["synth"], 1, "either a unit or --all"),
        (["synth", "no-such-unit"], 1, "no-such-unit"),
        (["synth", "snappy"], 1, "snappy is a set; synth takes one unit"),
        (["synth", "--all", "--gates", "gates"], 1, "--gates takes one unit"),
        (["synth", "stream-copy", "--liberty", "no-such.lib"], 1, "no-such.lib"),
        (["synth", "stream-copy", "--sram", "README.md"], 1, "README.md"),
        (["demo", "no-such-file"], 1, "no-such-file"),
        (["frobnicate"], 2, "frobnicate"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_command_lines_are_explained(arguments: list[str], status: int, says: str) -> None:
    words = [str(REPOSITORY / word) if word == "README.md" else word for word in arguments]
    ended = rw(*words)
    assert ended.status == status
    assert says in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("cpu", ["functional", "rocket", "boom"])
def test_run(hello: Path, cpu: str) -> None:
    ended = rw("run", hello, "--cpu", cpu, "--json", "--", "one", "--help")
    assert ended.status == 2
    record = ended.json()
    assert list(record) == RUN_KEYS
    assert record["stdout"] == "hello one\nhello --help\n"
    assert record["exit_code"] == 2
    assert record["cpu"] == cpu
    assert record["accelerators"] == []
    assert record["unit_clocks_hz"] == []
    assert record["instructions"] > 0


@pytest.fixture(scope="module")
def bare_metal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program without an operating system that does some work and ends with status 42."""
    folder = tmp_path_factory.mktemp("bare")
    source = folder / "bare.c"
    source.write_text(
        "int main(void) { volatile int n = 0;\n"
        "  for (int i = 0; i < 1000; i++) n += i;\n"
        "  return n == 499500 ? 42 : 1; }\n"
    )
    return compile_bare_metal([source], folder / "bare.elf")


def test_bare_metal_on_every_cpu(bare_metal: Path) -> None:
    records = {
        cpu: rw("run", bare_metal, "--cpu", cpu, "--json").json()
        for cpu in ("functional", "rocket", "boom", "rocket-rtl")
    }
    assert {record["exit_code"] for record in records.values()} == {42}
    model, rtl = records["rocket"]["cycles"], records["rocket-rtl"]["cycles"]
    assert abs(model - rtl) < 0.15 * rtl


def test_a_status_that_is_not_0_is_never_success(tmp_path: Path) -> None:
    source = tmp_path / "status.c"
    source.write_text("int main(void) { return 256; }\n")
    ended = rw("run", compile_bare_metal([source], tmp_path / "status.elf"))
    assert "exit status 256" in ended.stderr
    assert ended.status == 1


def test_rocket_rtl_shows_output_and_refuses_linux(hello: Path, tmp_path: Path) -> None:
    source = tmp_path / "bare.c"
    source.write_text('#include "bare.h"\nint main(void) { print_text("bare\\n"); return 0; }\n')
    ended = rw("run", compile_bare_metal([source], tmp_path / "bare.elf"), "--cpu", "rocket-rtl")
    assert (ended.status, ended.stdout) == (0, "bare\n")
    refused = rw("run", hello, "--cpu", "rocket-rtl")
    assert refused.status == 1
    assert "bare-metal programs; this is one for Linux" in refused.stderr


def test_programs_of_one_name_are_two_programs(tmp_path: Path) -> None:
    programs = []
    for status in (3, 4):
        source = tmp_path / str(status) / "main.c"
        source.parent.mkdir()
        source.write_text(f"int main(void) {{ return {status}; }}\n")
        programs.append(compile_program([source]))
    assert [Server("functional").run(program).exit_code for program in programs] == [3, 4]


def test_standard_input_reaches_the_program(tmp_path: Path) -> None:
    source = tmp_path / "lines.c"
    source.write_text(
        "#include <stdio.h>\n"
        "int main(void) { int n = 0, c; while ((c = getchar()) != EOF) n += c == 'x'; return n; }\n"
    )
    program = compile_program([source], tmp_path / "lines.elf")
    given = [rw("run", program, "--json", stdin=text).json() for text in ("xax", "xbx", "xax")]
    assert [record["exit_code"] for record in given] == [2, 2, 2]
    assert given[0]["digest"] == given[2]["digest"] != given[1]["digest"]


def test_rocket_rtl_takes_arguments(tmp_path: Path) -> None:
    source = tmp_path / "bare.c"
    source.write_text(
        '#include "bare.h"\nint main(void) { print_text(boot_information.arguments[1]); return 0; }\n'
    )
    program = compile_bare_metal([source], tmp_path / "bare.elf")
    assert rw("run", program, "--cpu", "rocket-rtl", "--", "word").stdout == "word"


def test_run_passes_output_through(hello: Path) -> None:
    ended = rw("run", hello, "--", "you")
    assert ended.stdout == "hello you\n"
    assert ended.status == 1
    assert "digest" in ended.stderr


def test_run_with_accelerators(hello: Path) -> None:
    record = rw("run", hello, "--accelerator", "snappy", "--json").json()
    assert record["accelerators"] == ["snappy-compress", "snappy-decompress"]


def test_too_many_units_of_an_opcode_are_refused(hello: Path) -> None:
    ended = rw("run", hello, *["--accelerator", "snappy"] * 5)
    assert ended.status == 1
    assert "custom-0 has too few instructions for snappy-decompress" in ended.stderr


def test_units() -> None:
    rows = rw("units", "--json").json()["units"]
    by_name = {row["name"]: row for row in rows}
    assert {"snappy-compress", "snappy-decompress"} <= set(by_name)
    assert "history-kib" in {row["name"] for row in by_name["snappy-decompress"]["parameters"]}
    assert all({"clock_hz", "area_mm2"} <= set(row) for row in rows)
    assert "snappy-compress" in rw("units").stdout
    assert "hash-log2" in rw("units", "snappy-compress").stdout


def test_doctor() -> None:
    report = rw("doctor", "--json").json()
    assert report["ready"] is True
    assert {row["name"] for row in report["tools"]} >= {"javac", "mvn", "cargo", "riscv64-linux-gnu-g++"}
    assert "ready" in rw("doctor").stdout


@pytest.mark.parametrize("verb", ["demo", "accelerate", "run", "units", "synth", "doctor", "test"])
def test_help_of_every_verb(verb: str) -> None:
    ended = rw(verb, "--help")
    assert ended.status == 0
    assert "Usage" in ended.stdout


def test_demo_on_a_small_file(plain: Path, tmp_path: Path) -> None:
    ended = rw("demo", plain, "--output", tmp_path, "--json")
    assert ended.status == 0
    record = ended.json()
    assert len(record["rows"]) == 10
    assert all(row["verified"] for row in record["rows"])
    assert set(record["rows"][0]["speedup"]) == {"rocket", "boom", "rocket+unit", "boom+unit"}
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "demo.json").exists()
    again = rw("demo", plain, "--output", tmp_path, "--json").json()
    assert again["digest"] == record["digest"]


def test_two_demos_may_share_a_folder(plain: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as both:
        ends = list(both.map(lambda _: rw("demo", plain, "--output", tmp_path), range(2)))
    for ended in ends:
        assert ended.status == 0, ended.stderr
    assert (tmp_path / "report.html").read_text().rstrip().endswith("</html>")
    assert len(json.loads((tmp_path / "demo.json").read_text())["rows"]) == 10


@pytest.mark.parametrize("words", [["units", "--json"], ["run", "no.py"], ["map", "--nothing"]])
def test_a_copy_of_a_command_ends_as_one_that_is_started(words: list[str]) -> None:
    """Two of them, as the first of a verb is no copy."""
    assert started(words) == rw(*words) == rw(*words)


def test_a_command_has_the_environment_of_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = [rw("units").stdout for _ in range(2)]
    monkeypatch.setenv("COLUMNS", "300")
    assert len({*wide, rw("units").stdout}) == 2


def test_commands_begin_without_the_libraries_of_tables() -> None:
    """Importing pandas takes a second of a processor: it is left to who asks for a table."""
    modules = ("server", "cluster", "protobuf", "fabric", "exploration", "reproduce", "soc", "tiles")
    imports = "; ".join(f"import rackwright.{name}" for name in modules)
    says = f"import sys; {imports}; print([name for name in ('pandas', 'pyarrow') if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", says], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
