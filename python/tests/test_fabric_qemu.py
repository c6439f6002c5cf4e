"""Debian reads the same of our root ports and switches as of QEMU's, as far as the specification fixes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import REPOSITORY

from rackwright.fabric import AttachedFabric, load_system
from rackwright.linux.boot import boot
from rackwright.linux.files import archive_of
from rackwright.linux.image import default_image, load_image

QEMU = shutil.which("qemu-system-riscv64")

DUMP = "cd /sys/bus/pci/devices; for f in *; do echo config $f $(xxd -p -c 4096 $f/config); done"

PROBE = f"""#!/usr/bin/busybox sh
/usr/bin/busybox --install -s /usr/bin
export PATH=/usr/bin
mount -t sysfs sysfs /sys
{DUMP}
poweroff -f
"""
"""The first process under QEMU, whose machine has not the serial ports of ours."""

TREE = (
    "pcie-root-port,id=root,bus=pcie.0,chassis=1,slot=1",
    "x3130-upstream,id=up,bus=root",
    "xio3130-downstream,id=one,bus=up,chassis=2,slot=0",
    "xio3130-downstream,id=two,bus=up,chassis=3,slot=1",
    "virtio-rng-pci,bus=one",
    "virtio-rng-pci,bus=two",
)
"""The tree of examples/fabric/switch.py, with other cards."""

PCI_EXPRESS = 0x10


def bridges(text: str) -> list[bytes]:
    """Configuration spaces of what has a header of type 1, in the order of their numbers."""
    lines = (line.split() for line in text.splitlines() if line.startswith("config "))
    spaces = (bytes.fromhex(words[2]) for words in sorted(lines))
    return [space for space in spaces if space[0xE] & 0x7F == 1]


def number(space: bytes, place: int, count: int = 4) -> int:
    return int.from_bytes(space[place : place + count], "little")


def fixed(space: bytes) -> dict[str, int]:
    """What the specification fixes for a port (PCI Express Base 5.0, 7.5.1, 7.5.3, 7.8.4), and its buses.

    Capabilities that a port may have or not, and the rates of links, differ between any two implementations.
    """
    place = space[0x34]
    while space[place] != PCI_EXPRESS:
        place = space[place + 1]
    flags, able, control = number(space, place + 2, 2), number(space, place + 4), number(space, place + 8, 2)
    severities = number(space, 0x10C)
    return {
        "class": number(space, 0x9, 3),
        "header": space[0xE],
        "memory": number(space, 0x4, 2) & 0x2,
        "has_capabilities": space[0x6] >> 4 & 1,
        "errors_so_far": number(space, 0x6, 2) & 0xF900 | number(space, 0x1E, 2) & 0xF900,
        "latency_timers": space[0xD] | space[0x1B],
        "primary": space[0x18],
        "secondary": space[0x19],
        "subordinate": space[0x1A],
        "memory_kind": space[0x20] & 0xF | space[0x22] & 0xF,
        "prefetchable_base_kind": space[0x24] & 0xF,
        "prefetchable_limit_kind": space[0x26] & 0xF,
        "expansion": number(space, 0x38),
        "capability_version": flags & 0xF,
        "port_type": flags >> 4 & 0xF,
        "message_number": flags >> 9 & 0x1F,
        "acceptable_latencies": able >> 6 & 0x3F,
        "role_based_errors": able >> 15 & 1,
        "slot_power_of_others": able >> 18 & 0x3FF if flags >> 4 & 0xF != 5 else 0,
        "auxiliary_power": control >> 10 & 1,
        "link_is_active": number(space, place + 0x12, 2) >> 13 & 1 if flags >> 4 & 0xF == 5 else 0,
        "extended_capability": number(space, 0x100) & 0xFFFF,
        "extended_version": number(space, 0x100) >> 16 & 0xF,
        "uncorrectable_errors": number(space, 0x104),
        "malformed_and_overflow_are_fatal": severities >> 17 & 3,
        "others_are_not": severities & 0x115000,
        "advisory_errors_masked": space[0x115] >> 5 & 1,
    }


@pytest.mark.long("a boot under QEMU, and one of ours")
@pytest.mark.skipif(QEMU is None, reason="there is no qemu-system-riscv64 to compare with")
def test_debian_reads_the_same_of_ports_as_under_qemu(tmp_path: Path) -> None:
    image = load_image(default_image())
    probe = tmp_path / "probe"
    probe.write_text(PROBE)
    probe.chmod(0o755)
    kernel, files = tmp_path / "kernel", tmp_path / "files"
    kernel.write_bytes(image.kernel)
    files.write_bytes(image.files + archive_of([probe]))
    options = ["-machine", "virt", "-m", "1G", "-nographic", "-no-reboot"]
    loads = ["-kernel", kernel, "-initrd", files, "-append", "console=ttyS0 rdinit=/root/probe loglevel=3"]
    devices = [word for device in TREE for word in ("-device", device)]
    command = [str(QEMU), *options, *map(str, loads), *devices]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=True
    )
    theirs = [fixed(space) for space in bridges(ended.stdout)]
    fabric = AttachedFabric(load_system(REPOSITORY / "examples" / "fabric" / "switch.py"))
    result = boot(image, DUMP, memory_bytes=256 << 20, fabric=fabric)
    ours = [fixed(space) for space in bridges(result.stdout.decode())]
    assert len(ours) == 4
    assert len(theirs) == 4
    fields = ((port, name) for port in range(4) for name in ours[port])
    different = {
        each: (ours[each[0]][each[1]], theirs[each[0]][each[1]])
        for each in fields
        if ours[each[0]][each[1]] != theirs[each[0]][each[1]]
    }
    assert not different, "by port and field, ours and QEMU's"
