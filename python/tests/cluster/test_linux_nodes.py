"""Servers of a cluster that boot Linux, with network interfaces in RTL that Debian's own driver drives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rackwright import BareMetal, Cluster, Ethernet, Linux, RackwrightError, Server, Switch
from rackwright.benchmarks.idle_worker import proportional_bytes
from rackwright.cli.run_cluster import keep_consoles
from rackwright.cluster.result import ClusterResult
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image

SMALL = 256 << 20
STAY = "while sleep 3600; do :; done"


def pair() -> tuple[Cluster, Server]:
    """One server that asks another."""
    answers = Server("functional", workload=Linux("default"), name="answers", memory_bytes=SMALL)
    command: list[str | Server] = [
        "sleep 0.05; ping -c 3 -i 0.01 -s 1400 ",
        answers,
        "; ip link show eth0; exit 7",
    ]
    asks = Server("functional", workload=Linux("default", run=command), name="asks", memory_bytes=SMALL)
    switch = Switch("tor0")
    switch.add_downlinks([answers, asks])
    return Cluster(switch, link=Ethernet(gbps=200, latency_us=20)), asks


def ping(threads: int) -> ClusterResult:
    """A run of the two in which all goes well."""
    cluster, asks = pair()
    result = cluster.run(until_ms=10_000, ends_with=asks, threads=threads)
    servers = result.servers.set_index("name")
    assert "3 packets transmitted, 3 packets received, 0% packet loss" in servers["stdout"]["asks"]
    assert "mtu 1500" in servers["stdout"]["asks"]
    assert servers["exit_code"]["asks"] == 7
    assert servers["error"].isna().all()
    assert (servers["packets_dropped"] == 0).all()
    assert (servers["packets_received"] >= 4).all()
    return result


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server with two harts that has booted."""
    path = tmp_path_factory.mktemp("checkpoint") / "booted"
    boot(
        load_image(default_image()),
        harts=2,
        memory_bytes=SMALL,
        checkpoint=path,
        prepare="echo prepared >/root/note",
    )
    return path


def address(index: int) -> str:
    return f"172.16.1.{1 + index}"


def ring(checkpoint: Path, cpus: list[str], threads: int) -> ClusterResult:
    """Servers that go on from the checkpoint and ping the next one each; all get answers."""
    count = len(cpus)
    show = "cat note; hostname; cat /sys/class/net/eth0/address; head -c 8 /dev/hwrng | xxd -p"
    servers = [
        Server(
            cpu,
            workload=Linux(
                run=f"sleep 0.02; ping -c 1 {address((index + 1) % count)}; {show}; {STAY}",
                checkpoint=checkpoint,
            ),
            name=f"linux{index}",
            ip=address(index),
        )
        for index, cpu in enumerate(cpus)
    ]
    switch = Switch("tor0")
    switch.add_downlinks(servers)
    # The NIC's clock, 156.25 MHz, has no whole number of cycles in a tick of the servers' time.
    result = Cluster(switch, link=Ethernet(gbps=10, latency_us=20)).run(until_ms=100, threads=threads)
    rows = result.servers.set_index("name")
    assert rows["error"].isna().all()
    assert (rows["packets_dropped"] == 0).all()
    for index in range(count):
        lines = rows["stdout"][f"linux{index}"].splitlines()
        assert "1 packets transmitted, 1 packets received, 0% packet loss" in lines
        assert lines[-4:-2] == ["prepared", f"linux{index}"]
    assert len({text.splitlines()[-2] for text in rows["stdout"]}) == count, "hardware addresses"
    assert len({text.splitlines()[-1] for text in rows["stdout"]}) == count, "random numbers"
    return result


def test_servers_from_one_checkpoint_are_different_ones(checkpoint: Path, tmp_path: Path) -> None:
    results = [ring(checkpoint, ["functional"] * 4, threads) for threads in (1, 2)]
    assert len({result.digest for result in results}) == 1
    consoles = keep_consoles(results[:1], tmp_path)
    assert set(consoles) == {f"linux{index}" for index in range(4)}
    assert "Linux version" in consoles["linux3"].read_text()


@pytest.mark.long
def test_servers_from_one_checkpoint_have_harts_of_any_model(checkpoint: Path) -> None:
    cpus = ["rocket", "boom", "functional"]
    assert len({ring(checkpoint, cpus, threads).digest for threads in (1, 2, 3)}) == 1


@pytest.mark.long
def test_sixty_four_servers_from_one_checkpoint(checkpoint: Path) -> None:
    few = most_memory(lambda: ring(checkpoint, ["functional"] * 4, 2))
    many = most_memory(lambda: ring(checkpoint, ["functional"] * 64, 2))
    assert many - few < 60 * 24 << 20


def most_memory(run: Callable[[], object]) -> int:
    """Bytes of the host's memory that this process takes at most; a page mapped often counts once."""
    seen = [0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            seen.append(proportional_bytes(Path("/proc/self/smaps_rollup").read_text()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run()
    finally:
        ended.set()
        watcher.join()
    return max(seen)


@pytest.mark.long
def test_a_ping_between_servers_that_boot_in_the_cluster(tmp_path: Path) -> None:
    results = [ping(threads) for threads in (1, 2)]
    assert len({result.digest for result in results}) == 1
    consoles = keep_consoles(results[:1], tmp_path)
    assert set(consoles) == {"answers", "asks"}
    assert "Linux version" in consoles["answers"].read_text()


def test_what_a_linux_server_cannot_be() -> None:
    with pytest.raises(RackwrightError, match="needs an image to boot"):
        Server(run="true")
    with pytest.raises(RackwrightError, match="needs a command to run"):
        Server(workload=Linux("default")).boot()
    with pytest.raises(RackwrightError, match="`program` is of bare metal, `image` of Linux"):
        Server(image="default", program="ping.elf")
    with pytest.raises(RackwrightError, match="an MTU is 68 to 9578 bytes, not 67"):
        Server(workload=Linux("default"), mtu=67)
    with pytest.raises(RackwrightError, match="no such file"):
        Server(workload=Linux("/nowhere.image"))
    with pytest.raises(RackwrightError, match="no such file"):
        Server(workload=Linux(checkpoint="/nowhere.checkpoint"))
    with pytest.raises(RackwrightError, match="given the one or the others"):
        Server(workload=Linux(checkpoint=__file__), harts=2)
    switch = Switch("tor0")
    switch.add_downlinks(
        [
            Server("functional", workload=Linux(checkpoint=__file__), name="a"),
            Server(workload=Linux("default")),
        ]
    )
    with pytest.raises(RackwrightError, match="is no checkpoint of a booted machine"):
        Cluster(switch)


def test_parts_of_a_workload_are_taken_with_a_warning_that_says_the_new_form() -> None:
    with pytest.warns(FutureWarning, match=r"Server\(image=…, run=…\) becomes Server\(workload=Linux\(…\)\)"):
        server = Server(image="default", run="true")
    assert server.workload == Linux("default", run="true")
    with pytest.warns(FutureWarning, match=r"becomes Server\(workload=BareMetal\(…\)\)"):
        server = Server(program="ping.elf", arguments=["10.0.0.1"], static_arp=True)
    assert server.workload == BareMetal("ping.elf", ["10.0.0.1"], static_arp=True)
    with pytest.warns(FutureWarning, match=r"becomes Server\(workload=Linux"):
        server = Server(image="default", static_arp=True)
    assert server.workload == Linux("default", static_arp=True)


@pytest.mark.long("boots Linux twice")
def test_a_server_is_the_same_value_alone_and_in_a_cluster() -> None:
    server = Server("functional", workload=Linux("default", run="nproc; exit 3"), harts=2, memory_bytes=SMALL)
    alone = server.boot()
    assert (alone.exit_code, alone.stdout.split()) == (3, [b"2"])
    switch = Switch("tor0")
    switch.add_downlinks([server])
    row = Cluster(switch).run(until_ms=2000, ends_with=server).record()["servers"][0]
    assert (row["exit_code"], row["stdout"].split()) == (3, ["2"])


def test_what_a_server_that_boots_alone_cannot_is_refused() -> None:
    with pytest.raises(RackwrightError, match=r"needs Linux: Server\(workload=Linux"):
        Server(workload=BareMetal("ping.elf")).boot()
    with pytest.raises(RackwrightError, match="needs a command to run"):
        Server(workload=Linux("default")).boot()
    with pytest.raises(RackwrightError, match="`check_idle` is for servers that run a Program alone"):
        Server(workload=Linux("default", run="true"), check_idle=True).boot()
