"""Several processes over remote memory: what they find is what they find on Linux, with any local memory."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bootstrap.paths import SOFTWARE
from rackwright import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.remote_memory import Paging, PagingResult, run_paged, workload

PAGE = 4096
KINDS = get_args(Paging)


@cache
def on_this_machine(*arguments: str) -> str:
    """What this machine's own Linux gives the same source."""
    source = SOFTWARE / "remote-memory" / "workloads" / "processes.c"
    program = workload("processes").with_name("processes-of-host")
    if not program.exists():
        subprocess.run(["g++", "-x", "c", "-O2", source, "-o", program], check=True)
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def paged(
    program: Path,
    *arguments: str,
    pages: int,
    paging: Paging = "software",
    harts: int = 1,
    batch: int = 0,
    blades: int = 1,
    loss: float = 0.0,
    cpu: str = "functional",
    threads: int = 1,
) -> PagingResult:
    """With so many local pages."""
    return run_paged(
        *(program, arguments),
        local_bytes=pages * PAGE,
        paging=paging,
        harts=harts,
        batch=batch,
        blades=blades,
        loss=loss,
        cpu=cpu,
        link_latency_us=0.5,
        threads=threads,
        until_ms=4_000,
    )


@pytest.mark.parametrize("paging", KINDS)
@pytest.mark.parametrize(
    ("pages", "harts", "blades", "loss"),
    [(2000, 1, 1, 0.0), (8, 1, 1, 0.0), (16, 2, 2, 0.01), (24, 3, 1, 0.0)],
)
def test_processes_find_what_they_find_on_linux(
    pages: int, harts: int, blades: int, loss: float, paging: Paging
) -> None:
    """Memory that is copied and then changed apart, pipes, ends by signals, a program begun anew."""
    arguments = ("3", "6", "40")
    result = paged(
        workload("processes"), *arguments, pages=pages, harts=harts, blades=blades, loss=loss, paging=paging
    )
    assert (result.output, result.exit_code) == (on_this_machine(*arguments), 0)
    assert (result.counts["remote_faults"] > 500) == (pages < 2000)


@pytest.mark.parametrize("paging", KINDS)
def test_the_digest_of_processes_depends_on_no_thread(paging: Paging) -> None:
    """Two harts, two blades, a network that loses frames; one and two threads."""
    results = [
        paged(
            *(workload("processes"), "2", "4", "20"),
            pages=24,
            harts=2,
            blades=2,
            loss=0.01,
            paging=paging,
            threads=threads,
        )
        for threads in (1, 2)
    ]
    assert results[0].digest == results[1].digest


@pytest.mark.long
@given(
    count=st.integers(0, 6),
    table=st.integers(2, 30),
    steps=st.integers(1, 300),
    pages=st.integers(8, 80),
    harts=st.integers(1, 4),
    batch=st.integers(0, 48),
    paging=st.sampled_from(KINDS),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_processes_find_the_same_with_any_memory(
    count: int, table: int, steps: int, pages: int, harts: int, batch: int, paging: Paging
) -> None:
    """Pages leave in all orders, as the batch and the number of frames decide which, and when."""
    arguments = (str(count), str(table), str(steps))
    batch = min(batch, (pages - 4) // 4)
    result = paged(workload("processes"), *arguments, pages=pages, harts=harts, batch=batch, paging=paging)
    assert (result.output, result.exit_code) == (on_this_machine(*arguments), 0)


@pytest.mark.long
@pytest.mark.parametrize("paging", KINDS)
@pytest.mark.parametrize("cpu", ["rocket", "boom"])
def test_processes_on_cores_with_time(cpu: str, paging: Paging) -> None:
    """The cores that are timed."""
    result = paged(workload("processes"), "2", "4", "20", pages=24, cpu=cpu, paging=paging)
    assert (result.output, result.exit_code) == (on_this_machine("2", "4", "20"), 0)


LIMITS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long turns[2];

static void *turn(void *which) {
  for (;;) ++turns[(long)which];
  return NULL;
}

static int status_of(pid_t process) {
  int status = -1;
  waitpid(process, &status, 0);
  return status;
}

int main(int count, char **arguments) {
  pid_t most[40];
  int made = 0, waits[2], broken[2];
  if (pipe(waits) || pipe(broken)) return 1;
  while (made < 40 && (most[made] = fork()) > 0) ++made;
  if (made < 40 && most[made] == 0) _exit(read(waits[0], &made, 1));
  printf("%d processes, %s\n", made, strerror(errno));
  if (waitpid(-1, NULL, WNOHANG) != 0) return 2;
  for (int index = 0; index < made; ++index) {
    if (kill(most[index], 0) || kill(most[index], SIGTERM)) return 3;
    if (WTERMSIG(status_of(most[index])) != SIGTERM) return 3;
  }
  printf("%s\n", kill(most[0], 0) ? strerror(errno) : "still there");
  signal(SIGPIPE, SIG_IGN);
  close(broken[0]);
  printf("%s\n", write(broken[1], "x", 1) < 0 ? strerror(errno) : "written");
  /* A program that is none, and one that was written here. */
  char *none[] = {"x", NULL};
  execve("missing", none, none + 1);
  printf("%s\n", strerror(errno));
  int file = open("written", O_CREAT | O_RDWR, 0755);
  if (write(file, "\177ELF", 4) != 4) return 4;
  execve("written", none, none + 1);
  printf("%s\n", strerror(errno));
  /* Where the runtime is, and beyond all addresses. */
  void *const places[] = {(void *)0x80000000ul, (void *)0x1000000000ul, (void *)-4096ul};
  for (int index = 0; index < 3; ++index) {
    if (mmap(places[index], 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) return 5;
  }
  /* Ends with a thread that never calls, and with one that waits, here or on another hart. */
  for (int round = 0; round < 3; ++round) {
    pid_t process = fork();
    if (!process) {
      pthread_t threads[2];
      pthread_create(&threads[0], NULL, turn, (void *)0);
      if (count > 1) {
        while (!turns[0]) usleep(1);
      }
      _exit(round + 1);
    }
    printf("status %d\n", WEXITSTATUS(status_of(process)));
  }
  return 0;
}
"""


@pytest.mark.parametrize("paging", KINDS)
@pytest.mark.parametrize("harts", [1, 2])
def test_limits_and_ends_are_told_as_linux_does(tmp_path: Path, harts: int, paging: Paging) -> None:
    """31 further processes; then an error, and each of them goes."""
    source, program = tmp_path / "limits.c", tmp_path / "limits.elf"
    source.write_text(LIMITS)
    compile_program([source], program, [])
    result = paged(program, *(["turns"] if harts > 1 else []), pages=200, harts=harts, paging=paging)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        *("31 processes, Resource temporarily unavailable", "No such process", "Broken pipe"),
        *("No such file or directory", "Exec format error", "status 1", "status 2", "status 3"),
    ]


def test_two_files_with_the_program_s_name_are_refused(tmp_path: Path) -> None:
    """Both would be in the folder of the program."""
    other = tmp_path / workload("processes").name
    other.write_text("not that one")
    with pytest.raises(RackwrightError, match="two files have one name"):
        run_paged(workload("processes"), local_bytes=16 * PAGE, files=[other])
