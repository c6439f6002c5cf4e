"""Links between servers and switches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ethernet:
    """A link of `latency_us` microseconds, at `gbps` Gbit/s in both directions.

    Without `gbps`, it carries one flit of 64 bits per cycle of the cluster's clock: 204.8 Gbit/s at
    3.2 GHz, which Karandikar 2024, section 2.3 calls 200 Gbit/s.
    """

    gbps: float | None = None
    latency_us: float = 2.0

    @property
    def bits_per_second(self) -> int | None:
        """The rate as the engine reads it."""
        return None if self.gbps is None else round(self.gbps * 1e9)


DEFAULT_LINK = Ethernet()
"""The link of Karandikar 2024, section 2.5: 2 us, and a flit per cycle."""
