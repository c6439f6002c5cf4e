"""What is made of looks at the kernel's copy routine."""

from __future__ import annotations

import pandas as pd

from rackwright.reproduce.fireperf.copying import quantities


def test_quantities_are_of_all_copies() -> None:
    copies = pd.DataFrame(
        {
            "cycles": [100, 60],
            "instructions": [70, 10],
            "retired.load": [20, 4],
            "retired.store": [20, 4],
            "l1d_misses": [3, 0],
        }
    )
    assert quantities(copies, 200) == {
        "bytes for a cycle": 1.25,
        "bytes for an instruction": 2.5,
        "instructions for a cycle": 0.5,
        "loads and stores of instructions": 0.6,
        "misses of loads and stores": 0.0625,
    }
