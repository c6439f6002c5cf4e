"""Servers with a hart and a NIC in RTL in clusters: what programs see of the network, and determinism."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pytest

from rackwright import (
    BareMetal,
    Cluster,
    Ethernet,
    RackwrightError,
    Server,
    Switch,
    TopologyError,
    UnitConfig,
    _engine,
    compile_bare_metal,
)
from rackwright.hardware.headers import server_header
from rackwright.machine.parameters import ServerParameters
from rackwright.unit.accelerators import unit_manifest

FRAIL = Path(__file__).parents[1] / "fixtures" / "frail.json"
CPUS = ("rocket", "boom", "functional")


def pings(count: int = 3, latency_us: float = 0.5) -> tuple[Cluster, list[Server]]:
    """Three pairs below one switch, each of another core, and those that ask."""
    switch = Switch("tor")
    answers = [Server(cpu, name=f"answers-{cpu}", workload=BareMetal("ping.elf")) for cpu in CPUS]
    asks = [
        Server(
            cpu,
            name=f"asks-{cpu}",
            workload=BareMetal("ping.elf", [to, str(count), str(56 + 101 * index), str(9000 + 77 * index)]),
        )
        for index, (cpu, to) in enumerate(zip(CPUS, answers, strict=True))
    ]
    switch.add_downlinks([*answers, *asks])
    return Cluster(switch, link=Ethernet(latency_us=latency_us)), asks


def program(folder: Path, text: str) -> Path:
    """A program without a network."""
    source = folder / "program.c"
    source.write_text(f'#include "bare.h"\n{text}')
    return compile_bare_metal([source], folder / "program.elf", [f"-I{folder}"])


def alone(server: Server, until_ms: float = 0.1, ends_with: Sequence[Server] = ()) -> dict[str, object]:
    """What is reported of a server in a network of its own."""
    switch = Switch()
    switch.add_downlinks([server])
    result = Cluster(switch).run(until_ms, ends_with=ends_with, threads=1)
    return dict(result.servers.iloc[0])


BY_REGISTERS = """
#include "rackwright/registers.h"
#include "units.h"
#define COMMAND(name, rs1, rs2) \\
    rackwright_register_command(SNAPPY_DECOMPRESS_REGISTERS, SNAPPY_DECOMPRESS_CUSTOM, name, rs1, rs2)
static uint8_t packed[] = {4, 12, 'b', 'e', 'e', 'r'}, plain[8];
int main(void) {
    COMMAND(SNAPPY_DECOMPRESS_SRC, (uintptr_t)packed, sizeof packed);
    COMMAND(SNAPPY_DECOMPRESS_DEST_AND_START, (uintptr_t)plain, 0);
    rackwright_register_query(SNAPPY_DECOMPRESS_REGISTERS, SNAPPY_DECOMPRESS_CUSTOM,
                              SNAPPY_DECOMPRESS_CHECK_COMPLETION);
    return plain[0];
}
"""


@pytest.mark.parametrize("cpu", CPUS)
def test_a_server_reaches_a_unit_behind_registers_beside_its_nic(cpu: str, tmp_path: Path) -> None:
    unit = UnitConfig("snappy-decompress", {"history-kib": 16}, placement="chiplet", command="mmio")
    (tmp_path / "units.h").write_text(server_header([unit_manifest(unit)]), encoding="utf-8")
    file = program(tmp_path, BY_REGISTERS)
    report = alone(Server(cpu, [unit], workload=BareMetal(file)))
    assert report["exit_code"] == ord("b")


def test_nothing_shares_the_opcode_of_the_page_fault_unit(tmp_path: Path) -> None:
    file = program(tmp_path, "int main(void) { return 0; }")
    server = Server(accelerators=["page-fault", "protobuf-serialize"], workload=BareMetal(file))
    with pytest.raises(
        TopologyError, match="custom-3 leads to `page-fault` alone; attach `protobuf-serialize`"
    ):
        alone(server)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("window", "skip_idle"), [(50, True), (320, False), (1600, True)])
def test_neither_windows_nor_threads_nor_skipping_change_anything(
    window: int, skip_idle: bool, threads: int
) -> None:
    cluster, asks = pings()
    reference = cluster.run(1, ends_with=asks, threads=1)
    result = cluster.run(1, ends_with=asks, window_cycles=window, skip_idle=skip_idle, threads=threads)
    assert result.digest == reference.digest
    assert result.cycles == reference.cycles
    assert set(reference.servers["exit_code"][3:]) == {0}


def test_a_nic_that_is_clocked_all_the_time_does_the_same() -> None:
    def run(skip: bool) -> str:
        switch = Switch()
        answers = Server(workload=BareMetal("ping.elf"), skip_idle=skip)
        asks = Server(workload=BareMetal("ping.elf", [answers, "1"]), skip_idle=skip)
        switch.add_downlinks([answers, asks])
        return Cluster(switch, link=Ethernet(latency_us=0.5)).run(0.1, threads=1).digest

    assert run(True) == run(False)


def test_a_server_with_a_slower_core_answers_later_beside_one_with_the_usual() -> None:
    def median_of(timing: ServerParameters) -> float:
        switch = Switch()
        answers = Server(workload=BareMetal("ping.elf"), timing=timing)
        asks = Server(workload=BareMetal("ping.elf", [answers, "5"]))
        switch.add_downlinks([answers, asks])
        result = Cluster(switch, link=Ethernet(latency_us=0.5)).run(1, ends_with=asks, threads=1)
        return median(map(int, result.servers["stdout"][1].split()))

    usual = median_of(ServerParameters())
    assert median_of(ServerParameters(core={"load-wide": 60})) > usual + 1000
    assert median_of(ServerParameters({"clock-hz": 1_000_000_000})) > usual + 1000


def test_nothing_is_lost_and_the_latency_of_the_links_is_seen() -> None:
    def run(latency_us: float) -> list[float]:
        cluster, asks = pings(41, latency_us)
        result = cluster.run(1, ends_with=asks, threads=1)
        totals = result.ports[["sent", "received", "dropped"]].sum()
        assert totals["sent"] == totals["received"]
        assert totals["dropped"] == 0
        return [median(map(int, text.split())) for text in result.servers["stdout"][3:]]

    near, far = run(1), run(2)
    # Four links of 1 us more are 8000 cycles of the harts. They see interrupts at multiples of 16 cycles of
    # the links; refreshes of memory, and buffers that were never used before, are in few of the round trips.
    assert [other - one for one, other in zip(near, far, strict=True)] == pytest.approx([8000] * 3, abs=40)


def test_one_that_powers_off_does_not_end_the_others(tmp_path: Path) -> None:
    switch = Switch()
    ends = Server(workload=BareMetal(program(tmp_path, "int main(void) { return 7; }")), name="ends")
    answers = Server(workload=BareMetal("ping.elf"))
    asks = Server(workload=BareMetal("ping.elf", [answers]), name="asks")
    switch.add_downlinks([ends, answers, asks])
    result = Cluster(switch, link=Ethernet(latency_us=0.5)).run(10, ends_with=[asks, ends], threads=1)
    servers = result.servers.set_index("name")
    assert servers["exit_code"]["ends"] == 7
    assert servers["exit_code"]["asks"] == 0
    assert result.seconds == pytest.approx(1e-4)


def test_a_program_that_faults_ends_with_the_cause(tmp_path: Path) -> None:
    wrong = program(tmp_path, "int main(void) { return *(volatile int *)0x40; }")
    load_access_fault = 5
    assert alone(Server(workload=BareMetal(wrong)))["exit_code"] == 128 + load_access_fault


def test_registers_are_accessed_as_64_bits(tmp_path: Path) -> None:
    narrow = program(tmp_path, "int main(void) { return *(volatile int *)0x10016028; }")
    load_access_fault = 5
    assert alone(Server(workload=BareMetal(narrow)))["exit_code"] == 128 + load_access_fault


def test_a_program_knows_its_addresses_and_arguments(tmp_path: Path) -> None:
    text = """
    int main(void) {
      print_number(*(volatile uint64_t *)0x10016028 & 0xffff);
      print_byte(32);
      print_number(boot_information.address);
      for (uint64_t i = 0; i < boot_information.argument_count; ++i) {
        print_byte(32);
        print_text(boot_information.arguments[i]);
      }
      return boot_information.arguments[boot_information.argument_count] != 0;
    }"""
    server = Server(
        workload=BareMetal(program(tmp_path, text), ["one", "two"]), mac="00:12:6D:00:12:34", ip="10.0.0.1"
    )
    report = alone(server)
    assert report["stdout"] == f"{0x1234} {0x0A000001} program.elf one two"
    assert report["exit_code"] == 0


def test_stamps_tell_how_a_frame_leaves_and_change_nothing() -> None:
    def machine(keeps: bool) -> _engine.Cluster:
        switch, answers = Switch("tor"), Server(workload=BareMetal("ping.elf"))
        asks = Server(name="asks", workload=BareMetal("ping.elf", [answers, "1"]))
        switch.add_downlinks([answers, asks])
        cluster = Cluster(switch)
        made = cluster.machine()
        if keeps:
            made.keep_stamps("asks")
        made.run(cluster.clock_hz // 10_000)
        return made

    kept, without = machine(True), machine(False)
    assert json.loads(kept.report())["digest"] == json.loads(without.report())["digest"]
    assert without.stamps("asks") == []
    stamps = kept.stamps("asks")
    events = [event for event, *_ in stamps]
    # A question for an address and a ping, and what is answered to both.
    assert [events.count(what) for what in ("first out", "last out", "first in", "line up")] == [2, 2, 2, 2]
    send = next(
        index for index, (event, *_, register) in enumerate(stamps) if (event, register) == ("writes", 0)
    )
    assert events[send : send + 3] == ["writes", "reached", "answered"]
    first = next(cycle for event, cycle, *_ in stamps if event == "first out")
    last = next(cycle for event, cycle, *_ in stamps if event == "last out")
    assert first > stamps[send + 1][1]
    flits_of_arp = -(-42 // 8)
    assert last - first == flits_of_arp - 1
    with pytest.raises(_engine.EngineError, match="tor"):
        kept.keep_stamps("tor")


@pytest.mark.parametrize(("static_arp", "broadcasts"), [(False, 1), (True, 0)])
def test_a_program_that_knows_its_neighbours_does_not_ask_for_them(static_arp: bool, broadcasts: int) -> None:
    switch = Switch("tor")
    answers = Server(workload=BareMetal("ping.elf"))
    asks = Server(name="asks", workload=BareMetal("ping.elf", [answers, "3"], static_arp=static_arp))
    switch.add_downlinks([asks, answers, Server(name="hears", workload=BareMetal("ping.elf"))])
    result = Cluster(switch).run(1, ends_with=asks, threads=1)
    servers = {row["name"]: row for row in result.record()["servers"]}
    assert len(servers["asks"]["stdout"].split()) == 3
    assert servers["hears"]["packets_received"] == broadcasts
    assert servers["asks"]["packets_sent"] == 3 + broadcasts


def test_the_timer_wakes_a_hart_that_waits(tmp_path: Path) -> None:
    text = """
    int main(void) {
      *(volatile uint64_t *)0x02004000 = 100;
      __asm__ volatile("csrs mie, %0; wfi" : : "r"(1 << 7));
      return *(volatile uint64_t *)0x0200bff8 == 100 ? 0 : 1;
    }"""
    report = alone(Server(workload=BareMetal(program(tmp_path, text))))
    assert report["exit_code"] == 0
    assert int(str(report["instructions"])) < 100


def test_the_nic_interrupts_a_program(tmp_path: Path) -> None:
    text = """
    static volatile int interrupts;
    __attribute__((interrupt)) static void handler(void) {
      // A hart sees the line up to 5 ns late, and may come here once more when it has lowered it.
      interrupts += *(volatile uint64_t *)0x10016030;
      *(volatile uint64_t *)0x10016030 = 0;
    }
    static uint8_t frame[64] __attribute__((aligned(64)));
    int main(void) {
      __asm__ volatile("csrw mtvec, %0" : : "r"(handler));
      __asm__ volatile("csrs mie, %0" : : "r"(1 << 11));
      __asm__ volatile("csrsi mstatus, 8");
      *(volatile uint64_t *)0x10016030 = 1;
      *(volatile uint64_t *)0x10016000 = (uint64_t)frame | 64ull << 48;
      for (int i = 0; i < 1000 && !interrupts; ++i) __asm__ volatile("");
      return interrupts;
    }"""
    report = alone(Server(workload=BareMetal(program(tmp_path, text))))
    assert report["exit_code"] == 1
    assert report["packets_sent"] == 1


def test_an_idle_server_takes_little_memory() -> None:
    """In a process of its own, so that nothing else is counted."""
    script = """
import resource
from rackwright import BareMetal, Cluster, Server, Switch
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
def rack(count):
    switch = Switch()
    switch.add_downlinks([Server(workload=BareMetal("ping.elf")) for _ in range(count)])
    return Cluster(switch)
rack(1).run(0.1)
before = resident()
racks = [rack(64)]
racks[0].run(0.1)
# What the run has freed must not make those that come after it larger.
racks.append(rack(64))
print((resident() - before) / 64)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(ended.stdout) < 4


def test_what_cannot_run_is_refused_with_the_name_of_the_server(tmp_path: Path) -> None:
    text = tmp_path / "text.elf"
    text.write_text("#!/bin/sh\n")
    with pytest.raises(TopologyError, match=r"`broken`: .*ELF"):
        alone(Server(workload=BareMetal(text), name="broken"))
    with pytest.raises(RackwrightError, match=r"nothing.elf: no such file.*ping"):
        alone(Server(workload=BareMetal("nothing.elf")))
    with pytest.raises(TopologyError, match=r"refers to the address of `stranger`"):
        alone(Server(workload=BareMetal("ping.elf", [Server(name="stranger")])))


def test_a_nic_whose_assertion_fails_ends_its_server_alone(tmp_path: Path) -> None:
    """The other goes on, and the result says which assertion; with any threads."""
    text = "int main(void) { for (;;) (void)*(volatile unsigned long *)0x10016000; }"
    frail = Server("functional", name="frail", workload=BareMetal(program(tmp_path, text)), nic=FRAIL)
    answers = Server("functional", name="answers", workload=BareMetal("ping.elf"))
    asks = Server("functional", name="asks", workload=BareMetal("ping.elf", [answers, "3", "56", "9000"]))
    switch = Switch()
    switch.add_downlinks([frail, answers, asks])
    for threads in (1, 2):
        result = Cluster(switch).run(1.0, ends_with=[asks], threads=threads)
        servers = result.servers.set_index("name")
        told = str(servers.loc["frail", "error"])
        assert re.search(
            r"`frail` stopped at cycle \d+: Frail.sv:\d+: Assertion failed in Frail: it is too", told
        )
        assert servers.loc["asks", "exit_code"] == 0
