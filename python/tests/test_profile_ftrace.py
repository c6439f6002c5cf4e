"""Profiles of Linux against what the kernel itself says: calls of its functions, as it traces them."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from profile_counts import NO_INLINING

from rackwright import compile_program
from rackwright.linux.archive import ArchiveWriter, program
from rackwright.linux.boot import boot, restore
from rackwright.linux.image import Image, default_image, load_image
from rackwright.profiling import Profile, profile_boot

pytestmark = pytest.mark.long

THREADS = Path(__file__).resolve().parents[2] / "software" / "tests" / "profile" / "threads.c"
SMALL = 256 << 20

FUNCTIONS = (
    *("handle_mm_fault", "do_mmap", "mmput", "kernel_clone", "do_exit", "schedule"),
    *("get_signal", "do_sigaction", "do_futex", "vfs_write", "load_elf_binary"),
)
"""Debian's kernel has no function profiler (CONFIG_FUNCTION_PROFILER), but it can trace these."""

COMMAND = (
    "mount -t tracefs none /sys/kernel/tracing && cd /sys/kernel/tracing && "
    f"for each in {' '.join(FUNCTIONS)}; do echo $each >> set_ftrace_filter; done && "
    "echo function > current_tracer && /plain > /dev/null; sh -c '/plain; ls /' > /dev/null; "
    "echo 0 > tracing_on; cat trace"
)

_CALL = re.compile(r"^\s*.+-(\d+)\s+\[\d+\]\s+\S+\s+[\d.]+: (\w+) <-", re.MULTILINE)

Calls = Counter[tuple[int, str]]
"""By the number of a thread, and the function."""


@pytest.fixture(scope="module")
def image() -> Image:
    """The default image with a program that has threads and signals."""
    added = io.BytesIO()
    writer = ArchiveWriter(added)
    built = compile_program([THREADS], options=[*NO_INLINING, "-pthread"])
    writer.add(program("plain", built.read_bytes()))
    writer.close()
    default = load_image(default_image())
    return replace(default, files=default.files + added.getvalue())


def of_kernel(printed: str) -> Calls:
    """The calls in what the kernel's tracer has printed, all of which it has kept."""
    kept = re.search(r"entries-in-buffer/entries-written: (\d+)/(\d+)", printed)
    assert kept
    calls = Counter((int(thread), function) for thread, function in _CALL.findall(printed))
    assert calls.total() == int(kept[1]) == int(kept[2])
    return calls


def of_profile(seen: Profile) -> Calls:
    """The calls of the same functions in a profile."""
    calls: Calls = Counter()
    for hart in seen.harts:
        tree = hart.tree
        for node, path in ((node, tree.path(node)) for node in range(len(tree.parents))):
            if len(path) > 1 and seen.functions[path[-1]].symbol in FUNCTIONS:
                calls[seen.threads[path[0]].number, seen.functions[path[-1]].symbol] += tree.calls[node]
    return calls


@pytest.fixture(scope="module")
def booted(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine with two harts that has booted."""
    path = tmp_path_factory.mktemp("booted") / "checkpoint"
    boot(image, harts=2, memory_bytes=SMALL, checkpoint=path)
    return path


@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_calls_of_kernel_functions_are_those_that_the_kernel_traces(
    cpu: str, image: Image, booted: Path
) -> None:
    seen = profile_boot(image, COMMAND, checkpoint=booted, cpu=cpu)
    alone = restore(booted, COMMAND, cpu=cpu)
    # What the kernel has printed is that of the run that was observed: they are the same.
    assert alone.digest == seen.digest
    assert alone.exit_code == 0, alone.stderr
    # Threads that began and ended while the kernel traced.
    threads = {thread.number for thread in seen.threads if thread.process in ("plain", "ls")}
    traced, profiled = (
        Counter({key: calls[key] for key in calls if key[0] in threads})
        for calls in (of_kernel(alone.stdout.decode()), of_profile(seen))
    )
    assert profiled == traced
    assert {function for _, function in traced} == set(FUNCTIONS)
    assert traced.total() > 200
