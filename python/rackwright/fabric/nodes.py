"""Root complexes, switches and cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from rackwright.errors import RackwrightError
from rackwright.fabric.values import ROOT_CREDITS, Credits, PcieLink
from rackwright.hardware.designs import ParameterValue
from rackwright.hardware.manifests import read_manifest
from rackwright.hardware.sizes import memory_bytes

DEFAULT_PAYLOAD = 256
DEFAULT_READ_REQUEST = 512

Design = tuple[str, tuple[tuple[str, ParameterValue], ...]]
"""A unit, or the path of a manifest, and its parameters."""

TRAFFIC = "traffic"
"""The unit that makes DMA to measure a fabric, and is a function of PCI Express itself."""

DISK = "virtio-block"
DEVICES = (DISK, "virtio-network", "virtio-entropy")
"""Devices of machines that can be on a card, as models: software has its own drivers for them."""


class Node:
    """The ends of links. `payload_bytes` is the maximum payload of its packets; None uses the root's."""

    kind: ClassVar[str]

    def __init__(self, name: str | None, payload_bytes: int | None) -> None:
        self.name = name
        self.payload_bytes = payload_bytes
        self.below: list[tuple[Node, PcieLink]] = []

    def connect(self, node: Node, link: PcieLink) -> None:
        """Connects a switch or a card below a port."""
        self.below.append((node, link))

    def add_downlinks(self, nodes: Sequence[Node], link: PcieLink) -> None:
        """Connects several nodes, each below its own port."""
        for node in nodes:
            self.connect(node, link)


class RootComplex(Node):
    """The host and its memory.

    `latency_ns` is the latency of a packet, in each direction. With `peer_to_peer`, it forwards between its
    ports. `completion_bytes` is the maximum payload of its completions, by default `payload_bytes`;
    `read_request_bytes` is the maximum read request size of devices.
    """

    kind = "root"

    def __init__(
        self,
        name: str | None = None,
        *,
        latency_ns: float = 60.0,
        peer_to_peer: bool = True,
        payload_bytes: int = DEFAULT_PAYLOAD,
        read_request_bytes: int = DEFAULT_READ_REQUEST,
        completion_bytes: int | None = None,
        credits: Credits = ROOT_CREDITS,
    ) -> None:
        super().__init__(name, payload_bytes)
        self.latency_ns = latency_ns
        self.peer_to_peer = peer_to_peer
        self.read_request_bytes = read_request_bytes
        self.completion_bytes = completion_bytes or payload_bytes
        self.credits = credits


class PcieSwitch(Node):
    """A switch that forwards a packet `latency_ns` after its first byte, if its output is free."""

    kind = "switch"

    def __init__(
        self,
        name: str | None = None,
        *,
        latency_ns: float = 110.0,
        payload_bytes: int | None = None,
        credits: Credits | None = None,
    ) -> None:
        super().__init__(name, payload_bytes)
        self.latency_ns = latency_ns
        self.credits = credits or Credits()


class Card(Node):
    """A card with a unit, or with a device; `parameters` are those of the unit (`./rw units UNIT`).

    `unit` is a name, or the path of the manifest of a design of your own, which has registers. The unit is
    RTL. `traffic` is itself a PCI Express function; other units are behind one: the host accesses their
    registers, or the command registers of units with commands, in a window, and their memory requests cross
    the fabric; an interrupt of your own design is the function's legacy interrupt. As a `model`, `traffic` is
    simulated some hundred times faster: the same packets at the same times.

    The devices are `virtio-block`, with the contents of the file `disk`, whose writes are discarded;
    `virtio-network`, with a cable to a host that answers ARP and echo requests; and `virtio-entropy`, whose
    random numbers follow from `seed`, as the address of a network card does. Their accesses to memory cross
    the fabric.

    A unit behind a function may have `memory` on its card, in bytes or as "8GiB", a power of two from 1 MiB
    on: one channel of DDR4-3200 behind the second window, which the host, other cards and the unit access by
    the same addresses.
    """

    kind = "card"

    def __init__(
        self,
        unit: str | Path = TRAFFIC,
        name: str | None = None,
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        payload_bytes: int | None = None,
        memory: int | str | None = None,
        model: bool = False,
        disk: str | Path | None = None,
        seed: int = 1,
    ) -> None:
        super().__init__(name, payload_bytes)
        if model and unit != TRAFFIC:
            raise RackwrightError(f"only `traffic` has a model, not {unit}")
        if (disk is not None) != (unit == DISK):
            wrong = "has no disk" if unit == DISK else "takes no disk"
            raise RackwrightError(f"a card with `{unit}` {wrong}: `disk` is a file for `{DISK}`")
        if unit in DEVICES and parameters:
            raise RackwrightError(f"`{unit}` has no parameters: {', '.join(parameters)}")
        if memory is not None and unit in (TRAFFIC, *DEVICES):
            raise RackwrightError(f"a card with `{unit}` takes no memory: only units behind a function do")
        self.unit = str(unit)
        self.model = model
        self.memory = None if memory is None else memory_bytes(str(memory))
        self.parameters = dict(parameters or {})
        self.disk = disk
        self.seed = seed

    @property
    def device(self) -> dict[str, str | int] | None:
        """The device that it is, as the engine's input; None for a unit."""
        if self.unit not in DEVICES:
            return None
        own: dict[str, str | int] = {"seed": self.seed} if self.disk is None else {"disk": str(self.disk)}
        return {"kind": self.unit, **own}

    @property
    def label(self) -> str:
        """The name of the unit; of your own, the one in its manifest."""
        return str(read_manifest(Path(self.unit))["unit"]) if is_manifest(self.unit) else self.unit

    @property
    def design(self) -> Design:
        """The unit with its parameters, in their order."""
        own = is_manifest(self.unit)
        values = {name: value if own else str(value) for name, value in self.parameters.items()}
        return self.unit, tuple(sorted(values.items()))


def is_manifest(unit: str) -> bool:
    """Whether the unit of a card is the path of a manifest."""
    return unit.endswith(".json")
