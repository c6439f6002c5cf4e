"""Traces of executed instructions: compared with QEMU, with profiles and with the program; and damage."""

from __future__ import annotations

import re
import subprocess
import zlib
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from command_line import rw
from profile_counts import NO_INLINING

from rackwright import EngineError, Server, compile_program, read_trace
from rackwright.profiling import Profile, Watching, profile
from rackwright.tracing.trace import TraceError

SOURCES = Path(__file__).resolve().parents[2] / "software" / "tests" / "profile"


@dataclass(frozen=True)
class Traced:
    """A run, and where its trace is."""

    program: Path
    seen: Profile
    path: Path

    def instructions(self, **filters: object) -> pd.DataFrame:
        """All instructions of the trace that pass."""
        return pd.concat(read_trace(self.path, **filters).instructions(), ignore_index=True)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def jumps() -> Path:
    """A program with long jumps."""
    return compile_program([SOURCES / "jumps.c"], options=NO_INLINING)


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """A program with threads and signals on two harts, and its trace."""
    program = compile_program([SOURCES / "threads.c"], options=[*NO_INLINING, "-pthread"])
    path = tmp_path_factory.mktemp("threads") / "trace"
    return Traced(program, profile(Server("rocket", harts=2), program, watching=Watching(trace=path)), path)


@pytest.fixture(scope="module")
def executed_by_qemu(jumps: Path, tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """The addresses of the instructions that QEMU executes, from `main` on.

    Before that, a C library looks at what it is told of the machine.
    """
    log = tmp_path_factory.mktemp("qemu") / "log"
    command = ["qemu-riscv64", "-singlestep", "-d", "exec,nochain", "-D", str(log), str(jumps)]
    subprocess.run(command, env={}, capture_output=True, check=True)
    found = re.findall(r"^Trace .*?/([0-9a-f]+)/", log.read_text(), re.MULTILINE)
    addresses = [int(each, 16) for each in found]
    return addresses[addresses.index(symbols(jumps)["main"]) :]


def symbols(program: Path) -> dict[str, int]:
    """The functions of a program."""
    listed = subprocess.run(["riscv64-linux-gnu-nm", program], capture_output=True, text=True, check=True)
    rows = (line.split() for line in listed.stdout.splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[1] in "tTwWi"}


@pytest.mark.parametrize("cpu", ["functional", "rocket", "boom"])
def test_a_trace_is_qemus_instruction_by_instruction(
    cpu: str, jumps: Path, executed_by_qemu: list[int], tmp_path: Path
) -> None:
    watching = Watching("function:main", trace=tmp_path / "trace")
    seen = profile(Server(cpu), jumps, watching=watching)
    found = Traced(jumps, seen, tmp_path / "trace").instructions()
    assert found["address"].tolist() == executed_by_qemu
    assert len(found) == seen.instructions > 50_000
    assert seen.digest == Server(cpu).run(jumps).digest
    assert watching.unmet(seen) == []


def test_functions_have_as_many_instructions_as_in_the_profile(threads: Traced) -> None:
    functions = symbols(threads.program)
    # Signal handlers return to code that no file has: the system gives it to programs.
    functions["[vdso]"] = max(functions.values()) + (1 << 20)
    starts = sorted(set(functions.values()))
    found = threads.instructions()
    counted = Counter(starts[bisect_right(starts, address) - 1] for address in found["address"])
    calls = threads.seen.calls()
    profiled: Counter[int] = Counter()
    for symbol, instructions in zip(calls["symbol"], calls["instructions"], strict=True):
        # A thread's first frame has a return address of 0, where nothing is ever executed.
        if instructions:
            profiled[functions[symbol]] += instructions
    # The first block of a thread on a hart is executed before anything of its stack is known there: it is the
    # thread's own. Threads begin and go on in few places.
    first = {"_start", "__clone", "__futex_abstimed_wait_common", "__lll_lock_wait"}
    trees = [hart.tree for hart in threads.seen.harts]
    in_frames = sum(tree.instructions[node] for tree in trees for node in tree.frames())
    without = threads.seen.instructions - in_frames
    assert counted >= profiled
    assert (counted - profiled).total() == without
    assert max((counted - profiled).values()) < 10
    assert set(counted - profiled) <= {functions[name] for name in first}
    assert counted.total() > 10_000


@pytest.mark.parametrize("cpu", ["functional", "boom"])
def test_two_harts_do_not_notice(cpu: str, threads: Traced, tmp_path: Path) -> None:
    alone = Server(cpu, harts=2).run(threads.program)
    watching = Watching(trace=tmp_path / "trace")
    seen = profile(Server(cpu, harts=2), threads.program, watching=watching)
    assert seen.digest == alone.digest
    found = Traced(threads.program, seen, tmp_path / "trace").instructions()
    assert found.groupby("hart").size().tolist() == [hart.instructions for hart in seen.harts]
    assert found.groupby("hart")["cycle"].is_monotonic_increasing.all()
    assert found.groupby("hart")["cycle"].max().tolist() <= seen.cycles


def test_words_are_those_of_the_program(threads: Traced) -> None:
    found = threads.instructions()[["address", "word"]].drop_duplicates()
    dumped = subprocess.run(
        ["riscv64-linux-gnu-objdump", "-d", threads.program], capture_output=True, text=True, check=True
    )
    lines = re.findall(r"^\s+([0-9a-f]+):\s+([0-9a-f]{4}|[0-9a-f]{8})\s", dumped.stdout, re.MULTILINE)
    words = {int(address, 16): int(word, 16) for address, word in lines}
    known = found[found["address"].isin(words)]
    assert [words[address] for address in known["address"]] == known["word"].tolist()
    # All but the trampoline of signals.
    assert 2 <= len(found) - len(known) <= 4
    assert {2, 4} == {4 if word & 3 == 3 else 2 for word in known["word"]}


def test_filters(threads: Traced) -> None:
    found = threads.instructions()
    assert set(found["privilege"]) == {0}
    assert set(found["address_space"]) == {0}
    one = threads.instructions(harts=[1])
    assert one.equals(found[found["hart"] == 1].reset_index(drop=True))
    begin, end = (int(found["cycle"].quantile(share)) for share in (0.3, 0.6))
    within = found[(found["cycle"] >= begin) & (found["cycle"] < end)].reset_index(drop=True)
    assert threads.instructions(cycles=(begin, end)).equals(within)
    assert 0 < len(within) < len(found)
    assert len(threads.instructions(privileges="S")) == 0
    assert threads.instructions(privileges=["U"], address_spaces=[0]).equals(found)
    blocks = pd.concat(read_trace(threads.path).blocks())
    assert blocks["instructions"].sum() == len(found)
    assert set(blocks["address"]) <= set(found["address"])
    with pytest.raises(ValueError, match="no mode is called X"):
        read_trace(threads.path, privileges=["X"])


def test_a_trace_is_small_and_says_what_ran(threads: Traced) -> None:
    found = read_trace(threads.path)
    assert (found.software, found.cpu, found.clock_hz) == ("threads.elf", "rocket", 2_000_000_000)
    record = threads.seen.record()["trace"]
    assert record["bytes"] == threads.path.stat().st_size < 2 * record["instructions"]
    assert record["instructions"] == threads.seen.instructions
    assert (record["lost_instructions"], record["error"]) == (0, None)


def parts(path: Path) -> tuple[list[pd.DataFrame], str]:
    """What a trace gives before it is found to be damaged, and what is said then."""
    given: list[pd.DataFrame] = []
    with pytest.raises(TraceError) as damaged:
        given.extend(read_trace(path).instructions())
    return given, str(damaged.value)


def test_what_precedes_damage_is_kept(threads: Traced, tmp_path: Path) -> None:
    whole = threads.path.read_bytes()
    frames = list(read_trace(threads.path).instructions())
    assert len(frames) == 2
    path = tmp_path / "trace"
    path.write_bytes(whole[:-1])
    given, said = parts(path)
    assert len(given) == 2
    assert "is truncated at byte" in said
    path.write_bytes(whole[: len(whole) - 500])
    given, said = parts(path)
    assert [each.equals(frame) for each, frame in zip(given, frames, strict=False)] == [True]
    assert "is truncated at byte" in said
    flipped = bytearray(whole)
    flipped[len(whole) - 500] ^= 1
    path.write_bytes(flipped)
    given, said = parts(path)
    assert len(given) == 1
    assert "is damaged at byte" in said

    ended = rw("trace", path)
    assert ended.status == 1
    assert ended.stdout.count("\n") == len(frames[0])
    assert ended.stderr == f"rw: {said}\n"


def test_what_is_no_trace_is_said(threads: Traced, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(b"")
    with pytest.raises(TraceError, match="not a trace"):
        read_trace(path)
    head = bytearray(threads.path.read_bytes()[:200])
    head[20] ^= 1
    path.write_bytes(head)
    with pytest.raises(TraceError, match="the head of the trace is damaged"):
        read_trace(path)
    newer = b"rwtrace\0" + (2).to_bytes(4, "little") + bytes(4)
    path.write_bytes(newer + zlib.crc32(newer).to_bytes(4, "little"))
    with pytest.raises(TraceError, match="a trace of version 2; this reads version 1"):
        read_trace(path)
    lost = Watching(trace=tmp_path / "nowhere" / "trace")
    with pytest.raises(EngineError, match="nowhere/trace: No such file or directory"):
        profile(Server("functional"), threads.program, watching=lost)


def test_on_a_full_disk_the_run_goes_on_and_the_loss_is_said(threads: Traced) -> None:
    watching = Watching(trace=Path("/dev/full"))
    seen = profile(Server("rocket", harts=2), threads.program, watching=watching)
    assert seen.digest == threads.seen.digest
    assert watching.unmet(seen) == [
        "/dev/full: No space left on device (os error 28): the trace has 0 instructions, "
        f"{seen.instructions:,} are lost"
    ]


def test_the_verbs_write_a_trace_and_print_it(threads: Traced, tmp_path: Path) -> None:
    ended = rw(
        *("profile", "-o", tmp_path, "--json", "--harts", "1", "--trace", tmp_path / "trace"),
        *("--", "run", threads.program, "--harts", "2", "--cpu", "rocket"),
    )
    assert ended.status == 0, ended.stderr
    assert ended.json()["trace"]["instructions"] == threads.seen.harts[1].instructions
    ended = rw("trace", tmp_path / "trace", "--lines", "3", "--privileges", "U")
    first = threads.instructions(harts=[1]).iloc[:3].to_dict("records")
    assert [line.split() for line in ended.stdout.splitlines()] == [
        ["1", str(row["cycle"]), "U", f"{0:#018x}", f"{row['address']:#018x}", printed(row["word"])]
        for row in first
    ]
    assert rw("trace", tmp_path / "nowhere").stderr == f"rw: {tmp_path}/nowhere: no such file\n"


def printed(word: int) -> str:
    """An instruction word with all its digits."""
    return f"{word:08x}" if word & 3 == 3 else f"{word:04x}"
