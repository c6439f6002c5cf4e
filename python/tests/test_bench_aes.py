"""What `rw bench aes` measures."""

from __future__ import annotations

from rackwright.benchmarks.aes import both_ways
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import elaborate


def test_gcm_of_a_kibibyte_with_a_new_key_each_keeps_up_with_100_gbit() -> None:
    rows = list(both_ways("gcm", 16, 1024, 48, clock_of(elaborate("aes")), new_keys=True))
    assert [row.test for row in rows] == ["encrypt", "decrypt"]
    for row in rows:
        assert row.verified
        assert row.gigabits_per_second >= 100
