"""Programs with several threads and signals, on one hart and on several."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bootstrap.paths import SOFTWARE
from rackwright import CPUS, EngineError, RackwrightError, Server, compile_program

ABORTED = 128 + 6


@pytest.fixture(scope="module")
def threads() -> Path:
    """Threads, locks, conditions, timed waits, signals and cancellation through the C library."""
    return compile_program([SOFTWARE / "tests" / "threads.c"], options=["-pthread", "-O1"])


@pytest.fixture(scope="module")
def expected(threads: Path) -> bytes:
    """What it prints on QEMU."""
    return subprocess.run(["qemu-riscv64", threads], stdout=subprocess.PIPE, check=False).stdout


@pytest.mark.parametrize("harts", [1, 2, 5])
@pytest.mark.parametrize("cpu", CPUS)
def test_threads_do_what_they_do_on_qemu(cpu: str, harts: int, threads: Path, expected: bytes) -> None:
    result = Server(cpu, harts=harts).run(threads)
    assert result.stdout.decode() == expected.decode()
    assert result.exit_code == ABORTED
    assert result.record()["harts"] == harts


def threaded(folder: Path, body: str) -> Path:
    """A program whose threads run `work`, which this body defines beside `main`."""
    source = folder / "program.c"
    headers = ("pthread.h", "sched.h", "stdio.h", "stdlib.h", "string.h", "unistd.h", "sys/wait.h")
    text = "#define _GNU_SOURCE\n" + "".join(f"#include <{name}>\n" for name in headers) + body
    source.write_text(text)
    return compile_program([source], folder / "program.elf", ["-pthread"])


SUMS = """
enum { MOST = 8 };
static void *work(void *argument) {
    volatile unsigned long sum = 0;
    for (long i = 0; i < 150000; i++) sum += i * (long)argument;
    return (void *)sum;
}
int main(int count, char **words) {
    pthread_t threads[MOST];
    int number = atoi(words[1]);
    for (long i = 0; i < number; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < number; i++) pthread_join(threads[i], NULL);
    return sysconf(_SC_NPROCESSORS_ONLN);
}
"""


@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_harts_share_the_work(cpu: str, tmp_path: Path) -> None:
    sums = threaded(tmp_path, SUMS)
    runs = {harts: Server(cpu, harts=harts).run(sums, ["4"]) for harts in (1, 2, 4)}
    assert [run.exit_code for run in runs.values()] == [1, 2, 4]
    assert 1.8 < runs[1].cycles / runs[2].cycles < 2.05
    assert 3.2 < runs[1].cycles / runs[4].cycles < 4.05


@pytest.mark.parametrize("cpu", CPUS)
def test_the_digest_depends_on_neither_the_host_nor_on_how_a_run_is_watched(cpu: str, threads: Path) -> None:
    plain = Server(cpu, harts=3).run(threads)
    seen: list[int] = []
    watched = Server(cpu, harts=3).run(
        threads, progress=lambda _, cycles: seen.append(cycles), max_cycles=plain.cycles + 1
    )
    assert watched.digest == plain.digest
    assert watched.cycles == plain.cycles


def test_more_threads_than_harts_take_turns(tmp_path: Path) -> None:
    body = """
        static volatile int ready;
        static void *work(void *argument) { while (!ready) {} return argument; }
        int main(void) {
            pthread_t first, second;
            pthread_create(&first, NULL, work, NULL);
            pthread_create(&second, NULL, work, NULL);
            ready = 1;
            pthread_join(first, NULL);
            pthread_join(second, NULL);
            return 9;
        }
        """
    assert Server("functional").run(threaded(tmp_path, body)).exit_code == 9


def test_a_pinned_thread_stays_where_it_is(tmp_path: Path) -> None:
    body = """
        static void *work(void *argument) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET((long)argument, &set);
            if (sched_setaffinity(0, sizeof set, &set)) return NULL;
            sched_yield();
            usleep(10);
            return (void *)(long)(sched_getcpu() == (long)argument);
        }
        int main(void) {
            pthread_t threads[3];
            long right = 0;
            for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, (void *)(2 - i));
            for (int i = 0; i < 3; i++) {
                void *result;
                pthread_join(threads[i], &result);
                right += (long)result;
            }
            cpu_set_t none;
            CPU_ZERO(&none);
            CPU_SET(7, &none);
            return right * 10 + (sched_setaffinity(0, sizeof none, &none) == -1);
        }
        """
    assert Server("rocket", harts=3).run(threaded(tmp_path, body)).exit_code == 31


@pytest.mark.parametrize("harts", [1, 2])
def test_threads_that_wait_for_ever_end_the_run(harts: int, tmp_path: Path) -> None:
    body = """
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        static void *work(void *argument) { pthread_mutex_lock(&mutex); return argument; }
        int main(void) {
            pthread_t thread;
            pthread_mutex_lock(&mutex);
            pthread_create(&thread, NULL, work, NULL);
            pthread_join(thread, NULL);
        }
        """
    with pytest.raises(EngineError, match="all 2 threads of the program wait, and nothing will wake them"):
        Server("functional", harts=harts).run(threaded(tmp_path, body))


def test_a_signal_without_a_handler_ends_the_program(tmp_path: Path) -> None:
    body = """
        static void *work(void *argument) { pthread_kill(*(pthread_t *)argument, SIGTERM); return NULL; }
        int main(void) {
            pthread_t self = pthread_self(), thread;
            pthread_create(&thread, NULL, work, &self);
            for (;;) {}
        }
        """
    assert Server("functional", harts=2).run(threaded(tmp_path, body)).exit_code == 128 + 15


def test_every_hart_has_units_of_its_own(tmp_path: Path) -> None:
    body = """
        #include "rackwright_snappy.h"
        enum { BYTES = 20000, ROOM = 32 + BYTES + BYTES / 6 };
        static char plain[2][BYTES], packed[2][ROOM], again[2][BYTES];
        static void *work(void *argument) {
            long self = (long)argument;
            for (int i = 0; i < BYTES; i++) plain[self][i] = 'a' + (i * i / 64 + self) % 23;
            rackwright_snappy_result small =
                rackwright_snappy_compress(plain[self], BYTES, packed[self], ROOM);
            if (small.status) return NULL;
            rackwright_snappy_uncompress(packed[self], small.output_bytes, again[self], BYTES);
            return (void *)(long)(memcmp(plain[self], again[self], BYTES) == 0);
        }
        int main(void) {
            pthread_t thread;
            void *there;
            pthread_create(&thread, NULL, work, (void *)1);
            void *here = work((void *)0);
            pthread_join(thread, &there);
            return (here != NULL) + (there != NULL);
        }
        """
    program = threaded(tmp_path, body)
    result = Server("rocket", ["snappy"], harts=2).run(program)
    assert result.exit_code == 2
    assert result.digest == Server("rocket", ["snappy"], harts=2).run(program).digest


def test_impossible_numbers_of_harts_are_refused() -> None:
    with pytest.raises(RackwrightError, match="1 to 64 harts, not 65"):
        Server(harts=65)


RESERVED = """
static volatile int reserved __attribute__((aligned(64)));
static volatile struct { int asked, done; } flags __attribute__((aligned(64)));
static void *work(void *argument) {
    while (!flags.asked) {}
    reserved = 5;
    reserved = 0;
    flags.done = 1;
    usleep(1000);
    return argument;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    usleep(100);
    int failed, seen;
    asm volatile("lr.w %0, (%2)\\n"
                 "sw %4, (%3)\\n"
                 "1: lw %1, 4(%3)\\n"
                 "beqz %1, 1b\\n"
                 "sc.w %0, %4, (%2)\\n"
                 : "=&r"(failed), "=&r"(seen)
                 : "r"(&reserved), "r"(&flags), "r"(1)
                 : "memory");
    pthread_join(thread, NULL);
    return failed;
}
"""


@pytest.mark.parametrize("cpu", CPUS)
def test_a_reservation_is_lost_to_a_thread_that_wrote_and_went_to_sleep(cpu: str, tmp_path: Path) -> None:
    program = threaded(tmp_path, RESERVED)
    assert Server(cpu, harts=2).run(program).exit_code == 1
