"""Profiles of Linux: processes, threads, signals and the kernel, from outside."""

from __future__ import annotations

import io
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from profile_counts import INSTRUMENTED, NO_INLINING, calls_by_symbol, counts_of

from rackwright import EngineError, compile_program, read_trace
from rackwright.linux.archive import ArchiveWriter, program
from rackwright.linux.boot import boot, restore
from rackwright.linux.image import Image, default_image, load_image
from rackwright.profiling import Profile, Watching, profile_boot
from rackwright.profiling.folded import folded
from rackwright.profiling.lanes import lanes

THREADS = Path(__file__).resolve().parents[2] / "software" / "tests" / "profile" / "threads.c"
SMALL = 256 << 20


@pytest.fixture(scope="module")
def programs() -> tuple[Path, Path]:
    """A program with threads and signals, and one that counts its calls itself."""
    options = [*NO_INLINING, "-pthread"]
    plain = compile_program([THREADS], options=options)
    counted = compile_program([THREADS, THREADS.with_name("counts.c")], options=[*options, *INSTRUMENTED])
    return plain, counted


@pytest.fixture(scope="module")
def image(programs: tuple[Path, Path]) -> Image:
    """The default image with the programs in it."""
    added = io.BytesIO()
    writer = ArchiveWriter(added)
    for name, path in zip(("plain", "counted"), programs, strict=True):
        writer.add(program(name, path.read_bytes()))
    writer.close()
    default = load_image(default_image())
    return replace(default, files=default.files + added.getvalue())


@pytest.fixture(scope="module")
def booted(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine with two harts that has booted."""
    path = tmp_path_factory.mktemp("booted") / "checkpoint"
    boot(image, harts=2, memory_bytes=SMALL, checkpoint=path)
    return path


@pytest.fixture(scope="module")
def seen(image: Image, booted: Path) -> Profile:
    """The profile of the program, with the kernel and the shell around it."""
    return profile_boot(image, "/plain", checkpoint=booted)


def test_calls_of_threads_and_signal_handlers_are_those_of_an_instrumented_build(
    seen: Profile, booted: Path, programs: tuple[Path, Path]
) -> None:
    alone = restore(booted, "/counted")
    assert alone.exit_code == 0, alone.stderr
    truth = counts_of(alone.stderr.decode(), programs[1])
    calls = calls_by_symbol(seen, "plain")
    assert {names: sum(calls.get(name, 0) for name in names.split()) for names in truth} == truth
    assert truth["on_signal"] == 10
    assert truth["jump_away"] == 5
    assert truth["work"] == 4


def test_a_guest_does_not_notice(seen: Profile, booted: Path) -> None:
    assert restore(booted, "/plain").digest == seen.digest
    assert [sum(hart.tree.cycles) for hart in seen.harts] == seen.cycles
    lines = folded(seen).splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == sum(seen.cycles)


def test_processes_and_threads_have_their_names_and_stacks(seen: Profile) -> None:
    titles = [thread.title for thread in seen.threads]
    assert any(title.startswith("swapper/") for title in titles)
    plain = [thread for thread in seen.threads if thread.process == "plain"]
    assert len(plain) == 5
    assert len({thread.process_number for thread in plain}) == 1
    stacks: Counter[str] = Counter()
    for _, names, cycles, _ in seen.stacks():
        stacks[";".join(names[1:])] += cycles
    assert any(stack.endswith("main;survive;fault;handle_exception;do_page_fault") for stack in stacks)
    assert any(
        ";work;add;fibonacci" not in stack and ";work;fibonacci;fibonacci" in stack for stack in stacks
    )
    # What the kernel does for a program lies above it, and ends with it.
    deep = [stack for stack in stacks if "handle_exception;do_trap_ecall_u" in stack]
    assert deep
    assert all(stack.count("handle_exception;do_trap_ecall_u") == 1 for stack in deep)
    assert max(len(stack.split(";")) for stack in stacks) < 90


def test_the_time_line_has_threads_interrupts_and_system_calls(seen: Profile) -> None:
    kernel = calls_by_symbol(seen, "kernel")
    titles: Counter[str] = Counter()
    for hart in seen.harts:
        shown = {lane.title: lane.events for lane in lanes(seen, hart)}
        assert {"threads", "interrupts", "system calls"} <= set(shown)
        # A hart has one thread after the other, and no other time.
        ends = [0] + [end for _, _, end in shown["threads"]]
        assert all(begin >= end for (_, begin, _), end in zip(shown["threads"], ends, strict=False))
        assert sum(end - begin for _, begin, end in shown["threads"]) <= hart.cycles
        titles.update(trap.title for trap in hart.traps)
        first, last = hart.windows[0][0], hart.windows[-1][1]
        assert all(first <= begin <= end <= last for events in shown.values() for _, begin, end in events)
    assert titles["timer interrupt"] > 0
    assert titles["system call 221"] > 0  # execve
    ended = sum(count for title, count in titles.items() if title.startswith("system call"))
    # The others are of threads that have ended in them, or wait.
    others = kernel["do_trap_ecall_u"] - ended
    assert 0 <= others <= len(seen.threads)


def test_code_without_a_name_is_rare(seen: Profile) -> None:
    assert seen.unnamed_share <= 0.01
    functions = set(seen.calls()["function"])
    assert {"__schedule", "__switch_to", "do_page_fault", "kernel_clone"} <= functions


def test_functions_of_modules_have_names(image: Image, booted: Path) -> None:
    loading = profile_boot(image, "modprobe crc32c_generic", checkpoint=booted)
    calls = loading.calls()
    functions = set(calls[calls["module"] == "crc32c_generic"]["function"])
    assert {"chksum_init", "chksum_update", "chksum_final"} <= functions
    assert loading.unnamed_share <= 0.001


@pytest.mark.parametrize(
    ("start", "stop", "command", "fired"),
    [
        ("hint:1", "hint:2", "true; profile-begin; /plain; profile-end; true", (1, 1)),
        ("process:plain", "process:cat", "/plain; cat /init", None),
        ("function:plain!work", None, "/plain", (1, 0)),
        ("function:do_page_fault", "function:do_exit", "/plain", None),
    ],
)
def test_triggers_of_linux(
    start: str, stop: str | None, command: str, fired: tuple[int, int] | None, image: Image, booted: Path
) -> None:
    watching = Watching(start, stop)
    seen = profile_boot(image, command, watching=watching, checkpoint=booted)
    assert restore(booted, command).digest == seen.digest
    assert watching.unmet(seen) == []
    assert fired is None or seen.fired == fired
    for hart in seen.harts:
        assert sum(hart.tree.cycles) == hart.cycles == sum(end - begin for begin, end in hart.windows)
    calls = calls_by_symbol(seen, "plain")
    assert calls["fibonacci"] > 100 or start.startswith("function:do")
    assert seen.unnamed_share <= 0.01


def test_a_trace_tells_modes_and_processes_apart(
    image: Image, booted: Path, seen: Profile, programs: tuple[Path, Path], tmp_path: Path
) -> None:
    path = tmp_path / "trace"
    traced = profile_boot(image, "/plain", checkpoint=booted, watching=Watching(trace=path))
    assert traced.digest == seen.digest
    blocks = pd.concat(read_trace(path).blocks())
    assert blocks["instructions"].sum() == traced.instructions == seen.instructions
    assert blocks.groupby("hart")["instructions"].sum().tolist() == [hart.instructions for hart in seen.harts]
    kernel = blocks["address"] >= 1 << 63
    assert set(blocks["privilege"]) == {0, 1, 3}
    assert not (kernel & (blocks["privilege"] != 1)).any()
    # The program's own code runs in user mode, in one address space.
    main = int(next(row for row in listed(programs[0]) if row.endswith(" T main")).split()[0], 16)
    spaces = set(blocks[(blocks["address"] == main) & (blocks["privilege"] == 0)]["address_space"])
    assert len(spaces) == 1
    alone = read_trace(path, privileges=["U"], address_spaces=spaces)
    assert 0 < sum(map(len, alone.blocks())) < len(blocks)


def listed(program: Path) -> list[str]:
    """The symbols of a program."""
    ended = subprocess.run(["riscv64-linux-gnu-nm", program], capture_output=True, text=True, check=True)
    return ended.stdout.splitlines()


def test_what_an_image_does_not_have_is_said(image: Image, booted: Path) -> None:
    def said(watching: Watching) -> str:
        with pytest.raises(EngineError) as refused:
            profile_boot(image, "true", watching=watching, checkpoint=booted)
        return str(refused.value)

    assert "do_page_fault" in said(Watching("function:do_page_falt"))
    assert "no file is called `plane`; the nearest names are plain" in said(Watching("function:plane!main"))
    assert "fibonacci" in said(Watching("function:plain!fibonaci"))


@pytest.mark.long
def test_a_whole_boot(image: Image) -> None:
    whole = profile_boot(image, "ls -R /usr", harts=2, memory_bytes=SMALL)
    assert whole.unnamed_share <= 0.01
    assert [sum(hart.tree.cycles) for hart in whole.harts] == whole.cycles
    alone = boot(image, "ls -R /usr", harts=2, memory_bytes=SMALL)
    assert alone.digest == whole.digest
    assert {"start_kernel", "kernel_init", "schedule"} <= set(whole.calls()["function"])
