"""A fabric that runs: built by the engine, found by its software, and measured."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.fabric.card_unit import CardUnit
from rackwright.fabric.nodes import DEVICES, TRAFFIC, Card, Design, is_manifest
from rackwright.fabric.system import System
from rackwright.hardware.designs import Elaboration, elaborate_all
from rackwright.hardware.designs import design as compiled_design
from rackwright.hardware.manifests import main_clock, read_manifest
from rackwright.hardware.toolchain import toolchain
from rackwright.verilog.moved import moved_manifest

TESTS = ("read", "write", "latency", "peer", "registers")
"""The tests."""

DEFAULT_SIZES = (64, 256, 512, 2048)

MEMORY_BYTES = 1 << 28
"""Memory of the host of a measurement."""


@dataclass(frozen=True)
class Load:
    """A card's pattern of requests, from its register settings.

    `interval` and `copy` are cycles of the card: from one request to the next, and for copying 16 bytes of
    data, after the last byte of a read has arrived or before a write is sent.
    """

    outstanding: int = 64
    interval: int = 1
    copy: int = 0
    count: int | None = None
    warm: bool = True


@dataclass(frozen=True)
class Beside:
    """A card that reads the host's memory without a pause while another one is measured, by its name.

    It has `outstanding` requests of `size` bytes in flight, also bounded by its parameter `tags`.
    """

    card: str
    size: int = 512
    outstanding: int = 64


@dataclass(frozen=True)
class Packet:
    """A packet on a link."""

    picosecond: int
    port: str
    sequence: int
    check: int
    data: bytes


@dataclass
class Measured:
    """The result of a measurement."""

    rows: list[dict[str, Any]]
    ports: list[dict[str, Any]]
    counters: dict[str, int]
    packet_hops: int
    digest: str
    wall_seconds: float
    packets: list[Packet] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """As `rw fabric bench --json` prints it."""
        record = asdict(self)
        del record["packets"]
        record["packet_hops_per_second"] = self.packet_hops / self.wall_seconds if self.wall_seconds else 0.0
        return record


class Fabric:
    """A fabric after its software has found and configured its cards."""

    def __init__(
        self,
        system: System,
        *,
        memory: Mapping[str, int] | None = None,
        assertions: bool = False,
        capture: bool = False,
    ) -> None:
        """Compiles the cards if necessary; `memory` has numbers of caches and DRAM."""
        self.system = system
        description, self._designs = built(system, assertions=assertions)
        designs = list(self._designs.values())
        self._capture = capture
        self._fabric = _engine.Fabric(
            description, designs, MEMORY_BYTES, memory=dict(memory or {}), capture=capture
        )

    @property
    def found(self) -> list[dict[str, Any]]:
        """The cards with their numbers and windows, as software has found them."""
        found: list[dict[str, Any]] = json.loads(self._fabric.found)
        return [{"name": self.system.cards[each.pop("card")].name, **each} for each in found]

    @property
    def bridges(self) -> list[dict[str, Any]]:
        """The ports of the root complex and of switches, as found by software, with the nodes below."""
        bridges: list[dict[str, Any]] = json.loads(self._fabric.bridges)
        return bridges

    @property
    def digest(self) -> str:
        """Of every packet that has crossed a link, with its time."""
        return self._fabric.digest

    def unit(self, card: str) -> CardUnit:
        """The unit on the card with that name.

        Raises `RackwrightError` for `traffic`, and for a card whose unit has no commands.
        """
        for number, each in enumerate(self.system.cards):
            if each.name == card and self._has_commands(each):
                return CardUnit(self._fabric, number, self._designs[each.design], self._memory_of(each))
        names = [str(each.name) for each in self.system.cards if self._has_commands(each)]
        raise RackwrightError(
            f"no card {card} has a unit with commands; there are {', '.join(names) or 'none'}"
        )

    def _memory_of(self, card: Card) -> tuple[int, int] | None:
        """Address and size of the window of a card's own memory."""
        if card.memory is None:
            return None
        [found] = [each for each in self.found if each["name"] == card.name]
        window = found["windows"][1]
        return window["address"], window["bytes"]

    def _has_commands(self, card: Card) -> bool:
        own = card.unit not in (TRAFFIC, *DEVICES) and not card.model
        return own and bool(self._designs[card.design].commands)

    def measure(
        self,
        test: str,
        sizes: Sequence[int] = DEFAULT_SIZES,
        load: Load | None = None,
        beside: Beside | None = None,
    ) -> Measured:
        """Makes a test with requests of each size by each card, one after the other.

        With a card `beside`, each of the other cards is measured while that one reads. Raises `EngineError`
        if a response is missing, or if data are wrong.
        """
        begin = time.perf_counter()
        hops = self._fabric.packet_hops
        loading = self._loading(test, beside)
        pairs = [pair for pair in self._pairs(test) if loading is None or pair[0] != loading[0]]
        chosen = [8] if test == "registers" else sizes
        rows = [self._row(test, size, pair, load or Load(), loading) for pair in pairs for size in chosen]
        wall = time.perf_counter() - begin
        return Measured(
            rows=rows,
            ports=json.loads(self._fabric.ports()),
            counters=self._fabric.counters(),
            packet_hops=self._fabric.packet_hops - hops,
            digest=self.digest,
            wall_seconds=wall,
            packets=self._packets() if self._capture else [],
        )

    def _pairs(self, test: str) -> list[tuple[int, int | None]]:
        """The sender and the receiver: the host, or for peers the next card.

        Other units make no DMA to measure.
        """
        cards = [number for number, card in enumerate(self.system.cards) if card.unit == TRAFFIC]
        if not cards:
            raise RackwrightError(f"the fabric has no card {TRAFFIC}, which measures it")
        if test != "peer":
            return [(by, None) for by in cards]
        others = [number for number, card in enumerate(self.system.cards) if _takes_writes(card)]
        if len(others) < 2:
            raise RackwrightError(
                f"a peer is a second card {TRAFFIC}, or one with memory, and the fabric has none"
            )
        return [(by, others[(others.index(by) + 1) % len(others)]) for by in cards]

    def _loading(self, test: str, beside: Beside | None) -> tuple[int, int, int] | None:
        """The engine's settings for the card beside."""
        if beside is None:
            return None
        names = [card.name for card in self.system.cards]
        if beside.card not in names:
            raise RackwrightError(f"no card is called {beside.card}; there are {', '.join(map(str, names))}")
        if len(names) < 2 or test == "registers":
            raise RackwrightError("beside a card that reads, DMA of another card is measured")
        return names.index(beside.card), beside.size, beside.outstanding

    def _row(
        self,
        test: str,
        size: int,
        pair: tuple[int, int | None],
        load: Load,
        loading: tuple[int, int, int] | None,
    ) -> dict[str, Any]:
        count = load.count or (
            200 if test in ("latency", "registers") else max(256, min(4096, (1 << 20) // size))
        )
        row: dict[str, Any] = json.loads(
            self._fabric.bench(
                test,
                size,
                *pair,
                count=count,
                outstanding=load.outstanding,
                interval=load.interval,
                copy=load.copy,
                warm=load.warm,
                beside=loading,
            )
        )
        return row

    def _packets(self) -> list[Packet]:
        names = [each["port"] for each in json.loads(self._fabric.ports())]
        return packets(names, self._fabric.captured())


def _takes_writes(card: Card) -> bool:
    """Whether it has a window for writes of other cards."""
    return card.unit == TRAFFIC or card.memory is not None


def packets(ports: Sequence[str], captured: Iterable[tuple[int, int, int, int, bytes]]) -> list[Packet]:
    """Packets as the engine has captured them at these ports."""
    return [
        Packet(picosecond, ports[port], sequence, check, data)
        for picosecond, port, sequence, check, data in captured
    ]


def built(system: System, *, assertions: bool = False) -> tuple[str, dict[Design, _engine.Design]]:
    """What the engine builds a fabric from: its description, and the compiled designs of its cards."""
    wanted, modelled = system.designs(model=False), system.designs(model=True)
    ours = [each for each in wanted if not is_manifest(each[0])]
    elaborations = [_elaboration(each, assertions) for each in ours]
    manifests = elaborate_all([*elaborations, *(_elaboration(each, False) for each in modelled)])
    known = dict(zip(ours, manifests, strict=False))
    designs = {each: toolchain().build(str(known[each])) if each in known else _own(each) for each in wanted}
    models = dict(zip(modelled, map(_model, manifests[len(ours) :]), strict=True))
    return system.description(models), designs


def _own(wanted: Design) -> _engine.Design:
    """A design that a user brings, with a mover around its AXI4-Stream ports."""
    manifest, parameters = Path(wanted[0]), dict(wanted[1])
    moved = moved_manifest(manifest, parameters)
    return compiled_design(moved, parameters if moved == manifest else None)


def _elaboration(wanted: Design, assertions: bool) -> Elaboration:
    """The unit of a card, which the host commands through registers."""
    unit, parameters = wanted
    command = "rocc" if unit == TRAFFIC else "mmio"
    return Elaboration(unit, dict(parameters), command=command, assertions=assertions)


def _model(manifest: Path) -> dict[str, int]:
    """The parts of a unit's manifest that its model uses."""
    record = read_manifest(manifest)
    parameters = record["parameters"]
    return {
        "hertz": main_clock(record)["hertz"],
        **{name: int(parameters[name.replace("_", "-")]) for name in ("tags", "read_bytes", "packets")},
    }
