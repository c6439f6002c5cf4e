"""Servers of a cluster that run a program of Linux in user mode, with threads and units."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import rw

from rackwright import (
    CPUS,
    BareMetal,
    Cluster,
    Program,
    RackwrightError,
    Server,
    Switch,
    TopologyError,
    UnitConfig,
    compile_bare_metal,
    compile_program,
)
from rackwright.cluster.result import ClusterResult
from rackwright.hardware.headers import server_header
from rackwright.unit.accelerators import unit_manifest

COUNTS = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static unsigned long sums[2];
static void *work(void *argument) {
    unsigned long *sum = argument;
    for (unsigned long i = 0; i < 2000; i++) *sum += i * i;
    return NULL;
}
int main(int count, char **words) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &sums[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    usleep(20);
    printf("%s: %lu on %ld\\n", words[1], sums[0] + sums[1], sysconf(_SC_NPROCESSORS_ONLN));
    fprintf(stderr, "%d words\\n", count);
    return atoi(words[2]);
}
"""

UNPACKS = """
#include <stdio.h>
#include "rackwright/rocc.h"
#include "units.h"
#define COMMAND(funct, rs1, rs2) RACKWRIGHT_COMMAND(SNAPPY_DECOMPRESS_CUSTOM, funct, rs1, rs2)
static unsigned char packed[] = {4, 12, 'b', 'e', 'e', 'r'}, plain[8];
int main(void) {
    COMMAND(SNAPPY_DECOMPRESS_SRC, (uintptr_t)packed, sizeof packed);
    COMMAND(SNAPPY_DECOMPRESS_DEST_AND_START, (uintptr_t)plain, 0);
    uint64_t status = RACKWRIGHT_QUERY(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_DECOMPRESS_CHECK_COMPLETION);
    printf("%s %d\\n", plain, (int)(status >> 56));
    return 0;
}
"""


def compiled(folder: Path, text: str) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return compile_program([source], folder / "program.elf", [f"-I{folder}", "-pthread"])


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with two threads that prints its first argument and ends with its second."""
    return compiled(tmp_path_factory.mktemp("counts"), COUNTS)


def together(counts: Path, threads: int) -> ClusterResult:
    """A server of each model, and one that asks the first in vain: it has no network."""
    servers = [Server(cpu, harts=2, name=cpu, workload=Program(counts, [cpu, "7"])) for cpu in CPUS]
    asks = Server(name="asks", workload=BareMetal("ping.elf", [servers[0], "1"], static_arp=True))
    switch = Switch("tor0")
    switch.add_downlinks([*servers, asks])
    return Cluster(switch).run(until_ms=5, ends_with=servers, threads=threads)


def test_programs_do_in_a_cluster_what_they_do_alone(counts: Path) -> None:
    result = together(counts, threads=1)
    assert together(counts, threads=3).digest == result.digest
    rows = result.servers.set_index("name")
    for cpu in CPUS:
        row = rows.loc[cpu]
        alone = Server(cpu, harts=2, workload=Program(counts, [cpu, "7"])).run()
        assert (row["exit_code"], alone.exit_code) == (7, 7)
        assert row["stdout"].encode() == alone.stdout == b"%s: 5329334000 on 2\n" % cpu.encode()
        assert row["stderr"].encode() == alone.stderr == b"3 words\n"
        assert row["instructions"] == alone.instructions
        assert row["packets_sent"] == 0
    first = dict(rows.loc[CPUS[0]])
    assert (first["packets_received"], first["packets_refused"]) == (1, 1)


@pytest.mark.parametrize("cpu", CPUS)
def test_a_program_has_units(cpu: str, tmp_path: Path) -> None:
    (tmp_path / "units.h").write_text(server_header([unit_manifest(UnitConfig("snappy-decompress"))]))
    workload = Program(compiled(tmp_path, UNPACKS))
    server = Server(cpu, ["snappy-decompress"], workload=workload)
    switch = Switch("tor0")
    switch.add_downlinks([server])
    row = Cluster(switch).run(until_ms=1, ends_with=[server]).servers.iloc[0]
    alone = Server(cpu, ["snappy-decompress"], workload=workload).run()
    assert (row["exit_code"], row["stdout"]) == (0, "beer 0\n")
    assert (row["instructions"], row["unit_cycles"]) == (alone.instructions, alone.unit_cycles)


def test_a_script_with_programs_is_run_and_profiled(counts: Path, tmp_path: Path) -> None:
    script = tmp_path / "programs.py"
    script.write_text(
        "from rackwright import Cluster, Program, Server, Switch\n"
        f"server = Server(name='counts', harts=2, workload=Program({str(counts)!r}, ['script', '0']))\n"
        "switch = Switch('tor')\nswitch.add_downlinks([server])\n"
        "print(Cluster(switch).run(until_ms=5, ends_with=server).digest)\n"
    )
    plain = rw("run", script)
    assert plain.status == 0, plain.stderr
    made = tmp_path / "made"
    profiled = rw("profile", "-o", made, "--", "run", script)
    assert profiled.status == 0, profiled.stderr
    assert profiled.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
    assert json.loads((made / "counts" / "profile.json").read_text())["command"] == "counts: program.elf"
    assert "work" in (made / "counts" / "stacks.folded").read_text()


def alone_on_a_link(server: Server) -> None:
    switch = Switch("tor0")
    switch.add_downlinks([server])
    Cluster(switch).run(until_ms=1)


def test_what_cannot_be_is_refused_by_name(counts: Path, tmp_path: Path) -> None:
    workload = Program(counts)
    with pytest.raises(RackwrightError, match="a server with a workload has no `image`"):
        Server(workload=workload, image="default")
    with pytest.raises(RackwrightError, match="a program in user mode has no `nic`"):
        Server(workload=workload, nic="nic")
    with pytest.raises(TopologyError, match="`server0`: `check_idle` is for servers that run alone"):
        alone_on_a_link(Server(workload=workload, check_idle=True))
    source = tmp_path / "bare.c"
    source.write_text("int main(void) { return 0; }")
    with pytest.raises(TopologyError, match=r"`bare`.*bare-metal"):
        alone_on_a_link(Server(name="bare", workload=Program(compile_bare_metal([source]))))
    with pytest.raises(RackwrightError, match="what is the server to run"):
        Server().run()
    with pytest.raises(RackwrightError, match="a server alone knows no addresses"):
        Server(workload=Program(counts, [Server()])).run()
