"""A driver of the network interface's virtio front end, as small as virtio 1.2 allows."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.hardware.registers import register_map
from rackwright.unit.nic import NicUnit

RECEIVE, SEND = 0, 1
LIMIT = 200_000

REGISTERS = register_map("nic/virtio")
OFFSETS = {name: register.offset for name, register in REGISTERS.items()}
DEVICE_FEATURE_SELECT, DEVICE_FEATURE = OFFSETS["device_feature_select"], OFFSETS["device_feature"]
DRIVER_FEATURE_SELECT, DRIVER_FEATURE = OFFSETS["driver_feature_select"], OFFSETS["driver_feature"]
STATUS, QUEUE_SELECT = OFFSETS["status"], OFFSETS["queue_select"]
QUEUE_SIZE, QUEUE_ENABLE = OFFSETS["queue_size"], OFFSETS["queue_enable"]
QUEUE_ADDRESSES = tuple(REGISTERS["queue_addresses"].at(half) for half in (0, 2, 4))
INTERRUPT_STATUS, NOTIFY = OFFSETS["interrupt_status"], OFFSETS["notification"]
CONFIGURATION, ERRORS, MTU = OFFSETS["device_configuration"], OFFSETS["errors"], OFFSETS["mtu"]
WINDOW_FIRST, WINDOW_LAST, OFFER = OFFSETS["window_first"], OFFSETS["window_last"], OFFSETS["offer"]
MODERATION = tuple(REGISTERS["virtio_moderation"].at(queue) for queue in (0, 1))
ALWAYS = 1 << 63

ACKNOWLEDGE, DRIVER, DRIVER_OK, FEATURES_OK, NEEDS_RESET = 1, 2, 4, 8, 64
FEATURE_CHECKSUM, FEATURE_GUEST_CHECKSUM, FEATURE_MERGEABLE = 1 << 0, 1 << 1, 1 << 15
FEATURE_MTU, FEATURE_MAC, FEATURE_EVENT_INDEX, FEATURE_VERSION_1 = 1 << 3, 1 << 5, 1 << 29, 1 << 32
NEEDS_CHECKSUM, DATA_VALID = 1, 2
NEXT, WRITE = 1, 2
HEADER = 12
FAULTS = ("none", "ring", "index", "chain", "length", "address", "order", "header")

BASE = 0x10_0000
"""Where rings lie, each of their parts in a page of its own."""

BUFFERS = 0x20_0000
"""Where frames lie."""


@dataclass
class Ring:
    """The driver's side of a queue of `size` places."""

    number: int
    size: int
    descriptors: int
    available: int
    used: int
    given: int = 0
    taken: int = 0


class Driver:
    """Drives the front end of `nic`, whose memory it fills with rings and buffers."""

    def __init__(self, nic: NicUnit, size: int = 8, features: int = 0) -> None:
        self.nic = nic
        self.bench = nic.bench
        self.size = size
        self.features = FEATURE_VERSION_1 | FEATURE_MAC | features
        self.bench.allow(BASE, 0x10_0000, "rw")
        self.bench.allow(BUFFERS, 0x10_0000, "rw")
        self.rings = [self._ring(number, size) for number in (RECEIVE, SEND)]

    def _ring(self, number: int, size: int) -> Ring:
        base = BASE + number * 0x8000
        return Ring(number, size, base, base + 0x2000, base + 0x4004)

    def start(self) -> None:
        """Goes from reset to a device that works (section 3.1.1)."""
        self.reset()
        for bits in (ACKNOWLEDGE, ACKNOWLEDGE | DRIVER):
            self.nic.write(STATUS, bits)
        self.accept(self.features)
        assert self.nic.read(STATUS) & FEATURES_OK
        for ring in self.rings:
            self.set_up(ring)
        self.nic.write(STATUS, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK)

    def reset(self) -> None:
        """Resets the device and waits until it is."""
        self.nic.write(STATUS, 0)
        for _ in range(1000):
            if self.nic.read(STATUS) == 0:
                break
            self.bench.run(100)
        assert self.nic.read(STATUS) == 0
        for ring in self.rings:
            ring.given = ring.taken = 0
            self.bench.write_memory(BASE + ring.number * 0x8000, bytes(0x8000))

    def accept(self, features: int) -> None:
        """Tells the features that the driver has accepted."""
        for half in (0, 1):
            self.nic.write(DRIVER_FEATURE_SELECT, half)
            self.nic.write(DRIVER_FEATURE, features >> 32 * half & 0xFFFF_FFFF)
        self.nic.write(STATUS, ACKNOWLEDGE | DRIVER | FEATURES_OK)

    def set_up(self, ring: Ring) -> None:
        """Tells where a ring is, and enables it."""
        self.nic.write(QUEUE_SELECT, ring.number)
        self.nic.write(QUEUE_SIZE, ring.size)
        places = (ring.descriptors, ring.available, ring.used)
        for register, place in zip(QUEUE_ADDRESSES, places, strict=True):
            self.nic.write(register, place & 0xFFFF_FFFF)
            self.nic.write(register + 8, place >> 32)
        self.nic.write(QUEUE_ENABLE, 1)

    def descriptor(
        self, ring: Ring, index: int, address: int, length: int, flags: int, follower: int
    ) -> None:
        """Writes a descriptor."""
        fields = struct.pack("<QIHH", address, length, flags, follower)
        self.bench.write_memory(ring.descriptors + 16 * index, fields)

    def chain(self, ring: Ring, parts: Sequence[tuple[int, int]], first: int = 0) -> None:
        """Writes the descriptors of a chain of (address, length), from `first` on."""
        direction = WRITE if ring.number == RECEIVE else 0
        for index, (address, length) in enumerate(parts, start=first):
            last = index == first + len(parts) - 1
            self.descriptor(ring, index, address, length, direction | (0 if last else NEXT), index + 1)

    def give(self, ring: Ring, head: int, *, notify: bool = True) -> None:
        """Makes the chain at `head` available."""
        place = ring.available + 4 + 2 * (ring.given % ring.size)
        self.bench.write_memory(place, struct.pack("<H", head))
        ring.given = ring.given + 1 & 0xFFFF
        self.bench.write_memory(ring.available + 2, struct.pack("<H", ring.given))
        if notify:
            self.nic.write(NOTIFY, ring.number)

    def take(self, ring: Ring) -> tuple[int, int] | None:
        """The next buffer that came back: its head, and the bytes written."""
        [index] = struct.unpack("<H", self.bench.read_memory(ring.used + 2, 2))
        if index == ring.taken:
            return None
        place = ring.used + 4 + 8 * (ring.taken % ring.size)
        ring.taken = ring.taken + 1 & 0xFFFF
        head, length = struct.unpack("<II", self.bench.read_memory(place, 8))
        return head, length

    def send(
        self, frame: bytes, parts: Sequence[int] = (), first: int = 0, header: bytes = bytes(HEADER)
    ) -> None:
        """Sends a frame behind its header, in pieces of these lengths and what is left."""
        content = header + frame
        self.bench.write_memory(BUFFERS, content)
        lengths = [*parts, len(content) - sum(parts)]
        places, at = [], BUFFERS
        for length in lengths:
            places.append((at, length))
            at += length
        ring = self.rings[SEND]
        self.chain(ring, places, first)
        self.give(ring, first)

    def fault(self) -> tuple[int, str]:
        """How many rules were broken, and which was the last one."""
        word = self.nic.read(ERRORS)
        return word & 0xFFFF_FFFF, FAULTS[word >> 32]
