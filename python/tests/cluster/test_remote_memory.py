"""Programs over remote memory: their output, whatever local memory they have, and what ends them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from tiers import long

from rackwright import BareMetal, Cluster, MemoryBlade, RackwrightError, Server
from rackwright.machine.programs import compile_program
from rackwright.remote_memory import Paging, PagingResult, paging_program, run_paged, workload
from rackwright.remote_memory.measure import paged_server

PAGE = 4096
SORT = "3000"
GENOME = ("1000", "300", "4096")


@cache
def sorted_with(
    pages: int, blades: int = 1, loss: float = 0.0, threads: int = 1, paging: Paging = "software"
) -> PagingResult:
    """A short quicksort with so many local pages."""
    return run_paged(
        workload("qsort"),
        [SORT],
        local_bytes=pages * PAGE,
        paging=paging,
        blades=blades,
        loss=loss,
        link_latency_us=0.5,
        threads=threads,
        cpu="functional",
    )


@pytest.mark.parametrize("paging", ["software", "unit"])
@pytest.mark.parametrize(("pages", "blades", "loss"), [(8, 1, 0.0), (24, 2, 0.0), (16, 1, 0.02)])
def test_output_is_that_of_a_program_with_all_memory_local(
    pages: int, blades: int, loss: float, paging: Paging
) -> None:
    """Down to eight pages, with several blades, and over a network that loses frames."""
    local, remote = sorted_with(2000), sorted_with(pages, blades, loss, paging=paging)
    assert local.counts["remote_faults"] == local.network_bytes == 0
    assert (remote.output, remote.exit_code) == (local.output, 0)
    assert remote.output.startswith("sorted 3000 numbers")
    assert remote.counts["remote_faults"] > 20
    if paging == "software":
        assert (remote.counts["retries"] > 0) == (loss > 0)


@pytest.mark.parametrize("paging", ["software", "unit"])
@pytest.mark.parametrize(("blades", "loss"), [(1, 0.0), (2, 0.02)])
def test_a_server_with_the_blade_program_is_a_blade(blades: int, loss: float, paging: Paging) -> None:
    """Right below the server, and several behind a switch that loses frames."""
    remote = run_paged(
        *(workload("qsort"), [SORT]),
        local_bytes=16 * PAGE,
        paging=paging,
        blades=blades,
        blade_cpu="functional",
        loss=loss,
        link_latency_us=0.5,
        cpu="functional",
    )
    assert (remote.output, remote.exit_code) == (sorted_with(2000).output, 0)
    assert remote.counts["remote_faults"] > 20


@pytest.mark.parametrize(
    ("pages", "reason"), [("10", "a blade has no room for one more page"), ("0", "a blade does not answer")]
)
def test_the_blade_program_has_room_for_as_many_pages_as_it_is_told(pages: str, reason: str) -> None:
    """Full after ten; with room for none it ends at once."""
    blade = Server("functional", name="blade", workload=BareMetal("blade.elf", [pages]))
    server = Server(
        "functional",
        name="server",
        workload=BareMetal(
            paging_program(workload("qsort")),
            ["software", "16", "0", "0", "1", "1", blade, "qsort", SORT],
            static_arp=True,
        ),
    )
    server.connect(blade)
    result = Cluster(server).run(until_ms=20, ends_with=server, threads=1)
    rows = result.servers.set_index("name")
    assert (rows.loc["server", "exit_code"], reason in str(rows.loc["server", "stdout"])) == (125, True)
    assert (rows.loc["blade", "exit_code"] == 2) == (pages == "0")


@pytest.mark.parametrize("paging", ["software", "unit"])
def test_the_digest_depends_on_no_thread(paging: Paging) -> None:
    """Twice, on one and on two threads."""
    assert sorted_with(24, 2, paging=paging).digest == sorted_with(24, 2, threads=2, paging=paging).digest


@pytest.mark.parametrize("paging", ["software", "unit"])
def test_genome_is_assembled_with_little_memory(paging: Paging) -> None:
    """The same contigs, on the timed core."""
    results = [
        run_paged(workload("genome"), GENOME, local_bytes=pages * PAGE, link_latency_us=0.5, paging=paging)
        for pages in (500, 24)
    ]
    assert results[0].output == results[1].output
    assert "wrong turns" in results[1].output
    assert results[1].exit_code == results[0].exit_code == 0
    assert results[1].seconds > results[0].seconds


@cache
def assembled(
    paging: Paging, cpu: str, pages: int, ahead: int, slots: int = 4096, loss: float = 0.0, threads: int = 1
) -> PagingResult:
    """A short genome that prefetches slots so many k-mers ahead."""
    return run_paged(
        workload("genome"),
        ["1000", "300", str(slots), str(ahead)],
        local_bytes=pages * PAGE,
        paging=paging,
        cpu=cpu,
        blades=2 if loss else 1,
        loss=loss,
        link_latency_us=0.5,
        threads=threads,
    )


@pytest.mark.parametrize(
    ("paging", "cpu", "pages"),
    [
        ("software", "functional", 24),
        ("unit", "functional", 16),
        pytest.param("unit", "functional", 8, marks=pytest.mark.long),
        ("unit", "rocket", 24),
        ("unit", "boom", 24),
    ],
)
def test_prefetched_slots_make_the_same_contigs(paging: Paging, cpu: str, pages: int) -> None:
    """As with all memory local and none prefetched."""
    local, remote = assembled("software", "functional", 500, 0), assembled(paging, cpu, pages, 6)
    assert (remote.output, remote.exit_code) == (local.output, 0)
    assert remote.counts["remote_faults"] > 100


@pytest.mark.long
def test_only_the_unit_is_faster_by_prefetches() -> None:
    """As it has several pages on their way at once; with software a prefetch is just an instruction."""
    seconds = {
        (paging, ahead): assembled(paging, "rocket", 64, ahead, slots=32768).seconds
        for paging in get_args(Paging)
        for ahead in (0, 6)
    }
    assert seconds["unit", 6] < 0.9 * seconds["unit", 0]
    assert seconds["software", 6] > 0.97 * seconds["software", 0]


def test_prefetched_pages_survive_loss_and_depend_on_no_thread() -> None:
    """Two blades behind a switch that loses frames: answers come in any order, or again."""
    results = [assembled("unit", "functional", 24, 6, loss=0.02, threads=threads) for threads in (1, 2)]
    local = assembled("software", "functional", 500, 0)
    assert (results[0].output, results[0].exit_code) == (local.output, 0)
    assert results[0].digest == results[1].digest


def test_time_passes_at_the_edge_of_a_window() -> None:
    """The unit is told that right when a window of the simulation begins: always with links of 10.24 us."""
    remote = run_paged(
        *(workload("qsort"), ["300"]),
        local_bytes=8 * PAGE,
        paging="unit",
        loss=0.05,
        link_latency_us=10.24,
        cpu="functional",
    )
    assert remote.output.startswith("sorted 300 numbers")
    assert remote.exit_code == 0


PREFETCHES = r"""
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void prefetch(const volatile void *at) {
  __asm__ volatile(".option push\n.option arch, +zicbop\n"
                   "prefetch.r 0(%0)\nprefetch.w 0(%0)\nprefetch.i 0(%0)\n.option pop" : : "r"(at));
}

int main(void) {
  enum { PAGES = 64, PAGE = 4096 };
  const uint64_t nowhere[] = {0, 8, 1ull << 37, 1ull << 62, -4096ull, -1ull};
  for (unsigned index = 0; index < sizeof nowhere / 8; ++index) prefetch((void *)nowhere[index]);
  prefetch((void *)main);
  uint8_t *bytes = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (unsigned page = 0; page < PAGES; ++page) prefetch(bytes + page * PAGE);
  for (unsigned page = 0; page < PAGES; ++page) memset(bytes + page * PAGE, page + 1, PAGE);
  /* On their way when their rights and their contents go. */
  for (unsigned page = 0; page < 8; ++page) prefetch(bytes + page * PAGE);
  if (mprotect(bytes, 4 * PAGE, PROT_READ) || madvise(bytes + 4 * PAGE, 4 * PAGE, MADV_DONTNEED)) return 2;
  for (unsigned page = 0; page < PAGES; ++page) prefetch(bytes + page * PAGE);
  uint64_t sum = 0;
  for (unsigned at = 0; at < PAGES * PAGE; ++at) sum += bytes[at];
  for (unsigned page = 8; page < 12; ++page) prefetch(bytes + page * PAGE);
  if (munmap(bytes + 8 * PAGE, 4 * PAGE)) return 3;
  for (unsigned page = 0; page < PAGES; ++page) prefetch(bytes + page * PAGE);
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
"""


@cache
def prefetching_program(folder: Path) -> Path:
    """Prefetches of what is nowhere, protected, remote, and of pages whose mapping changes meanwhile."""
    source = folder / "prefetches.c"
    source.write_text(PREFETCHES)
    return compile_program([source], folder / "prefetches.elf")


@pytest.mark.parametrize("cpu", ["functional", "rocket", "boom"])
@pytest.mark.parametrize(("paging", "pages"), [("software", 24), ("unit", 24), ("unit", 200)])
def test_a_prefetch_never_traps(
    cpu: str, paging: Paging, pages: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever it is of; and pages on their way when they are unmapped or protected stay so."""
    program = prefetching_program(tmp_path_factory.getbasetemp())
    result = run_paged(program, local_bytes=pages * PAGE, paging=paging, cpu=cpu, link_latency_us=0.5)
    total = 4096 * (sum(range(1, 65)) - sum(range(5, 9)))
    assert (result.output, result.exit_code) == (f"{total}\n", 0)
    assert Server(cpu).run(program).exit_code == 0


@pytest.mark.long
def test_a_program_of_64_mib_sorts_with_an_eighth_of_it() -> None:
    """All local, and with the rest on the blade by software and by the unit."""
    cases: list[tuple[int, Paging]] = [(66, "software"), (8, "software"), (8, "unit")]
    runs = [
        run_paged(
            *(workload("qsort"), ["8400000"]),
            local_bytes=local << 20,
            paging=paging,
            link_latency_us=0.5,
            cpu="functional",
        )
        for local, paging in cases
    ]
    everything, *little = runs
    assert (everything.counts["remote_faults"], everything.exit_code) == (0, 0)
    assert everything.counts["peak_pages"] * PAGE >= 64 << 20
    assert all((run.output, run.exit_code) == (everything.output, 0) for run in little)
    assert all(run.counts["remote_faults"] > 10_000 for run in little)


MAPPINGS = """
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, RANGES = 300 };

int main(void) {
  unsigned char *lowest = NULL;
  for (int range = 0; range < RANGES; ++range) {
    lowest = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (lowest == MAP_FAILED || sbrk(PAGE) == (void *)-1) return 2;
    lowest[range] = range % 251;
  }
  /* Pieces of other rights, one after the other. */
  for (int range = 0; range < RANGES; range += 2) {
    if (mprotect(lowest + range * PAGE, PAGE, PROT_READ)) return 3;
    if (mprotect(lowest + range * PAGE, PAGE, PROT_READ | PROT_WRITE)) return 4;
  }
  if (munmap(lowest + 7 * PAGE, 2 * PAGE)) return 5;
  unsigned sum = 0;
  for (int page = 0; page < RANGES; ++page)
    if (page != 7 && page != 8) sum += lowest[page * PAGE + RANGES - 1 - page];
  printf("%u\\n", sum);
  return 0;
}
"""


def test_ranges_side_by_side_are_one(tmp_path: Path) -> None:
    """A program may map more of them than the runtime has places for ranges, as allocators do."""
    source = tmp_path / "mappings.c"
    source.write_text(MAPPINGS)
    program = compile_program([source], tmp_path / "mappings.elf")
    result = run_paged(program, local_bytes=64 * PAGE, cpu="functional", link_latency_us=0.5)
    left = (number % 251 for number in range(300) if number not in (299 - 7, 299 - 8))
    assert (result.output, result.exit_code) == (f"{sum(left)}\n", 0)


@pytest.mark.parametrize("lines", [500, long(1500, why="fifteen seconds of a processor for a longer text")])
@pytest.mark.parametrize("paging", ["software", "unit"])
def test_a_program_with_files_compresses_with_little_memory(
    paging: Paging, lines: int, tmp_path: Path
) -> None:
    """The official library: it reads a file, writes another, renames, reads and removes that."""
    text = tmp_path / "text"
    text.write_bytes(b"".join(b"%d bottles of beer on the wall, %d\n" % (n, n * n) for n in range(lines)))
    local, remote = (
        run_paged(
            *(workload("snappy"), ["text"]),
            local_bytes=pages * PAGE,
            paging=paging,
            files=[text],
            link_latency_us=0.5,
            cpu="functional",
        )
        for pages in (500, 16)
    )
    assert remote.output.startswith(f"{text.stat().st_size} bytes became ")
    assert remote.output.endswith(" and the same again\n")
    assert (remote.output, remote.exit_code) == (local.output, 0)
    assert remote.counts["remote_faults"] > 20


@pytest.mark.parametrize("paging", ["software", "unit"])
def test_a_file_that_is_not_there_is_an_error_of_the_program(paging: Paging) -> None:
    """As Linux tells it."""
    result = run_paged(
        *(workload("snappy"), ["nothing"]), local_bytes=32 * PAGE, paging=paging, cpu="functional"
    )
    assert (result.output, result.exit_code) == ("nothing: No such file or directory\n", 2)


@pytest.mark.parametrize(
    ("paging", "outages_us", "reasons"),
    [
        ("software", [(600.0, 1e6)], ("a blade does not answer",)),
        ("software", [(600.0, 601.0)], ("a blade has lost its pages",)),
        # With the unit, software is told of a page that leaves, too.
        ("unit", [(600.0, 1e6)], ("a blade does not answer", "a blade has not stored a page")),
        ("unit", [(600.0, 601.0)], ("a blade has lost its pages",)),
    ],
)
def test_a_blade_that_dies_is_a_clear_error(
    paging: Paging, outages_us: list[tuple[float, float]], reasons: tuple[str, ...]
) -> None:
    """Whether it stays away or comes back empty."""
    blade = MemoryBlade("blade", outages_us=outages_us)
    server = paged_server(
        *(workload("qsort"), [SORT], [blade]), local_bytes=24 * PAGE, paging=paging, cpu="functional"
    )
    server.connect(blade)
    result = Cluster(server).run(until_ms=20, ends_with=server, threads=1)
    row = result.servers.set_index("name").loc["server"]
    assert row["exit_code"] == 125
    assert any(f"remote memory: {reason}" in row["stdout"] for reason in reasons)


def test_what_cannot_be_is_refused() -> None:
    """A kind that is none, a program that is none, too little memory."""
    with pytest.raises(RackwrightError, match="no such file, nor a workload"):
        workload("nothing")
    with pytest.raises(RackwrightError, match="paging is"):
        run_paged(workload("qsort"), local_bytes=1 << 20, paging="magic")  # type: ignore[arg-type]
    few = run_paged(workload("qsort"), local_bytes=4 * PAGE, threads=1, cpu="functional")
    assert (few.exit_code, "local memory has 8 to" in few.output) == (125, True)
