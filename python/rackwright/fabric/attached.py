"""A fabric in a machine: what software on it finds behind the PCI host bridge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.fabric.capture import packet_record
from rackwright.fabric.fabric import Packet, built, packets
from rackwright.fabric.lanes import fabric_lanes
from rackwright.fabric.system import System
from rackwright.profiling.lanes import Lane


class AttachedFabric:
    """A fabric for machines that run bare metal or boot a kernel: each begins with it as after reset.

    `capture` names ports whose packets are kept, such as "root->switch0" for what the root complex sends.
    """

    def __init__(self, system: System, *, capture: Iterable[str] = ()) -> None:
        """Compiles the cards where that has not been done. Raises `RackwrightError` for an unknown port."""
        self._system = system
        self._kept = frozenset(capture)
        unknown = sorted(self._kept - set(system.ports))
        if unknown:
            raise RackwrightError(f"the fabric has no port {unknown[0]}; there are {', '.join(system.ports)}")
        self._devices = [str(card.name) for card in system.cards if card.device is not None]
        self._rtl = [str(card.name) for card in system.cards if card.device is None and not card.model]
        description, designs = built(system)
        self.engine = _engine.AttachedFabric(description, list(designs.values()), bool(self._kept))

    def check_interrupts(self, interrupts: str) -> None:
        """Raises `RackwrightError` if a card is a device, and these controllers take no messages."""
        if self._devices and interrupts != "aia":
            raise RackwrightError(
                f"card {self._devices[0]}: it interrupts by messages, which need the interrupts `aia`"
            )

    def check_checkpoint(self) -> None:
        """Raises `RackwrightError` if the state of a card cannot be in a checkpoint."""
        if self._rtl:
            raise RackwrightError(
                f"card {self._rtl[0]}: it is RTL, whose state a checkpoint cannot contain; "
                "models and devices can be in one"
            )

    def record(self) -> dict[str, Any]:
        """What has crossed its links in the machine that was started last: `packet_hops` and `ports`."""
        return {"packet_hops": self.engine.packet_hops, "ports": json.loads(self.engine.ports())}

    def write_capture(self, file: Path) -> None:
        """Writes the packets that were kept since the last call, in JSON, one a line."""
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(packet_record(packet)) + "\n" for packet in self._packets())

    def lanes(self, clock_hz: int) -> list[Lane]:
        """What ports and cards did since the last call, in cycles of harts, if the packets were kept."""
        return list(fabric_lanes(self._system, self._packets(), clock_hz))

    def _packets(self) -> Iterator[Packet]:
        names = [each["port"] for each in json.loads(self.engine.ports())]
        return (each for each in packets(names, self.engine.captured()) if each.port in self._kept)
