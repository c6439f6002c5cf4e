"""The README: its first screen, and the numbers that it takes from committed tables.

`pytest tests/test_readme.py --update-docs` writes the headline and the numbers of units anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from compilers import compiler_version

from bootstrap.usage import GROUPS
from rackwright import units
from rackwright.benchmarks.library import measure_library, read_library
from rackwright.benchmarks.speeds import read_speeds
from rackwright.synthesis.table import read_table

README = Path(__file__).resolve().parents[2] / "README.md"

_HEADLINE = re.compile(r"(<!-- headline -->\n)(.*?)(<!-- end of headline -->\n)", re.DOTALL)
_UNIT_ROW = re.compile(r"^\| (?P<link>\[`(?P<unit>[\w-]+)`\]\S+) \|(?P<cells>.*)\|$", re.MULTILINE)


def demo_speedups(text: str) -> dict[str, tuple[float, float]]:
    """By operation: how many times as fast as the host, and as `rocket`, `rocket` with the unit is."""
    table = text.split("<!-- demo output -->\n\n")[1].split("\n\n")[0].splitlines()
    columns = table[0].index("vs host"), table[0].index("vs rocket")
    found = {}
    for line in table[1:]:
        operation, target = line.split()[:2]
        if target == "rocket+unit":
            host, rocket = (
                float(line[:end].split()[-1].rstrip("x"))
                for end in (columns[0] + len("vs host"), columns[1] + len("vs rocket"))
            )
            found[operation] = (host, rocket)
    return found


def headline(text: str) -> str:
    """The sentence above the demo's table, from the table."""
    (host, rocket), (out_host, out_rocket) = (
        demo_speedups(text)[name] for name in ("compress", "decompress")
    )
    return (
        "**With a Snappy unit in RTL beside it, a Rocket core compresses "
        f"{rocket:.0f} times as fast as with the library,\nand {host:.0f} times as fast as "
        f"a core of the host. It decompresses {out_rocket:.0f} and {out_host:.0f} times as fast.**\n"
    )


def numbers(unit: str) -> list[str]:
    """GHz, mm², GB/s and speed-up of a unit in its first configuration; empty without a row of synthesis.

    That is the one by default, or for `drx` the one with 128 lanes.
    """
    row = next((row for row in read_table().values() if row.configuration.split(",")[0] == unit), None)
    if row is None:
        return [""] * 4
    speed, library = read_speeds().get(row.rtl_hash), read_library().get(unit)
    return [
        f"{row.clock_hz / 1e9:.2f}",
        f"{row.area_mm2:.3f}",
        f"{speed.gigabytes_per_second:.1f}" if speed else "",
        f"{library.speedup_of(speed):.0f}x" if speed and library else "",
    ]


def with_numbers(text: str) -> str:
    """The README as its own demo and the committed tables have it."""

    def row(match: re.Match[str]) -> str:
        about, *_, checked = match["cells"].split("|")
        return (
            f"| {match['link']} | {' | '.join([about.strip(), *numbers(match['unit']), checked.strip()])} |"
        )

    text = _HEADLINE.sub(lambda match: match[1] + headline(text) + match[3], text)
    return _UNIT_ROW.sub(row, text)


def test_headline_and_units_are_those_of_the_tables(request: pytest.FixtureRequest) -> None:
    text = README.read_text(encoding="utf-8")
    if request.config.getoption("--update-docs"):
        README.write_text(with_numbers(text), encoding="utf-8")
    assert README.read_text(encoding="utf-8") == with_numbers(text)


def test_every_unit_has_a_row_that_says_what_it_was_checked_against() -> None:
    rows = {row["unit"]: row["cells"].split("|") for row in _UNIT_ROW.finditer(README.read_text("utf-8"))}
    assert list(rows) == [unit.name for unit in units()]
    assert all(cells[0].strip() and cells[-1].strip() for cells in rows.values())


@pytest.mark.skipif(compiler_version() != 12, reason="the table's cycles are those of GCC 12's code")
def test_a_library_speed_is_measured_again() -> None:
    assert measure_library("snappy-decompress") == read_library()["snappy-decompress"]


def test_the_first_screen_has_commands_and_a_picture() -> None:
    before_picture = README.read_text(encoding="utf-8").split("![")[0]
    assert len(before_picture.split()) <= 120
    assert before_picture.count("\n    ./rw ") == 2


def test_every_verb_is_shown() -> None:
    text = README.read_text(encoding="utf-8")
    verbs = {verb for group in GROUPS.values() for verb in group}
    assert {verb for verb in verbs if f"./rw {verb}" not in text} == {"image", "trace"}
