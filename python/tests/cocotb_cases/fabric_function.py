"""The unit `traffic` in RTL below a root complex of cocotbext-pcie: see `test_fabric_cocotb.py`."""

# mypy: ignore-errors
from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer
from cocotbext.pcie.core import RootComplex
from cocotbext.pcie.core.port import SimPort
from cocotbext.pcie.core.tlp import Tlp
from cocotbext.pcie.core.utils import PcieId

BEAT = 16
BUFFER = 1 << 16
SEED = 0x9E37_79B9_7F4A_7C15
REGISTERS = json.loads(os.environ.get("REGISTERS", "{}"))
WITHOUT_LIMIT = [0x40, 0x50, 0x60]
"""InitFC1 of the three classes, with infinite credits: the link of cocotbext-pcie counts them (3.5.1)."""


class Card:
    """The pins of a function, as a device of cocotbext-pcie behind a link."""

    def __init__(self, design) -> None:
        self.design = design
        self.port = SimPort([[32, 1024, 32, 32, 0, 0]] * 8)
        self.port.max_link_speed, self.port.max_link_width = 4, 8
        self.port.rx_handler = self.receive
        self.leaving: Queue = Queue()
        self.sent = 0

    def connect(self, port) -> None:
        """As devices of cocotbext-pcie do."""
        port.connect(self.port)

    async def reset(self) -> None:
        """Resets the function, and lets it send without limit."""
        design = self.design
        for pin in ("packets_in_valid", "credits_in_valid"):
            getattr(design, pin).value = 0
        for pin in ("packets_out_ready", "credits_out_ready", "stamps_ready"):
            getattr(design, pin).value = 1
        design.reset.value = 1
        await ClockCycles(design.clock, 16)
        await FallingEdge(design.clock)
        design.reset.value = 0
        for first in WITHOUT_LIMIT:
            await self.beat("credits_in", bytes([first, 0, 0, 0]).ljust(8, b"\0"), 0xF, last=True)
        cocotb.start_soon(self.collect())
        cocotb.start_soon(self.send())

    async def beat(self, name: str, data: bytes, keep: int, *, last: bool) -> None:
        """Offers a beat in one cycle: the function always takes packets and credits."""
        design = self.design
        getattr(design, f"{name}_bits_data").value = int.from_bytes(data, "little")
        getattr(design, f"{name}_bits_keep").value = keep
        getattr(design, f"{name}_bits_last").value = int(last)
        getattr(design, f"{name}_valid").value = 1
        await RisingEdge(design.clock)
        assert getattr(design, f"{name}_ready").value == 1, f"{name} is not ready"
        await FallingEdge(design.clock)
        getattr(design, f"{name}_valid").value = 0

    async def receive(self, tlp: Tlp) -> None:
        """A packet has come over the link: its header goes in a beat of its own."""
        packet = tlp.pack()
        header = 4 * tlp.get_header_size_dw()
        beats = [packet[:header].ljust(BEAT, b"\0")]
        beats += [packet[at : at + BEAT] for at in range(header, len(packet), BEAT)]
        await FallingEdge(self.design.clock)
        for number, beat in enumerate(beats):
            keep = (1 << len(beat)) - 1
            await self.beat("packets_in", beat.ljust(BEAT, b"\0"), keep, last=number + 1 == len(beats))
        tlp.release_fc()

    async def send(self) -> None:
        """Sends its packets over the link, which counts credits."""
        while True:
            await self.port.send(Tlp.unpack(await self.leaving.get()))
            self.sent += 1

    async def collect(self) -> None:
        """Queues the packets of the function, which may leave faster than the link takes them."""
        design, beats = self.design, []
        while True:
            await FallingEdge(design.clock)
            if not design.packets_out_valid.value:
                await RisingEdge(design.packets_out_valid)
                continue
            data = int(design.packets_out_bits_data.value).to_bytes(BEAT, "little")
            beats.append(data[: int(design.packets_out_bits_keep.value).bit_count()])
            if design.packets_out_bits_last.value:
                long = beats[0][0] & 0x20
                packet = beats[0][: 16 if long else 12] + b"".join(beats[1:])
                self.leaving.put_nowait(packet)
                beats = []


async def register(window, name: str, value: int | None = None) -> int:
    """Writes a register of eight bytes, or reads it."""
    if value is None:
        return int.from_bytes(await window.read(REGISTERS[name], 8), "little")
    await window.write(REGISTERS[name], value.to_bytes(8, "little"))
    return value


async def run(window, *, writes: bool, address: int, size: int, count: int) -> None:
    settings = {
        "base": address,
        "size": size,
        "stride": size,
        "mask": BUFFER - 1,
        "count": count,
        "outstanding": 16,
        "interval": 1,
        "copy": 0,
        "seed": SEED,
        "start": int(writes),
    }
    for name, value in settings.items():
        await register(window, name, value)
    while await register(window, "start"):
        await Timer(1, "us")


@cocotb.test()
async def makes_dma(design) -> None:
    """Enumerated by the other's software, it reads and writes the other's memory, and sends a message."""
    cocotb.start_soon(Clock(design.clock, 500, "ps").start())
    card = Card(design)
    root = RootComplex()
    root.max_payload_size = 1
    root.make_port().connect(card)
    await card.reset()
    await root.enumerate()
    device = root.find_device(PcieId(1, 0, 0))
    assert (device.vendor_id, device.device_id) == (0x5257, 1)
    await device.enable_device()
    await device.set_master()
    window = device.bar_window[0]
    address, memory = root.alloc_region(BUFFER)
    results = {"bars": [device.bar_size[0], device.bar_size[2]], "runs": []}

    words = [(index * 0x1234_5678_9ABC_DEF1 + 7) & (1 << 64) - 1 for index in range(BUFFER // 8)]
    memory[:] = struct.pack(f"<{len(words)}Q", *words)
    for size, count in ((16, 40), (64, 60), (256, 40), (1024, 20)):
        await run(window, writes=False, address=address, size=size, count=count)
        expected = sum(words[: size * count // 8]) & (1 << 64) - 1
        assert await register(window, "sum") == expected, size
        assert await register(window, "done") == count
        results["runs"].append(["read", size, count])
    for size, count in ((16, 40), (64, 60), (256, 40), (1024, 20)):
        memory[:] = bytes(BUFFER)
        await run(window, writes=True, address=address, size=size, count=count)
        await register(window, "done")
        written = struct.unpack(f"<{size * count // 8}Q", memory[: size * count])
        expected = [(address + 8 * index + SEED) & (1 << 64) - 1 for index in range(len(written))]
        assert list(written) == expected, size
        assert not any(memory[size * count :])
        results["runs"].append(["write", size, count])
    assert await register(window, "faults") == 0
    assert await register(window, "errors") == 0

    # Its first vector of MSI-X, at 0x800 of its window, writes a word of memory when a run has ended.
    memory[:] = bytes(BUFFER)
    vector = address + BUFFER - 16
    await window.write(0x800, vector.to_bytes(8, "little"))
    await window.write(0x808, (0x4D5349).to_bytes(8, "little"))
    await device.config_write_word(0x82, 1 << 15)
    await run(window, writes=True, address=address, size=64, count=8)
    while not any(memory[-16:]):
        await Timer(1, "us")
    assert bytes(memory[-16:-12]) == (0x4D5349).to_bytes(4, "little")
    results["packets"] = card.sent
    Path(os.environ["RESULT"]).write_text(json.dumps(results), encoding="utf-8")
