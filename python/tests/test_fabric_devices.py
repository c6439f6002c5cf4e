"""Devices of machines on cards below two switches, where their drivers find them as on the root bus."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from rackwright import Server, compile_bare_metal
from rackwright._engine import EngineError
from rackwright.errors import RackwrightError
from rackwright.fabric import AttachedFabric, Card, PcieLink, PcieSwitch, RootComplex, System
from rackwright.fabric.fabric import Fabric
from rackwright.linux.boot import boot, restore
from rackwright.linux.image import build_image, default_image, load_image

FAST = PcieLink(gen=4, lanes=16)


def below_two_switches(disk: Path) -> System:
    """A disk, a source of random numbers, and a card that makes DMA."""
    root, upper, lower = RootComplex(), PcieSwitch(), PcieSwitch()
    root.connect(upper, FAST)
    upper.add_downlinks([Card("traffic", model=True), lower], FAST)
    lower.add_downlinks([Card("virtio-block", "disk", disk=disk), Card("virtio-entropy")], FAST)
    return System.of(root)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """One megabyte whose bytes differ."""
    file = tmp_path / "disk"
    file.write_bytes(bytes((place * 7 + place // 512) % 251 for place in range(1 << 20)))
    return file


@pytest.mark.parametrize(("cpu", "harts"), [("rocket", 1), ("functional", 2)])
def test_bare_metal_reads_and_writes_a_disk_on_a_card(disk: Path, cpu: str, harts: int) -> None:
    program = compile_bare_metal([Path(__file__).parent / "fixtures" / "virtio_block.c"])
    content = bytearray(disk.read_bytes()[:4096])
    sums = [sum(content)]
    content[3 * 512 : 4 * 512] = b"\1" * 512
    sums.append(sum(content))
    runs = []
    for _ in range(2):
        fabric = AttachedFabric(below_two_switches(disk))
        result = Server(cpu, harts=harts, fabric=fabric).run(program, max_cycles=5_000_000)
        assert result.exit_code == 0, "the number of the check that failed"
        assert result.fabric is not None
        runs.append((result.cycles, result.digest, result.fabric))
    assert result.stdout.decode().split() == ["bus", "6", str(sums[0]), str(sums[1])]
    assert runs[0] == runs[1]
    sent = {port["port"]: port["classes"] for port in runs[0][2]["ports"]}
    # Twice eight sectors are written to memory, and one is read, besides rings and headers.
    written = sent["disk->switch1"]["posted"]["payload_bytes"]
    read = sent["switch1->disk"]["completion"]["payload_bytes"]
    assert 8192 < written < 8400
    assert 512 < read < 1000
    assert sent["switch0->root"]["posted"]["payload_bytes"] == written


def test_a_disk_is_found_by_its_numbers_and_its_windows(disk: Path, tmp_path: Path) -> None:
    fabric = Fabric(below_two_switches(disk))
    found = {card["name"]: card for card in fabric.found}
    assert {name: card["id"] for name, card in found.items()} == {
        "traffic0": "03:00.0",
        "disk": "06:00.0",
        "virtio-entropy0": "07:00.0",
    }
    assert (found["disk"]["vendor"], found["disk"]["device"]) == (0x1AF4, 0x1042)
    assert [window["bytes"] for window in found["disk"]["windows"]] == [4096, 4096]
    with pytest.raises(EngineError, match=r"^card disk: cannot read the disk .*gone: "):
        Fabric(below_two_switches(tmp_path / "gone"))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Card("virtio-block"), "a card with `virtio-block` has no disk"),
        (lambda: Card("traffic", disk="x"), "a card with `traffic` takes no disk"),
        (lambda: Card("virtio-entropy", parameters={"tags": 1}), "`virtio-entropy` has no parameters: tags"),
    ],
)
def test_a_card_that_cannot_be_is_refused(make: Callable[[], Card], reason: str) -> None:
    with pytest.raises(RackwrightError, match=re.escape(reason)):
        make()


def test_a_device_on_a_card_needs_messages(disk: Path) -> None:
    image = load_image(default_image())
    reason = "card disk: it interrupts by messages, which need the interrupts `aia`"
    with pytest.raises(RackwrightError, match=re.escape(reason)):
        boot(image, "true", fabric=AttachedFabric(below_two_switches(disk)))


def test_a_checkpoint_with_a_card_in_rtl_is_refused_before_the_boot(tmp_path: Path) -> None:
    root = RootComplex()
    root.connect(Card("traffic", "busy"), FAST)
    fabric = AttachedFabric(System.of(root))
    reason = "card busy: it is RTL, whose state a checkpoint cannot contain; models and devices can be in one"
    with pytest.raises(RackwrightError, match=re.escape(reason)):
        boot(load_image(default_image()), "true", fabric=fabric, checkpoint=tmp_path / "saved")


COMMANDS = """
readlink -f /sys/block/vda
sha256sum < /dev/vda
for at in 7 200 31 94; do dd if=/dev/vda bs=4k skip=$at count=1 2>/dev/null; done | sha256sum
dd if=/dev/vda of=/dev/vda bs=4k count=16 seek=32 conv=notrunc 2>/dev/null; sync
echo 3 >/proc/sys/vm/drop_caches
sha256sum < /dev/vda
grep -E 'virtio.-req' /proc/interrupts
printf '\\0\\0\\0\\0' | dd of=/sys/bus/pci/devices/0000:01:00.0/config bs=4 seek=69 conv=notrunc 2>/dev/null
echo 1 >/sys/bus/pci/rescan
grep aerdrv /proc/interrupts
dmesg | grep AER
"""
"""It reads all of a disk, and some blocks of it, copies 64 KiB behind the first 128, and reads all again.
Then the switch signals advisory errors (7.8.4.6), and the kernel looks for functions that are not there."""


@pytest.mark.long("a boot of Debian with a larger tree than others")
def test_debian_reads_a_disk_below_two_switches_and_hears_of_errors(disk: Path) -> None:
    image = load_image(default_image())
    fabric = AttachedFabric(below_two_switches(disk))
    result = boot(image, COMMANDS, memory_bytes=256 << 20, fabric=fabric, interrupts="aia")
    way, whole, some, copied, *rest = result.stdout.decode().splitlines()
    # Root port, both ports of each switch, and the disk.
    assert len(re.findall(r"/0000:..:..\.0", way)) == 6
    content = bytearray(disk.read_bytes())
    assert whole.split()[0] == sha256(content).hexdigest()
    blocks = b"".join(content[at * 4096 :][:4096] for at in (7, 200, 31, 94))
    assert some.split()[0] == sha256(blocks).hexdigest()
    content[32 * 4096 : 48 * 4096] = content[: 16 * 4096]
    assert copied.split()[0] == sha256(content).hexdigest()
    requests, errors, *messages = rest
    assert "PCI-MSIX-0000:06:00.0" in requests
    assert int(requests.split()[1]) > 10
    assert "PCI-MSI-0000:00:10.0" in errors
    assert int(errors.split()[1]) > 0
    assert any("0000:01:00.0" in line for line in messages)


@pytest.mark.long("a boot of Debian with a larger tree than others")
def test_a_checkpoint_continues_with_the_digest_of_the_run_that_wrote_it(disk: Path, tmp_path: Path) -> None:
    image = load_image(default_image())
    saved = tmp_path / "saved"
    dma = "sha256sum < /dev/vda; cat /sys/bus/pci/devices/*/resource | sha256sum"
    size = 256 << 20
    whole = AttachedFabric(below_two_switches(disk))
    through = boot(image, dma, memory_bytes=size, fabric=whole, interrupts="aia", checkpoint=saved)
    assert through.stdout.decode().split()[0] == sha256(disk.read_bytes()).hexdigest()
    again = restore(saved, dma, fabric=AttachedFabric(below_two_switches(disk)))
    assert (again.digest, again.stdout, again.fabric) == (through.digest, through.stdout, through.fabric)
    with pytest.raises(EngineError, match="is of a machine with a fabric; give it again with --fabric"):
        restore(saved, dma)
    other = RootComplex()
    other.connect(Card("traffic", model=True), FAST)
    with pytest.raises(EngineError, match=re.escape("the saved state of a device (fabric) is damaged")):
        restore(saved, dma, fabric=AttachedFabric(System.of(other)))


FIO = """
fio --name=a --filename=/dev/vda --rw=randwrite --bs=4k --size=256k --direct=1 \\
    --ioengine=libaio --iodepth=16 --verify=crc32c --do_verify=1 --verify_fatal=1 --randseed=7 \\
    --output-format=terse --terse-version=3 >/tmp/report
echo $?
cut -d';' -f5,6 /tmp/report
grep virtio /proc/interrupts
"""
"""It writes the first 256 KiB of a disk in a random order, and reads each block with its checksum. Up to 16
are under way, so that the driver makes requests while the disk takes others."""


@pytest.mark.long("an image with fio, and a boot of Debian with a larger tree than others")
def test_fio_verifies_what_it_writes_to_a_disk_below_two_switches(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(4 << 20))
    fabric = AttachedFabric(below_two_switches(disk))
    image = load_image(build_image(["fio"]))
    result = boot(image, FIO, memory_bytes=512 << 20, fabric=fabric, interrupts="aia")
    status, counts, *interrupts = result.stdout.decode().splitlines()
    # No error, and all read again.
    assert (status, counts) == ("0", "0;256")
    [requests] = [line for line in interrupts if "PCI-MSIX-0000:06:00.0" in line and "req" in line]
    assert int(requests.split()[1]) > 0
    assert result.fabric is not None
    sent = {port["port"]: port["classes"] for port in result.fabric["ports"]}
    # What it reads again arrives by writes of the card, and what it writes by completions.
    assert sent["switch0->root"]["posted"]["payload_bytes"] > 256 << 10
    assert sent["root->switch0"]["completion"]["payload_bytes"] > 256 << 10


NETWORK = """
interface=$(basename /sys/bus/pci/devices/0000:05:00.0/virtio*/net/*)
readlink -f /sys/class/net/$interface/device | grep -o 0000:..:..\\.0
ip address add 10.0.0.2/24 dev $interface
ip link set $interface up
ping -c 5 -s 1400 -i 0.01 10.0.0.1 | tail -2
ping -c 1 -W 1 -s 20000 10.0.0.1 >/dev/null; echo $?
cat /sys/class/net/$interface/address
grep -c "virtio.-input[.]0" /proc/interrupts
"""
"""It sends echo requests of one packet over a card, and then a longer one, which nobody answers."""


@pytest.mark.long("a boot of Debian with a larger tree than others")
def test_debian_has_answers_to_its_pings_over_a_card_below_two_switches() -> None:
    root, upper, lower = RootComplex(), PcieSwitch(), PcieSwitch()
    root.connect(upper, FAST)
    upper.add_downlinks([lower], FAST)
    lower.add_downlinks([Card("virtio-network", "net", seed=0x0A0B0C0D)], FAST)
    system = System.of(root)
    runs = []
    for _ in range(2):
        fabric = AttachedFabric(system)
        image = load_image(default_image())
        result = boot(image, NETWORK, memory_bytes=256 << 20, fabric=fabric, interrupts="aia")
        runs.append((result.digest, result.stdout))
    assert runs[0] == runs[1]
    *way, lost, times, large, address, interrupts = result.stdout.decode().splitlines()
    # Root port, both ports of each switch, and the card.
    assert len(way) == 6
    assert lost.startswith("5 packets transmitted, 5 packets received, 0% packet loss")
    # In milliseconds: two microseconds to the other host and back, and what kernel and fabric take.
    least, mean, most = map(float, times.split("=")[1].split()[0].split("/"))
    assert 0.002 <= least <= mean <= most < 10
    assert (large, address, interrupts) == ("1", "02:52:0a:0b:0c:0d", "1")


INJECT = """
modprobe aer_inject
for error in corrected nonfatal; do dd if=/root/$error of=/dev/aer_inject bs=32 2>/dev/null; done
sleep 1
dmesg | grep -E 'aer_inject|AER'
"""
"""The kernel injects two errors into the first port below the upper switch, and handles them."""


@pytest.mark.long("a boot of Debian with a larger tree than others")
def test_errors_that_the_kernel_injects_reach_its_driver_for_errors(disk: Path, tmp_path: Path) -> None:
    # Linux 6.12, drivers/pci/pcie/aer_inject.c, struct aer_error_inj: bus, device, function, errors, header.
    errors = {"corrected": (0, 1), "nonfatal": (1 << 14, 0)}
    files = [tmp_path / name for name in errors]
    for file, error in zip(files, errors.values(), strict=True):
        file.write_bytes(struct.pack("<4B7I", 2, 0, 0, 0, *error, 0, 0, 0, 0, 0))
    result = boot(
        load_image(default_image()),
        INJECT,
        files=files,
        memory_bytes=256 << 20,
        fabric=AttachedFabric(below_two_switches(disk)),
        interrupts="aia",
    )
    log = result.stdout.decode()
    assert "Injecting errors 00000001/00000000 into device 0000:02:00.0" in log
    for kind in ("Correctable", "Uncorrectable (Non-Fatal)"):
        told = rf"0000:00:10\.0: AER: {re.escape(kind)} error message received from 0000:02:00\.0"
        assert re.search(told, log), log


ABUSE = """
cd /sys/bus/pci/devices
all="0000:00:10.0 $(ls -d 0000:0[1-9]*)"
for f in $all; do cat $f/config >/root/$f; done
before=$(for f in $all; do xxd -p -l 4 $f/config; done | sha256sum)
for what in /root/garbage /root/ones /dev/zero; do
  for f in $all; do dd if=$what of=$f/config bs=4 count=1024 conv=notrunc 2>/dev/null; done
  for f in $all; do cat $f/config; done | wc -c
  cat 0000:*/resource | wc -l
done
for f in $all; do dd if=/root/$f of=$f/config bs=4 conv=notrunc 2>/dev/null; done
after=$(for f in $all; do xxd -p -l 4 $f/config; done | sha256sum)
[ "$before" = "$after" ] && echo found again
echo 3 >/proc/sys/vm/drop_caches
sha256sum </dev/vda
"""
"""Root overwrites each configuration space from the root port downwards, so that functions below vanish. Then
it writes what was there before."""


@pytest.mark.long("a boot of Debian with a larger tree than others")
def test_a_fabric_outlives_what_root_writes_to_configuration_spaces(disk: Path, tmp_path: Path) -> None:
    garbage, ones = tmp_path / "garbage", tmp_path / "ones"
    garbage.write_bytes(random.Random(50).randbytes(4096))
    ones.write_bytes(b"\xff" * 4096)
    fabric = AttachedFabric(below_two_switches(disk))
    result = boot(
        load_image(default_image()),
        ABUSE,
        files=[garbage, ones],
        memory_bytes=256 << 20,
        fabric=fabric,
        interrupts="aia",
    )
    *sizes, found, content = result.stdout.decode().splitlines()
    assert len(sizes) == 6
    assert found == "found again"
    assert content.split()[0] == sha256(disk.read_bytes()).hexdigest()
