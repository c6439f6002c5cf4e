"""Checkpoints of servers with programs of Linux in user mode: memory, threads, descriptors, timers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from going_on import UNIT_CALLS, goes_on, position

from rackwright import (
    CPUS,
    Cluster,
    Program,
    RackwrightError,
    Server,
    Switch,
    UnitConfig,
    compile_program,
)
from rackwright.hardware.headers import server_header
from rackwright.unit.accelerators import unit_manifest

DESCRIPTORS = """
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
enum { ROUNDS = 16, MAPS = 4 };
static int pipes[2], counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t alarms, shared;
static void note(int signal) { alarms++; }
static void *produce(void *unused) {
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        shared += i;
        pthread_mutex_unlock(&lock);
        write(pipes[1], &i, sizeof i);
        write(counter, &i, sizeof i);
        nanosleep(&(struct timespec){0, 2000}, NULL);
    }
    close(pipes[1]);
    return NULL;
}
static void watch(int list, int number) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = number};
    epoll_ctl(list, EPOLL_CTL_ADD, number, &event);
}
int main(int count, char **words) {
    signal(SIGALRM, note);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 9}, {0, 9}}, NULL);
    pipe(pipes);
    counter = eventfd(0, EFD_NONBLOCK);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(timer, 0, &(struct itimerspec){{0, 5000}, {0, 5000}}, NULL);
    int file = open(words[1], O_RDONLY), other = dup(file), source = open("/dev/urandom", O_RDONLY);
    int list = epoll_create1(0);
    watch(list, pipes[0]);
    watch(list, timer);
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    uint64_t sum = 0, counted = 0, ticks = 0, bytes = 0;
    char *maps[MAPS] = {0}, block[16];
    for (int turn = 0, open = 1; open; turn++) {
        struct epoll_event events[4];
        int ready = epoll_wait(list, events, 4, -1);
        for (int i = 0; i < ready; i++) {
            uint64_t value = 0;
            long got = read(events[i].data.fd, &value, sizeof value);
            if (events[i].data.fd == timer) ticks += value;
            else if (got == 0) open = 0;
            else sum = 31 * sum + value;
        }
        if (read(counter, block, 8) == 8) counted += *(uint64_t *)block;
        int got = read(turn % 2 ? file : other, block, sizeof block);
        while (got-- > 0) bytes = 31 * bytes + block[got];
        getrandom(block, 4, 0);
        read(source, block + 4, 4);
        char **map = &maps[turn % MAPS];
        if (*map) munmap(*map, 8192);
        *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(*map + 4090, block, 8);
        mprotect(*map, 4096, turn % 3 ? PROT_READ : PROT_READ | PROT_WRITE);
        bytes += (*map)[4091];
        free(realloc(malloc(1000 * turn + 1), 50000));
    }
    pthread_join(thread, NULL);
    printf("%lx %lu %lu %lu %lx %lu\\n", sum, counted, ticks, alarms, bytes, shared);
    return 3;
}
"""

UNSAVED = """
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    int pair[2];
    switch (*words[1]) {
    case 's': socketpair(AF_UNIX, SOCK_STREAM, 0, pair); break;
    case 'm': memfd_create("data", 0); break;
    case 'p': fork(); break;
    }
    sleep(1);
}
"""


def compiled(folder: Path, text: str) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return compile_program([source], folder / "program.elf", [f"-I{folder}", "-pthread"])


def of(*servers: Server) -> Cluster:
    switch = Switch("tor0")
    switch.add_downlinks(servers)
    return Cluster(switch)


@pytest.fixture(scope="module")
def descriptors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that uses its descriptors, two threads, timers, and memory that it maps and protects."""
    return compiled(tmp_path_factory.mktemp("descriptors"), DESCRIPTORS)


def programs(descriptors: Path) -> Cluster:
    """Servers with harts of each model."""
    read = descriptors.with_name("program.c")
    workload = Program(descriptors, [str(read)])
    return of(*(Server(cpu, harts=2, name=cpu, workload=workload) for cpu in CPUS))


UNTIL_MS = 0.4
"""When all of them have ended."""


def test_programs_go_on_from_their_state(descriptors: Path, tmp_path: Path) -> None:
    whole = programs(descriptors).run(until_ms=UNTIL_MS)
    assert list(whole.servers["exit_code"]) == [3] * len(CPUS)
    assert all(int(row.split()[3]) > 0 for row in whole.servers["stdout"]), "no signal of a timer"
    goes_on(lambda: programs(descriptors), UNTIL_MS, [0.05, 0.13], tmp_path / "state")


POINTS = 100
"""Of each kind of server."""


@pytest.mark.long("two hundred runs")
def test_programs_go_on_from_their_state_at_any_time(descriptors: Path, tmp_path: Path) -> None:
    times = random.Random(9)
    points = [times.uniform(0.001, 0.3) for _ in range(POINTS)]
    goes_on(lambda: programs(descriptors), UNTIL_MS, points, tmp_path / "state")


@pytest.mark.long("two hundred runs")
def test_programs_that_wait_for_units_go_on_from_their_state(tmp_path: Path) -> None:
    unit = UnitConfig("snappy-decompress")
    (tmp_path / "units.h").write_text(server_header([unit_manifest(unit)]), encoding="utf-8")
    workload = Program(compiled(tmp_path, UNIT_CALLS))

    def cluster() -> Cluster:
        return of(*(Server(cpu, [unit], name=cpu, workload=workload) for cpu in CPUS))

    assert list(cluster().run(until_ms=0.4).servers["exit_code"]) == [0] * len(CPUS)
    times = random.Random(10)
    goes_on(cluster, 0.06, [times.uniform(0.001, 0.055) for _ in range(POINTS)], tmp_path / "state")


@pytest.fixture(scope="module")
def unsaved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that does what its argument names, and then sleeps."""
    return compiled(tmp_path_factory.mktemp("unsaved"), UNSAVED)


@pytest.mark.parametrize(
    ("what", "reason"),
    [("s", "a socket"), ("m", "an open file without a name"), ("p", "several processes")],
)
def test_what_is_not_saved_of_a_program_is_named(
    unsaved: Path, what: str, reason: str, tmp_path: Path
) -> None:
    server = Server(name="program", workload=Program(unsaved, [what]))
    of(server).run(until_ms=0.1, checkpoint=tmp_path / "state")
    assert position(tmp_path / "state")["unsaved"] == f"`program`: a program with {reason} cannot be saved"


def test_a_file_that_a_program_reads_must_not_change(descriptors: Path, tmp_path: Path) -> None:
    read = tmp_path / "read"
    read.write_bytes(bytes(1000))

    def cluster() -> Cluster:
        return of(Server(name="program", harts=2, workload=Program(descriptors, [str(read)])))

    cluster().run(until_ms=0.05, checkpoint=tmp_path / "state")
    read.write_bytes(bytes(999))
    with pytest.raises(RackwrightError, match=f"`program`: `{read}` has changed, or is not there"):
        cluster().run(until_ms=0.1, restart=tmp_path / "state")
