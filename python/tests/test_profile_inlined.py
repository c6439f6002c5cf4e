"""Profiles of programs with debug information: inlined functions, and where the source has them."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rackwright import Server, compile_program
from rackwright.profiling import Profile, profile
from rackwright.profiling.pprof import pprof
from rackwright.profiling.speedscope import speedscope

SOURCE = Path(__file__).resolve().parents[2] / "software" / "tests" / "profile" / "inlined.c"


def built(folder: Path, options: list[str]) -> Path:
    """The program, compiled so."""
    return compile_program([SOURCE], folder / "inlined.elf", options)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """Its profile on a timed core, with debug information."""
    return profile(Server("rocket"), built(tmp_path_factory.mktemp("built"), ["-O2", "-g"]))


def by_name(seen: Profile) -> dict[str, dict[str, Any]]:
    """The rows of the table of functions."""
    rows: list[dict[Any, Any]] = seen.calls().to_dict("records")
    return {row["function"]: row for row in rows}


def below_main(seen: Profile) -> Counter[str]:
    """Cycles of each stack, from `main` on."""
    cycles: Counter[str] = Counter()
    for _, names, own, _ in seen.stacks():
        if "main" in names:
            cycles[";".join(names[names.index("main") :])] += own
    return cycles


def test_inlined_functions_are_frames_within_those_that_they_are_in(seen: Profile) -> None:
    cycles = below_main(seen)
    inner = cycles["main;outer;middle;innermost"]
    # Twice as many rounds, of a longer one: to multiply takes its time.
    assert inner > 2 * cycles["main;outer;middle"]
    assert cycles["main;outer;middle"] > 3 * 1000
    assert cycles["main;outer;middle;leaf"] > 3 * 1000
    assert cycles["main;outer"] > 3 * 1000
    assert not any(";leaf" in stack and ";middle;leaf" not in stack for stack in cycles)


def test_they_have_cycles_and_no_calls(seen: Profile) -> None:
    calls = by_name(seen)
    counts = {name: calls[name]["count"] for name in ("outer", "leaf", "middle", "innermost")}
    assert counts == {"outer": 3, "leaf": 3, "middle": 0, "innermost": 0}
    cycles = below_main(seen)
    assert calls["innermost"]["exclusive_cycles"] == cycles["main;outer;middle;innermost"]
    inside = sum(own for stack, own in cycles.items() if ";middle" in stack)
    assert calls["middle"]["inclusive_cycles"] == inside
    stalled = seen.calls()[list(seen.stalls)].sum(axis=1)
    assert list(seen.calls()["exclusive_cycles"]) == list(seen.calls()["instructions"] + stalled)
    assert sum(seen.harts[0].tree.cycles) == seen.cycles[0]


def test_the_run_is_that_without_debug_information(seen: Profile, tmp_path: Path) -> None:
    plain = profile(Server("rocket"), built(tmp_path, ["-O2"]))
    # Digests differ: what a file's header says of its sections lies in memory.
    assert plain.cycles == seen.cycles
    assert plain.calls()["instructions"].sum() == seen.calls()["instructions"].sum()
    inlined, whole = by_name(seen), by_name(plain)
    for name in ("outer", "main", "leaf"):
        assert inlined[name]["inclusive_cycles"] == whole[name]["inclusive_cycles"]
        assert inlined[name]["maximum"] == whole[name]["maximum"]
    assert "middle" not in whole


def test_functions_have_their_places_in_the_source(seen: Profile) -> None:
    lines = SOURCE.read_text().splitlines()
    calls = by_name(seen)
    for name in ("outer", "leaf", "middle", "innermost", "main"):
        assert Path(calls[name]["file"]).name == SOURCE.name
        assert f" {name}(" in lines[calls[name]["line"] - 1]
    assert (calls["_start"]["file"], calls["_start"]["line"]) == ("", 0)
    frames = {frame["name"]: frame for frame in speedscope(seen)["shared"]["frames"]}
    assert frames["middle"]["line"] == calls["middle"]["line"]
    assert SOURCE.name.encode() in gzip.decompress(pprof(seen))
