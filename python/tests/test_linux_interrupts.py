"""Interrupts under Linux with the Advanced Interrupt Architecture: messages of functions, and of wires."""

from __future__ import annotations

import re
from pathlib import Path

from command_line import rw

from rackwright.linux.boot import boot, restore
from rackwright.linux.image import default_image, load_image

READS = "head -c 64 /dev/hwrng | wc -c; cat /proc/interrupts"


def interrupts(text: str) -> dict[str, int]:
    """How many interrupts each line of /proc/interrupts counts, of all harts, by the rest of the line."""
    counts = {}
    for line in text.splitlines():
        found = re.match(r"\s*(\w+):((?:\s+\d+)+)\s+(\S.*)", line)
        if found:
            counts[f"{found[1]} {found[3]}"] = sum(map(int, found[2].split()))
    return counts


def taken(text: str, *words: str) -> int:
    """Interrupts of the lines with all these words."""
    counts = interrupts(text).items()
    return sum(count for line, count in counts if all(word in line for word in words))


def test_debian_is_interrupted_by_messages_also_from_a_checkpoint(tmp_path: Path) -> None:
    saved = tmp_path / "booted"
    image = load_image(default_image())
    booted = boot(image, READS, harts=2, memory_bytes=256 << 20, interrupts="aia", checkpoint=saved)
    first, text = booted.stdout.decode().split("\n", 1)
    assert first == "64"
    # virtio's functions, the serial ports by their wires, and the harts among each other.
    assert taken(text, "PCI-MSIX-0000:00:00.0", "virtio") > 0, text
    assert taken(text, "APLIC", "ttyS") > 0, text
    assert taken(text, "IPI") > 0, text
    restored = restore(saved, READS)
    assert (restored.stdout, restored.digest) == (booted.stdout, booted.digest)
    told = rw("boot", "--from", saved, "--interrupts", "aia", "--run", "true").stderr.splitlines()[-1]
    assert told == "rw: interrupts does not go with --from: the checkpoint says what the machine is"
