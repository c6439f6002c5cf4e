"""What the population count is explored with: buffers of 8 bytes to 64 KiB, checked against Python."""

import random
from collections.abc import Mapping, Sequence

from rackwright import Unit
from rackwright.exploration import UnitWorkload

OK = 0


class PopulationCounts(UnitWorkload):
    """Two hundred buffers at any place of a page."""

    def sizes(self) -> Sequence[int]:
        """Small ones are as frequent as large ones."""
        draw = random.Random("sizes")
        return [round(2 ** draw.uniform(3, 16)) for _ in range(200)]

    def run(self, unit: Unit, call: int, settings: Mapping[str, int | str]) -> bool:
        """One count."""
        draw = random.Random(call)
        data = draw.randbytes(self.sizes()[call])
        buffer = unit.load(data, misalignment=draw.randrange(64))
        unit.command("count", buffer.address, buffer.length)
        return unit.query("result") == int.from_bytes(data).bit_count() and unit.query("status") == OK
