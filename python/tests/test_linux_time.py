"""The time that a guest reads: how fine it is, and how short a sleep may be."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rackwright import _engine
from rackwright.linux.boot import BootResult, boot, restore
from rackwright.linux.image import Image, default_image, load_image
from rackwright.machine.parameters import ServerParameters

CLOCK = r"""
#include <stdio.h>
#include <time.h>

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(void) {
    long shortest = 1000000000, equal = 0, backwards = 0, before = now();
    for (int time = 0; time < 20; time++) {
        struct timespec microsecond = {0, 1000};
        long begin = now();
        nanosleep(&microsecond, 0);
        long slept = now() - begin;
        shortest = slept < shortest ? slept : shortest;
    }
    before = now();
    for (int time = 0; time < 1000; time++) {
        long read = now();
        equal += read == before;
        backwards += read < before;
        before = read;
    }
    printf("%ld %ld %ld\n", shortest, equal, backwards);
}
"""
"""The shortest sleep of 1 us in ns; how many of 1000 readings equal the one before, and precede it."""

MEMORY_BYTES = 256 << 20


@pytest.fixture(scope="module")
def image() -> Image:
    return load_image(default_image())


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(CLOCK)
    compiler = ["riscv64-linux-gnu-gcc", "-O2", "-static"]
    subprocess.run([*compiler, str(folder / "clock.c"), "-o", str(folder / "clock")], check=True)
    return folder / "clock"


def measured(result: BootResult) -> list[int]:
    assert result.exit_code == 0, result.stderr
    return [int(word) for word in result.stdout.split()]


def test_sleeps_are_as_short_as_the_slack_of_timers_lets_them_be(
    image: Image, clock: Path, tmp_path: Path
) -> None:
    booted = tmp_path / "booted"
    command = "taskset 2 ./clock"
    result = boot(image, command, harts=2, memory_bytes=MEMORY_BYTES, files=[clock], checkpoint=booted)
    shortest, _, backwards = measured(result)
    assert 51_000 <= shortest < 60_000  # A microsecond, and the 50 us of slack that Linux gives a process.
    assert backwards == 0
    shortest, equal, backwards = measured(restore(booted, command, cpu="rocket"))
    assert 51_000 <= shortest < 70_000
    assert (equal, backwards) == (0, 0)
    with pytest.raises(_engine.EngineError, match="another tick of time; boot one with this tick-cycles"):
        restore(booted, "true", timing=ServerParameters({"tick-cycles": 1000}))


def test_a_tick_of_a_microsecond_is_as_coarse_as_boards_with_one(
    image: Image, clock: Path, tmp_path: Path
) -> None:
    booted = tmp_path / "booted"
    coarse = ServerParameters({"tick-cycles": 2000})
    result = boot(
        image, "./clock", memory_bytes=MEMORY_BYTES, files=[clock], timing=coarse, checkpoint=booted
    )
    # What goes on from the checkpoint has its tick.
    for each in (result, restore(booted, "./clock")):
        shortest, equal, backwards = measured(each)
        assert shortest > 100_000  # Linux programs its timer for 100 ticks at least.
        assert equal > 900
        assert backwards == 0
