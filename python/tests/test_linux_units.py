"""Units from processes on Linux: virtual addresses, pages that are not there, several processes."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from protobuf_programs import UNRELAXED

from bootstrap.paths import REPOSITORY, SOFTWARE
from rackwright import (
    Cluster,
    EngineError,
    Ethernet,
    Linux,
    RackwrightError,
    Server,
    Switch,
    TopologyError,
    UnitConfig,
    compile_program,
    design,
)
from rackwright.cluster.result import ClusterResult
from rackwright.hardware.headers import server_header
from rackwright.linux.boot import BootResult, boot, restore
from rackwright.linux.image import Image, default_image, load_image
from rackwright.protobuf import compile_service
from rackwright.unit.accelerators import Accelerator, unit_manifest

SMALL = 256 << 20
UNITS = ("snappy",)
OWN = REPOSITORY / "examples" / "bring-your-own"
BEHIND_REGISTERS = UnitConfig("snappy-decompress", {"history-kib": 16}, command="mmio")
RIGHT = b"rounds right, with page faults\n"


@pytest.fixture(scope="module")
def image() -> Image:
    """The default image."""
    return load_image(default_image())


@pytest.fixture(scope="module")
def booted(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine of two harts that has booted, with the program and a text in /root."""
    folder = tmp_path_factory.mktemp("booted")
    text = folder / "text"
    text.write_bytes(b"".join(b"%d and %d make %d\n" % (n, n * n, n + n * n) for n in range(6000)))
    program = compile_program([SOFTWARE / "tests" / "pages.cpp"], folder / "pages")
    tests = SOFTWARE / "tests"
    messages = folder / "messages"
    service = compile_service([tests / "messages.cpp"], tests / "messages.proto", options=UNRELAXED)
    shutil.copy(service, messages)
    (folder / "units.h").write_text(server_header([unit_manifest(BEHIND_REGISTERS)]), encoding="utf-8")
    physical = compile_program([tests / "physical.c"], folder / "physical", [f"-I{folder}"])
    ones = compile_program([tests / "ones.c"], folder / "ones")
    checkpoint = folder / "booted.checkpoint"
    files = [program, messages, physical, ones, text]
    boot(image, harts=2, memory_bytes=SMALL, files=files, checkpoint=checkpoint)
    return checkpoint


def run(booted: Path, command: str, cpu: str = "functional") -> BootResult:
    """A command on that machine with the Snappy units."""
    return restore(booted, command, cpu=cpu, accelerators=UNITS)


def test_processes_at_once_on_pages_that_are_not_there(booted: Path) -> None:
    """Three processes on two harts: a unit is busy for one while another comes. Twice, beside each other."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda command: run(booted, command), ["./pages text 3 2"] * 2)
    assert first.exit_code == 0, first.stdout
    assert first.stdout == 3 * (b"2 " + RIGHT)
    assert first.digest == second.digest
    assert first.accelerators == ("snappy-compress", "snappy-decompress")
    for unit in first.accelerators:
        assert first.counters[f"{unit}.refused_accesses"] > 0
        assert first.counters[f"{unit}.page_walks"] > 100


@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_a_unit_behind_registers_has_physical_addresses(booted: Path, cpu: str) -> None:
    units: list[Accelerator] = [BEHIND_REGISTERS, *UNITS]
    result = restore(booted, "./physical", cpu=cpu, accelerators=units)
    assert (result.exit_code, result.stdout) == (0, b"beer, status 0\n")


def test_a_unit_in_systemverilog_has_virtual_addresses(booted: Path) -> None:
    """Translation is around it, and its parameter is set."""
    manifest = str(OWN / "systemverilog" / "manifest.json")
    result = restore(booted, "./ones", accelerators=[UnitConfig(manifest, {"OUTSTANDING": 8})])
    assert result.stdout == b"108 ones of 108, 12 pages touched, ok\n"
    assert result.exit_code == 0
    assert result.counters["population-count.page_walks"] > 24


def test_servers_of_a_cluster_have_units(booted: Path) -> None:
    """As the machine alone has, beside NICs and a server without; whatever the threads of the host."""

    def in_cluster(threads: int) -> ClusterResult:
        units = Server(
            "functional",
            UNITS,
            workload=Linux(run="cd /root; ./pages text 2 2", checkpoint=booted),
            name="units",
        )
        none = Server(
            "functional", workload=Linux(run="cd /root; ./pages text 1 1", checkpoint=booted), name="none"
        )
        switch = Switch("tor0")
        switch.add_downlinks([units, none])
        cluster = Cluster(switch, link=Ethernet(latency_us=20))
        return cluster.run(until_ms=5_000, ends_with=[units, none], threads=threads)

    first, second = in_cluster(1), in_cluster(2)
    servers = first.servers.set_index("name")
    assert servers["stdout"]["units"] == 2 * ("2 " + RIGHT.decode())
    assert dict(servers["exit_code"]) == {"units": 0, "none": 1}
    assert servers["unit_cycles"]["units"] > servers["unit_cycles"]["none"]
    assert first.digest == second.digest


@pytest.mark.long
@pytest.mark.parametrize("cpu", ["functional", "rocket"])
def test_protobuf_of_processes_at_once_on_pages_that_are_not_there(booted: Path, cpu: str) -> None:
    units = ("protobuf-deserialize", "protobuf-serialize")
    rounds = 60 if cpu == "functional" else 10
    result = restore(booted, f"./messages 3 {rounds}", cpu=cpu, accelerators=units)
    assert result.exit_code == 0, result.stdout
    lines = result.stdout.splitlines()
    assert lines == 3 * lines[:1]
    right, by_units, left = lines[0].split(b", ")
    assert right == b"%d rounds right" % rounds
    assert int(by_units.split()[0]) > 6 * rounds
    assert left == b"0 left to the library"
    for unit in units:
        assert result.counters[f"{unit}.refused_accesses"] > 0


def test_timed_harts(booted: Path) -> None:
    result = run(booted, "./pages text 2 1", "rocket")
    assert result.exit_code == 0, result.stdout
    assert result.stdout == 2 * (b"1 " + RIGHT)


def test_without_units_their_instructions_are_illegal(booted: Path) -> None:
    result = restore(booted, "./pages text 1 1; echo $?; dmesg | grep -c 'unhandled signal 4'")
    assert result.stdout == b"1\n1\n"


def test_what_does_not_go(booted: Path, image: Image, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="built without translation"):
        restore(booted, "true", accelerators=[design("stream-copy")])
    switch = Switch("tor0")
    switch.add_downlinks(
        [Server("functional", [design("stream-copy")], workload=Linux(checkpoint=booted), name="a")]
    )
    with pytest.raises(TopologyError, match=r"`a`.*built without translation"):
        Cluster(switch).run(until_ms=1)
    missing = tmp_path / "missing"
    with pytest.raises(RackwrightError, match="missing: No such file"):
        boot(image, "true", files=[missing])
    with pytest.raises(RackwrightError, match="two files are named text"):
        boot(image, "true", files=[booted.parent / "text"] * 2)
