"""Debian's own programs on two harts, each checked by what it has computed or transferred."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from rackwright import Cluster, Ethernet, Linux, Server, Switch
from rackwright.linux.boot import BootResult, boot, restore
from rackwright.linux.image import Image, build_image, default_image, load_image
from rackwright.machine.programs import linux_program

pytestmark = pytest.mark.long

MEMORY = 512 << 20
TRANSFERRED = 4_000_000
IPERF3 = "172.16.1.1"
MEMCACHED = "memcached -d -u root -l 127.0.0.1"

THREADS = """
import hashlib, sys, threading

WORKERS, ROUNDS = 8, 2000
lock, barrier, results = threading.Lock(), threading.Barrier(8), []
condition, passed = threading.Condition(), []
total = 0

def work(number):
    global total
    barrier.wait()
    for step in range(ROUNDS):
        with lock:
            total += step
    with condition:
        # In turn, whatever order they come in.
        assert condition.wait_for(lambda: len(passed) == number, 60)
        passed.append(number)
        condition.notify_all()
    digest = hashlib.sha256()
    for step in range(ROUNDS):
        digest.update(f"{number} {step}".encode())
    results.append((number, digest.hexdigest()))

sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert not any(thread.is_alive() for thread in threads)
print(total, passed)
for line in sorted(results):
    print(*line)
"""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A booted server of two harts with iperf3, memcached and a client that verifies."""
    path = tmp_path_factory.mktemp("checkpoint") / "booted"
    image = load_image(build_image(["iperf3", "memcached"]))
    boot(image, harts=2, memory_bytes=MEMORY, files=[linux_program("mutilate")], checkpoint=path)
    return path


def output(result: BootResult) -> str:
    """What a command has printed that ended well."""
    assert result.exit_code == 0, result.stderr
    assert result.harts == 2
    return result.stdout.decode()


def test_a_package_is_unpacked_as_on_the_host(tmp_path: Path) -> None:
    content = bytes(range(256)) * 4000
    files = {"usr/share/tool/data": content, "usr/share/tool/empty": b"", "etc/tool": b"text\n" * 9000}
    tree = tmp_path / "tool"
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(text)
    (tree / "DEBIAN").mkdir()
    fields = ("Package: tool", "Version: 1", "Architecture: all", "Maintainer: nobody", "Description: data")
    (tree / "DEBIAN" / "control").write_text("\n".join(fields) + "\n")
    package = tmp_path / "tool.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-b", tree, package], check=True)
    command = "dpkg-deb -x tool.deb there && cd there && find . -type f | sort | xargs sha256sum"
    image = load_image(default_image())
    printed = output(boot(image, command, harts=2, memory_bytes=MEMORY, files=[package]))
    hashes = {line.split()[1].removeprefix("./"): line.split()[0] for line in printed.splitlines()}
    assert hashes == {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}


@pytest.fixture(scope="module")
def python_image() -> Image:
    """An image with Python, which brings `dpkg` and `tar`, too."""
    return load_image(build_image(["python3-minimal"]))


def test_commands_are_those_of_packages_before_those_of_busybox(python_image: Image, tmp_path: Path) -> None:
    asks = ["tar --version", "dpkg --version", "timeout 9 tar --version", "echo --version | xargs tar"]
    asks += ["sh -c 'tar --version'", "env tar --version", "./script.sh"]
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\ntar --version\n")
    script.chmod(0o755)
    command = "; ".join(f"{ask} 2>&1 | head -n 1" for ask in asks) + "; type tar; xxd /dev/null; nproc"
    printed = output(boot(python_image, command, harts=2, memory_bytes=MEMORY, files=[script]))
    tar = "tar (GNU tar) 1.35"
    expected = [tar, "Debian 'dpkg' package management program version 1.22.22 (riscv64).", *[tar] * 5]
    assert printed.splitlines() == [*expected, "tar is /usr/bin/tar", "2"]


def test_threads_of_python_wait_for_each_other(python_image: Image, tmp_path: Path) -> None:
    script = tmp_path / "threads.py"
    script.write_text(THREADS)
    printed = output(boot(python_image, "python3 threads.py", harts=2, memory_bytes=MEMORY, files=[script]))
    lines = printed.splitlines()
    assert lines[0] == f"{8 * sum(range(2000))} {list(range(8))}"
    for number in range(8):
        text = "".join(f"{number} {step}" for step in range(2000))
        assert lines[1 + number] == f"{number} {hashlib.sha256(text.encode()).hexdigest()}"


def test_iperf3_over_loopback(checkpoint: Path) -> None:
    command = (
        f"iperf3 -s -1 -D; while ! iperf3 -J -c 127.0.0.1 -n {TRANSFERRED} >out; do sleep 0.01; done; cat out"
    )
    end = json.loads(output(restore(checkpoint, command)))["end"]
    assert end["sum_sent"]["bytes"] >= TRANSFERRED
    assert end["sum_received"]["bytes"] == end["sum_sent"]["bytes"]


def test_memcached_gives_what_it_was_given(checkpoint: Path) -> None:
    settings = "rate=4000 measured=200 connections=16 keys=400 value=facebook sets=300"
    command = f"{MEMCACHED} -t 4; ./{linux_program('mutilate').name} 127.0.0.1 {settings}"
    lines = output(restore(checkpoint, command)).splitlines()
    answered = int(lines[1].removeprefix("answered "))
    assert 600 < answered < 1000, "800 at random times"
    assert sum(int(pair.split(":")[1]) for pair in lines[3].split()[1:]) == answered


def through_interfaces(checkpoint: Path, threads: int) -> str:
    """Transfers from one node to another, on so many threads of this machine; gives the digest."""
    serves = Server(
        "functional", workload=Linux(run="iperf3 -s -1", checkpoint=checkpoint), name="serves", ip=IPERF3
    )
    command = f"sleep 0.1; iperf3 -J -c {IPERF3} -n {TRANSFERRED}"
    asks = Server(
        "functional", workload=Linux(run=command, checkpoint=checkpoint), name="asks", ip="172.16.1.2"
    )
    switch = Switch("tor0")
    switch.add_downlinks([serves, asks])
    result = Cluster(switch, link=Ethernet(gbps=200, latency_us=2)).run(
        until_ms=3000, ends_with=asks, threads=threads
    )
    rows = result.servers.set_index("name")
    assert rows["error"].isna().all()
    assert rows["exit_code"]["asks"] == 0
    end = json.loads(rows["stdout"]["asks"])["end"]
    assert end["sum_sent"]["bytes"] >= TRANSFERRED
    assert end["sum_received"]["bytes"] == end["sum_sent"]["bytes"]
    assert rows["packets_dropped"].sum() == 0
    return result.digest


def test_iperf3_through_interfaces_in_rtl(checkpoint: Path) -> None:
    assert len({through_interfaces(checkpoint, threads) for threads in (1, 2)}) == 1
