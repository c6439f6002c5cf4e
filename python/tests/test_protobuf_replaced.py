"""Programs that know nothing of the units, linked with the runtime: what they say stays the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from protobuf_programs import PROGRAMS, UNRELAXED
from tiers import long

from bootstrap.protobuf_source import official_source
from rackwright.machine.server import RunResult, Server
from rackwright.protobuf import compile_service
from rackwright.protobuf.measure import UNITS

GOOGLETEST = Path("/usr/src/googletest/googletest")
"""The sources that Debian's and Ubuntu's package googletest brings."""


def run_both_ways(
    sources: list[Path], proto: Path, include: list[Path], options: list[str], arguments: Sequence[str] = ()
) -> tuple[RunResult, RunResult]:
    """The program by the library alone, and by the units."""
    both = []
    for by_units in (False, True):
        flags = [*UNRELAXED, *options]
        program = compile_service(sources, proto, include=include, by_units=by_units, options=flags)
        units = list(UNITS.values()) if by_units else []
        both.append(Server("functional", units).run(program, arguments))
    return both[0], both[1]


@pytest.mark.parametrize("numbers", [20_000, long(200_000, why="ten seconds of a processor for 2 MB")])
def test_a_program_says_the_same_by_the_units(numbers: int) -> None:
    """The last message has so many numbers."""
    library, units = run_both_ways(
        [PROGRAMS / "plain.cpp"], PROGRAMS / "modern.proto", [], ["-O1"], [str(numbers)]
    )
    assert library.exit_code == units.exit_code == 0, units.stderr.decode()
    assert units.stdout == library.stdout != b""
    assert units.counters["protobuf-deserialize.fields"] > 100
    assert units.counters["protobuf-serialize.fields"] > 100


@pytest.mark.long
@pytest.mark.skipif(not GOOGLETEST.exists(), reason="needs the package googletest")
def test_tests_of_the_official_library_pass_by_the_units(tmp_path: Path) -> None:
    source = official_source()
    names = ("unittest", "unittest_preserve_unknown_enum", "unittest_preserve_unknown_enum2")
    proto = tmp_path / "all.proto"
    imports = "".join(f'import "google/protobuf/{name}.proto";\n' for name in names)
    proto.write_text(f'syntax = "proto2";\n{imports}')
    sources = [
        source / "google" / "protobuf" / "preserve_unknown_enum_test.cc",
        GOOGLETEST / "src" / "gtest-all.cc",
        GOOGLETEST / "src" / "gtest_main.cc",
    ]
    options = ["-O0", "-w", f"-I{source}", f"-I{GOOGLETEST}", f"-I{GOOGLETEST}/include"]
    library, units = run_both_ways(sources, proto, [source], options)
    said = units.stdout.decode()
    assert (library.exit_code, units.exit_code) == (0, 0), said + units.stderr.decode()
    passed = re.search(r"PASSED  \] (\d+) tests", said)
    assert passed is not None
    assert int(passed.group(1)) == 8
    assert units.counters["protobuf-serialize.fields"] > 30
