"""How much history does a decompressor need on chip? A sweep that returns a data frame."""

import pandas as pd

from rackwright import SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive

packed = libsnappy.compress(default_archive(200_000))

frames = []
for kib in (2, 4, 8, 16, 32, 64):
    result = SnappyUnit("decompress", history_kib=kib).run(packed)
    assert result.verified
    frames.append(result.frame())

table = pd.concat(frames, ignore_index=True)
print(table[["parameters.history-kib", "cycles", "gigabytes_per_second"]].to_string(index=False))
