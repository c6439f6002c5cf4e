"""A fabric in a machine: what software on it finds behind the PCI host bridge."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.fabric.capture import packet_record
from rackwright.fabric.fabric import built, packets
from rackwright.fabric.system import System


class AttachedFabric:
    """A fabric for machines that run bare metal or boot a kernel: each begins with it as after reset.

    `capture` names ports whose packets are kept, such as "root->switch0" for what the root complex sends.
    """

    def __init__(self, system: System, *, capture: Iterable[str] = ()) -> None:
        """Compiles the cards where that has not been done. Raises `RackwrightError` for an unknown port."""
        self._kept = frozenset(capture)
        ports = [f"{one}->{other}" for each in system.links for one, other in _ends(each.above, each.below)]
        unknown = sorted(self._kept - set(ports))
        if unknown:
            raise RackwrightError(f"the fabric has no port {unknown[0]}; there are {', '.join(ports)}")
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
        names = [each["port"] for each in json.loads(self.engine.ports())]
        kept = (each for each in packets(names, self.engine.captured()) if each.port in self._kept)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(packet_record(packet)) + "\n" for packet in kept)


def _ends(above: str, below: str) -> list[tuple[str, str]]:
    return [(above, below), (below, above)]
