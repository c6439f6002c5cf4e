"""Profiles of programs: compared with instrumented builds, and the files that are made of them."""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import REPOSITORY, rw
from profile_counts import EVERY_CALL, INSTRUMENTED, NO_INLINING, calls_by_symbol, counts_of

import rackwright
from rackwright import EngineError, RackwrightError, Server, compile_program
from rackwright.cli.profile import observe
from rackwright.profiling import Profile, Watching, profile, trees
from rackwright.profiling.compare import Stacks, comparison
from rackwright.profiling.files import compare, write
from rackwright.profiling.folded import folded
from rackwright.profiling.pprof import pprof


@pytest.fixture(scope="module")
def sources() -> Path:
    """The folder of the programs that are profiled."""
    return Path(__file__).resolve().parents[2] / "software" / "tests" / "profile"


@pytest.fixture(scope="module")
def jumps(sources: Path) -> tuple[Path, Profile]:
    """A program with long jumps, and its profile on a timed core."""
    program = compile_program([sources / "jumps.c"], options=NO_INLINING)
    return program, profile(Server("rocket"), program, every=10_000)


def counted(program: Path) -> dict[str, int]:
    """The calls of a program with counts.c in it."""
    result = Server("functional").run(program)
    assert result.exit_code == 0
    return counts_of(result.stderr.decode(), program)


def assert_calls_are_equal(source: Path, options: list[str], seen: Profile) -> None:
    """Each function of the instrumented build was called as often as the profile says."""
    calls = calls_by_symbol(seen, source.with_suffix(".elf").name)
    counts = source.with_name("counts.c")
    truth = counted(compile_program([source, counts], options=[*options, *INSTRUMENTED]))
    found = {names: sum(calls.get(name, 0) for name in names.split()) for names in truth}
    assert found == truth
    assert len(truth) > 5


def test_calls_with_long_jumps_are_those_of_an_instrumented_build(
    jumps: tuple[Path, Profile], sources: Path
) -> None:
    assert_calls_are_equal(sources / "jumps.c", NO_INLINING, jumps[1])


def test_calls_with_exceptions_are_those_of_an_instrumented_build(sources: Path) -> None:
    source = sources / "exceptions.cpp"
    seen = profile(Server("functional"), compile_program([source], options=EVERY_CALL))
    assert_calls_are_equal(source, EVERY_CALL, seen)
    names = set(seen.calls()["function"])
    assert "rethrow(Shape const&, int)" in names
    assert "int twice<int>(int)" in names
    assert seen.unnamed_share <= 0.001


@pytest.mark.parametrize(("cpu", "harts"), [("functional", 1), ("rocket", 2)])
def test_calls_of_threads_and_signal_handlers_are_those_of_an_instrumented_build(
    cpu: str, harts: int, sources: Path
) -> None:
    options = [*NO_INLINING, "-pthread"]
    source = sources / "threads.c"
    program = compile_program([source], options=options)
    seen = profile(Server(cpu, harts=harts), program)
    assert_calls_are_equal(source, options, seen)
    assert Server(cpu, harts=harts).run(program).digest == seen.digest
    assert [sum(hart.tree.cycles) for hart in seen.harts] == seen.cycles
    assert len(seen.harts) == harts
    assert len(seen.threads) == 5
    below = {";".join(names[1:]) for _, names, _, _ in seen.stacks()}
    assert any(stack.endswith("work;fibonacci;fibonacci;fibonacci") for stack in below)


def random_program(seed: int, threads: int = 1) -> str:
    """A program whose functions call others, jump to them, throw, catch and jump far, as drawn.

    With several `threads`, all of them do so, and give way to one another in between.
    """
    draw = random.Random(seed)
    count = 14
    parts = [
        "#include <csetjmp>\n#include <cstdio>\n#include <sched.h>\n#include <thread>\n#include <vector>",
        "#define ALONE __attribute__((noipa))",
        "static thread_local volatile unsigned long work; static thread_local jmp_buf places[64];",
        "static thread_local int place;",
        *(f"ALONE int f{index}(int);" for index in range(count)),
    ]
    for index in range(count):
        later = range(index + 1, count)
        body = [f"work += n * {draw.randrange(9)}; if (n <= 0) return {index};"]
        if threads > 1 and draw.randrange(3) == 0:
            body.append("sched_yield();")
        for _ in range(draw.randrange(1, 4)) if later else ():
            callee = draw.choice(later)
            body.append(
                draw.choice(
                    [
                        f"n += f{callee}(n - {draw.randrange(3)}) & 3;",
                        # Places of functions that are gone are not jumped to.
                        f"{{ int mine = place; try {{ work += f{callee}(n - 1); }}"
                        f" catch (int thrown) {{ place = mine; work += thrown; }} }}",
                        f"{{ int mine = place++ % 64; if (setjmp(places[mine]) == 0)"
                        f" work += f{callee}(n - 1); place = mine; }}",
                    ]
                )
            )
        ending = draw.randrange(5)
        if later and ending == 0:
            body.append(f"return f{draw.choice(later)}(n - 1);")
        elif ending == 1:
            body.append(f"if (work % 7 == 3) throw {index};")
        elif ending == 2:
            body.append("if (place > 0 && work % 5 == 1) longjmp(places[(place - 1) % 64], 1);")
        body.append(f"return (int)(work % 11) + {index};")
        parts.append(f"ALONE int f{index}(int n) {{ {' '.join(body)} }}")
    parts.append(
        """
        static int totals[THREADS];
        ALONE void rounds(int thread) {
            volatile int total = 0;
            for (volatile int round = 0; round < 12; round = round + 1) {
                place = 1;
                if (setjmp(places[0]) == 0) {
                    try { total += f0(round); } catch (int thrown) { total += thrown; }
                }
            }
            totals[thread] = total;
        }
        int main() {
            std::vector<std::thread> others;
            for (int thread = 1; thread < THREADS; thread++) others.emplace_back(rounds, thread);
            rounds(0);
            for (auto& other : others) other.join();
            for (int total : totals) std::printf("%d\\n", total);
            return 0;
        }
        """.replace("THREADS", str(threads))
    )
    return "\n".join(parts)


@pytest.mark.parametrize(("seed", "threads"), [(0, 1), (1, 1), (2, 3), (3, 5)])
def test_calls_of_random_programs_are_those_of_an_instrumented_build(
    seed: int, threads: int, sources: Path, tmp_path: Path
) -> None:
    """Threads go from one of two harts to the other whenever they give way."""
    source = tmp_path / "random.cpp"
    source.write_text(random_program(seed, threads))
    options = [*NO_INLINING, "-pthread"]
    program = compile_program([source], tmp_path / "random.elf", options)
    seen = profile(Server("functional", harts=1 + (threads > 1)), program)
    assert len(seen.threads) == threads
    instrumented = compile_program(
        [source, sources / "counts.c"], tmp_path / "counted.elf", [*options, *INSTRUMENTED]
    )
    truth = counted(instrumented)
    calls = calls_by_symbol(seen, program.name)
    assert {names: sum(calls.get(name, 0) for name in names.split()) for names in truth} == truth
    assert sum(truth.values()) > 20


@pytest.mark.parametrize("cpu", ["functional", "rocket", "boom"])
def test_a_run_is_the_same_when_it_is_observed_and_every_cycle_is_in_a_stack(
    cpu: str, jumps: tuple[Path, Profile]
) -> None:
    program, _ = jumps
    alone = Server(cpu).run(program)
    seen = profile(Server(cpu), program)
    assert seen.digest == alone.digest
    assert seen.cycles == [alone.cycles]
    assert seen.instructions == alone.instructions
    assert sum(seen.harts[0].tree.cycles) == alone.cycles
    assert sum(seen.harts[0].tree.instructions) == alone.instructions
    lines = folded(seen).splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == alone.cycles
    assert any(line.startswith("hart 0;jumps.elf (1);_start;") and ";main;" in line for line in lines)


def test_inclusive_cycles_and_durations_fit_the_stacks(jumps: tuple[Path, Profile]) -> None:
    _, seen = jumps
    calls = seen.calls().set_index("symbol")
    main = calls.loc["main"]
    assert main["inclusive_cycles"] > calls.loc["catch_outer", "inclusive_cycles"]
    # Called once, and nobody else runs on the hart: what it took is what is below it.
    assert main["maximum"] == main["inclusive_cycles"]
    # Recursive: the outermost calls hold all others.
    assert calls.loc["ackermann", "inclusive_cycles"] < main["inclusive_cycles"]
    assert int(calls["exclusive_cycles"].sum()) + seen.harts[0].tree.cycles[0] == seen.cycles[0]
    assert (calls["minimum"] <= calls["p50"]).all()
    assert (calls["p50"] <= calls["p99"]).all()
    assert (calls["p99"] <= calls["maximum"]).all()
    samples = seen.counter_samples()
    assert list(samples["cycle"] // 10_000) == list(range(1, seen.cycles[0] // 10_000 + 1))
    assert samples["instructions"].is_monotonic_increasing
    assert samples["l2_misses"].iloc[-1] > 0


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message of Protocol Buffers with numbers and bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2
            length = varint()
            yield key >> 3, message[at : at + length]
            at += length


def varints(packed: bytes) -> list[int]:
    """The numbers of a packed field: each is read as a field without a key."""
    numbers, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers


def own_cycles(scope: Any) -> Counter[tuple[str, ...]]:
    """The cycles of each stack of the first hart in a file for speedscope."""
    names = [frame["name"] for frame in scope["shared"]["frames"]]
    open_frames: list[str] = []
    cycles: Counter[tuple[str, ...]] = Counter()
    now = 0
    for event in scope["profiles"][0]["events"]:
        if event["at"] > now:
            cycles[tuple(open_frames)] += event["at"] - now
            now = event["at"]
        if event["type"] == "O":
            open_frames.append(names[event["frame"]])
        else:
            assert open_frames.pop() == names[event["frame"]]
    assert not open_frames
    return cycles


def test_files_for_other_tools_say_the_same(jumps: tuple[Path, Profile], tmp_path: Path) -> None:
    _, seen = jumps
    write(seen, tmp_path, pytest.fail)
    total = seen.cycles[0]
    record = json.loads((tmp_path / "profile.json").read_text())
    assert (record["digest"], record["cycles"], record["exit_code"]) == (seen.digest, [total], 0)
    scope = json.loads((tmp_path / "profile.speedscope.json").read_text())
    assert own_cycles(scope) == {
        tuple(names): cycles for _, names, cycles, _ in seen.stacks() if names and cycles
    }
    assert scope["profiles"][0]["endValue"] + seen.harts[0].tree.cycles[0] == total
    assert pd.read_parquet(tmp_path / "calls.parquet").equals(seen.calls())
    assert pd.read_parquet(tmp_path / "counters.parquet").equals(seen.counter_samples())

    encoded = list(fields(gzip.decompress((tmp_path / "profile.pb.gz").read_bytes())))
    strings = [value.decode() for field, value in encoded if field == 6 and isinstance(value, bytes)]
    cycles = 0
    for field, value in encoded:
        if field == 2:
            assert isinstance(value, bytes)
            cycles += sum(
                varints(inner)[0]
                for number, inner in fields(value)
                if number == 2 and isinstance(inner, bytes)
            )
    assert cycles + seen.harts[0].tree.cycles[0] == total
    assert {"", "cycles", "main", "ackermann", "jumps.elf"} <= set(strings)

    depth: Counter[int] = Counter()
    times = []
    for _, packet in fields((tmp_path / "trace.perfetto-trace").read_bytes()):
        assert isinstance(packet, bytes)
        parts = dict(fields(packet))
        if 11 in parts:
            assert isinstance(parts[11], bytes)
            assert isinstance(parts[8], int)
            event = dict(fields(parts[11]))
            times.append(parts[8])
            depth[event[11]] += {1: 1, 2: -1, 4: 0}[event[9]]  # type: ignore[index]
            assert min(depth.values()) >= 0
    assert set(depth.values()) == {0}
    assert times == sorted(times)


def test_deep_recursions_are_folded_and_said(sources: Path, tmp_path: Path) -> None:
    program = compile_program([sources / "recursion.c"], options=NO_INLINING)
    seen = profile(Server("functional"), program)
    assert sum(seen.harts[0].tree.cycles) == seen.cycles[0]
    calls = seen.calls().set_index("function")["count"]
    assert calls[["down", "even", "odd", "work"]].tolist() == [20001, 10001, 10000, 2]
    deepest = max((names for _, names, _, _ in seen.stacks() if names[-1:] == ["work"]), key=len)
    assert len(deepest) < 520
    assert seen.shortened() == ["stacks are deeper than 512 frames: recursions are folded below that"]
    write(seen, tmp_path, pytest.fail)
    assert json.loads((tmp_path / "profile.json").read_text())["folded_below"] == 512
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 16_000_000
    assert seen.harts[0].slices_dropped > 30_000


def test_files_name_the_stacks_with_most_cycles_when_all_are_too_many(
    jumps: tuple[Path, Profile], monkeypatch: pytest.MonkeyPatch
) -> None:
    hart = jumps[1].harts[0]
    whole = hart.tree.listed
    frames = sum(hart.tree.depths[node] for node in whole.nodes)
    monkeypatch.setattr(trees, "MOST_FRAMES", frames // 2)
    tree = replace(hart.tree)
    seen = replace(jumps[1], harts=(replace(hart, tree=tree),))
    assert 0 < len(tree.listed.nodes) < len(whole.nodes)
    assert min(tree.cycles[node] for node in tree.listed.nodes) >= max(
        tree.cycles[node] for node in set(whole.nodes) - set(tree.listed.nodes)
    )
    lines = [line.rsplit(" ", 1) for line in folded(seen).splitlines()]
    assert sum(int(cycles) for _, cycles in lines) == seen.cycles[0]
    assert lines[-1] == ["hart 0;(smaller ones)", str(seen.smaller_cycles)]
    assert b"(smaller ones)" in gzip.decompress(pprof(seen))
    assert "name the stacks with most cycles" in seen.shortened()[0]


def test_code_made_at_run_time_is_named_so(sources: Path) -> None:
    seen = profile(Server("rocket"), compile_program([sources / "made.c"]))
    calls = seen.calls().set_index("function")
    made = calls.loc["[made at run time]"]
    assert (made["module"], made["count"]) == ("run-time", 1)
    assert made["instructions"] == 2 * 100_000 + 1
    assert seen.unnamed_share == 0


def test_without_apache_arrow_the_other_files_are_written(
    jumps: tuple[Path, Profile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, seen = jumps
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told: list[str] = []
    write(seen, tmp_path, told.append)
    assert [line.partition(" is not written: ")[0] for line in told] == [
        str(tmp_path / "calls.parquet"),
        str(tmp_path / "counters.parquet"),
    ]
    assert all("rackwright[profile]" in line for line in told)
    assert (tmp_path / "report.html").is_file()


def test_the_report_needs_nothing_else_and_holds_what_the_table_says(jumps: tuple[Path, Profile]) -> None:
    _, seen = jumps
    html = seen.flame_graph()
    assert not re.search(r"(src|href)=|https?://(?!www.w3.org)", html)
    found = re.search(r"<script type='application/json' id='data'>(.*?)</script>", html, re.DOTALL)
    assert found
    data = json.loads(found[1])
    hart = data["harts"][0]
    assert sum(cycles for _, _, cycles in hart["nodes"]) == seen.cycles[0]
    assert all(parent <= place for place, (parent, _, _) in enumerate(hart["nodes"]))
    table = [dict(zip(data["calls"]["columns"], row, strict=True)) for row in data["calls"]["data"]]
    assert [row["exclusive_cycles"] for row in table] == list(seen.calls()["exclusive_cycles"])
    below = sum(
        cycles for _, label, cycles in hart["nodes"][1:] if label >= 0 and data["functions"][label] == "dive"
    )
    dive = next(row for row in table if row["function"] == "dive")
    # Small stacks are drawn with their neighbours.
    assert 0 < below <= dive["exclusive_cycles"]
    assert sum(calls for _, calls in data["durations"][data["functions"].index("dive")]) == dive["count"]


def test_the_verb_writes_a_profile_and_shows_it_again(jumps: tuple[Path, Profile], tmp_path: Path) -> None:
    program, seen = jumps
    ended = rw("profile", "-o", tmp_path / "made", "--json", "--", "run", program, "--cpu", "rocket")
    assert ended.status == 0, ended.stderr
    assert ended.json()["digest"] == seen.digest
    assert json.loads((tmp_path / "made" / "profile.json").read_text()) == ended.json()
    assert (tmp_path / "made" / "report.html").stat().st_size > 10_000
    ended = rw("profile", "--open", tmp_path)
    assert ended.status == 1
    assert ended.stderr.startswith(f"rw: {tmp_path}: holds no report.html")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "nowhere.elf"], "nowhere.elf: no such file"),
        (["run", "--cpu", "rocket-rtl", "x"], "rocket-rtl can't be observed"),
        (["run", str(REPOSITORY / "README.md")], "not a 64-bit little-endian ELF file"),
        (["run", __file__], "the script ended without running a cluster"),
    ],
)
def test_what_cannot_be_observed_is_said(words: list[str], complaint: str) -> None:
    with pytest.raises((RackwrightError, EngineError), match=complaint):
        observe(words, Watching())


def test_a_verb_that_cannot_be_observed_is_a_usage_error() -> None:
    ended = rw("profile", "--", "bake")
    assert ended.status == 2
    assert "No such command 'bake'" in ended.stderr


def test_a_comparison_has_all_cycles_of_both_runs(jumps: tuple[Path, Profile], tmp_path: Path) -> None:
    program, there = jumps
    here = profile(Server("boom"), program)
    before, after = (Stacks.of_text(each.cpu, folded(each)) for each in (there, here))
    made = comparison(after, before)
    assert sum(row[2] for row in made["nodes"]) == here.cycles[0]
    assert sum(row[3] for row in made["nodes"]) == there.cycles[0]
    assert all(parent <= place for place, (parent, *_) in enumerate(made["nodes"]))
    rows = {row[0]: row[1:] for row in made["functions"]["data"]}
    for seen, own, inclusive in ((here, 1, 4), (there, 2, 5)):
        calls = seen.calls().groupby("function")[["exclusive_cycles", "inclusive_cycles"]].sum()
        assert {name: row[own] for name, row in rows.items()} == calls["exclusive_cycles"].to_dict()
        main = calls.loc["main"]
        assert rows["main"][inclusive] == main["inclusive_cycles"]
    assert all(row[0] == row[1] - row[2] and row[3] == row[4] - row[5] for row in rows.values())
    differences = [abs(row[1]) for row in made["functions"]["data"]]
    assert differences == sorted(differences, reverse=True)
    # Nothing differs from itself, and what only one of the runs has is there.
    same = comparison(before, before)
    assert all(row[2] == row[3] for row in same["nodes"])
    lone = comparison(Stacks.of_text("", "hart 0;p (7);f 5\n"), Stacks.of_text("", "hart 3;p (9);g 4\n"))
    assert lone["nodes"] == [[0, 0, 0, 0], [0, 1, 0, 0], [1, 2, 5, 0], [1, 3, 0, 4]]
    assert lone["names"] == ["all harts", "p", "f", "g"]

    for name, each in (("there", there), ("here", here)):
        write(each, tmp_path / name, pytest.fail)
    path = compare(tmp_path / "here", tmp_path / "there")
    found = re.search(
        r"<script type='application/json' id='data'>(.*?)</script>", path.read_text(), re.DOTALL
    )
    assert found
    data = json.loads(found[1])
    assert data["comparison"]["nodes"] == made["nodes"]
    assert data["calls"]["data"]
    assert path.stat().st_size < 1.5 * (tmp_path / "here" / "report.html").stat().st_size


def test_the_verb_compares(jumps: tuple[Path, Profile], tmp_path: Path) -> None:
    program, seen = jumps
    write(seen, tmp_path / "there", pytest.fail)
    ended = rw("profile", "-o", tmp_path / "here", "--compare", tmp_path / "there", "--", "run", program)
    assert ended.status == 0, ended.stderr
    assert '"comparison":{' in (tmp_path / "here" / "report.html").read_text()
    ended = rw("profile", "--compare", tmp_path / "nowhere", "--", "run", program)
    assert (ended.status, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"rw: {tmp_path}/nowhere: holds no profile")


def test_a_full_disk_loses_a_file_and_says_so(jumps: tuple[Path, Profile], tmp_path: Path) -> None:
    _, seen = jumps
    (tmp_path / "stacks.folded").symlink_to("/dev/full")
    told: list[str] = []
    write(seen, tmp_path, told.append)
    assert told == [f"{tmp_path / 'stacks.folded'} is lost: No space left on device"]
    assert (tmp_path / "report.html").exists()
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(RackwrightError, match="file: File exists"):
        write(seen, blocked, told.append)


def test_the_name_in_the_package_is_the_function(jumps: tuple[Path, Profile]) -> None:
    program, _ = jumps
    with pytest.raises(EngineError, match="the limit of cycles is reached"):
        rackwright.profile(Server("functional"), program, max_cycles=10)
