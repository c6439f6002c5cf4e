"""Packet hops that the fabric simulates in a second of a core, for `validation/fabric/README.md`.

The same transfers of modelled cards below one switch and below three: `whole` is hops over time, with the
models of cards and the memory of the host; `hop` is what further switches cost, by the difference. Times are
those of the processor, the best of some runs.

    .build/venv/bin/python validation/fabric/hops.py
"""

from __future__ import annotations

import resource

from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex, System
from rackwright.fabric.fabric import Fabric, Load

FAST = PcieLink(gen=4, lanes=16)
REQUESTS, RUNS = 100_000, 3


def tree(*, deep: bool) -> System:
    """Two cards below the same switch, or each below a switch of its own below that."""
    root, switch = RootComplex(), PcieSwitch()
    root.connect(switch, FAST)
    for _ in range(2):
        above = PcieSwitch() if deep else switch
        if deep:
            switch.connect(above, FAST)
        above.connect(Card("traffic", model=True), FAST)
    return System.of(root)


def run(fabric: Fabric, test: str, size: int) -> tuple[int, float]:
    """Hops and seconds of one row, of the first card."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    hops = fabric._fabric.packet_hops
    to = 1 if test == "peer" else None
    load = Load(count=REQUESTS)
    fabric._fabric.bench(test, size, 0, to, REQUESTS, load.outstanding, load.interval, load.copy, load.warm)
    seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    return fabric._fabric.packet_hops - hops, seconds


def best(fabric: Fabric, test: str, size: int) -> tuple[int, float]:
    """The shortest of some runs."""
    return min((run(fabric, test, size) for _ in range(RUNS)), key=lambda each: each[1])


def main() -> None:
    """Prints a line for each test and size."""
    trees = [Fabric(tree(deep=deep)) for deep in (False, True)]
    print("test   bytes  whole, one switch  three  hop   (million a second)")
    for test in ("read", "write", "peer"):
        for size in (64, 256):
            (few, short), (many, long) = (best(fabric, test, size) for fabric in trees)
            rates = [few / short, many / long, (many - few) / max(long - short, 1e-9)]
            print(f"{test:6} {size:5}  " + "  ".join(f"{rate / 1e6:6.1f}" for rate in rates))


if __name__ == "__main__":
    main()
