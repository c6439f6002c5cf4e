"""Links of a fabric, and the room at their ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from rackwright.errors import RackwrightError

GENERATIONS = (1, 2, 3, 4, 5)
LANES = (1, 2, 4, 8, 16)
_GIGATRANSFERS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0}
"""Of each lane, by generation."""


@dataclass(frozen=True)
class PcieLink:
    """A link: its generation, its lanes, and its ends.

    `delay_ns` is the delay of a byte through the physical layers of both ends. `replay_bytes` is the room at
    each end for packets that have not been acknowledged.
    """

    gen: int
    lanes: int
    delay_ns: float = 25.0
    replay_bytes: int = 32768

    @property
    def bytes_per_ns(self) -> float:
        """What it carries in each direction, of packets and what is around them (4.2.1, 4.2.2)."""
        encoding = 8 / 10 if self.gen < 3 else 128 / 130
        return _GIGATRANSFERS[self.gen] * self.lanes * encoding / 8

    def __post_init__(self) -> None:
        if self.gen not in GENERATIONS:
            raise RackwrightError(f"a link is of generation 1 to 5, not {self.gen!r}")
        if self.lanes not in LANES:
            raise RackwrightError(f"a link has 1, 2, 4, 8 or 16 lanes, not {self.lanes!r}")
        if not 1 <= self.delay_ns <= 1e6:
            raise RackwrightError(f"a link delays by 1 to 1000000 ns, not {self.delay_ns!r}")
        if self.replay_bytes < 4096 + 16:
            raise RackwrightError(
                f"an end of a link keeps at least one packet, 4112 bytes, not {self.replay_bytes!r}"
            )


@dataclass(frozen=True)
class Credits:
    """The buffer space of a port for each class of packets: headers, and units of 16 bytes of data.

    None stands for unlimited space, which a root complex has for completions, as the specification requires.
    """

    posted: tuple[int, int] | None = (64, 1024)
    non_posted: tuple[int, int] | None = (64, 64)
    completion: tuple[int, int] | None = (64, 1024)

    def record(self) -> dict[str, list[int]]:
        """The engine's encoding: 0 for no limit."""
        return {name: list(getattr(self, name) or (0, 0)) for name in CLASSES}


CLASSES = ("posted", "non_posted", "completion")
"""The classes by the names of their fields."""

ROOT_CREDITS = Credits(completion=None)


@dataclass
class Connection:
    """A link between two nodes, from the end nearer to the root."""

    above: str
    below: str
    link: PcieLink = field(default_factory=lambda: PcieLink(gen=4, lanes=16))

    def record(self) -> dict[str, object]:
        """The engine's encoding."""
        return {
            "above": self.above,
            "below": self.below,
            "generation": self.link.gen,
            "lanes": self.link.lanes,
            "delay_ns": self.link.delay_ns,
            "replay_bytes": self.link.replay_bytes,
        }
