"""The official LevelDB over remote memory: what it holds after many writes, at a snapshot and at the end."""

from __future__ import annotations

from itertools import islice

import pytest
from workload_numbers import drawn

from rackwright.remote_memory import Paging, run_paged, workload

PAGE = 4096
KEYS = 1500


def value_of(number: int, version: int) -> bytes:
    """The workload's value of a key in one version."""
    numbers = drawn(number << 8 | version)
    length = 24 + next(numbers) % 200
    return bytes(ord("a") + letter % 13 for letter in islice(numbers, length))


def line_of(name: str, versions: list[int]) -> str:
    """What the workload prints of a store that holds these versions; 0: the key is not there."""
    total = 14695981039346656037
    for number, version in enumerate(versions):
        for byte in b"key%06d" % number + value_of(number, version) if version else b"":
            total = (total ^ byte) * 1099511628211 % (1 << 64)
    return f"{name}: {sum(map(bool, versions))} keys, {total:016x}"


def expected(keys: int) -> list[str]:
    """The workload's output, by a dictionary instead of a store."""
    versions, numbers, lines = [0] * keys, drawn(1), []
    for name in ("snapshot", "store"):
        for _ in range(2 * keys):
            key = next(numbers) % keys
            removed = next(numbers) % 8 == 0
            versions[key] = 0 if removed else 1 + next(numbers) % 255
        lines.append(line_of(name, versions))
    return lines


@pytest.mark.long
@pytest.mark.parametrize("paging", ["software", "unit"])
@pytest.mark.parametrize("harts", [1, 2])
def test_a_store_holds_what_was_written_as_with_all_memory_local(paging: Paging, harts: int) -> None:
    """With less than half of its pages; its compaction is a thread of its own."""
    local, remote = (
        run_paged(
            *(workload("leveldb"), [str(KEYS)]),
            local_bytes=pages * PAGE,
            paging=paging,
            harts=harts,
            link_latency_us=0.5,
            cpu="functional",
        )
        for pages in (1500, 200)
    )
    assert local.counts["remote_faults"] == 0
    assert local.counts["peak_pages"] > 2 * 200
    assert (remote.output, remote.exit_code) == (local.output, 0)
    assert remote.output.splitlines() == expected(KEYS)
    assert remote.counts["remote_faults"] > 100
