"""Database hash join: columns of 64-bit keys from four partitions, as rows of 32-bit keys.

Shapes are those of table 3.1 of Wang 2025 (operations: concatenate, reshape, cast); a partition has 1024 rows
of 512.
"""

from rackwright import drx
from rackwright.drx import i32, i64, xp


@drx.kernel
def join(columns: i64[4, 1024, 512]) -> i32[4096, 512]:
    """Keys keep their low bits, as they do in NumPy."""
    rows = xp.concat([columns[i] for i in range(4)])
    return xp.astype(xp.reshape(rows, (4096, 512)), xp.int32)
