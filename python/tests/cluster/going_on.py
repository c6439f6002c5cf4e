"""Runs that go on from the state in a checkpoint, beside one that was not interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from rackwright import Cluster

UNIT_CALLS = """
#include "rackwright/rocc.h"
#include "units.h"
static uint8_t packed[] = {4, 12, 'b', 'e', 'e', 'r'}, plain[8];
int main(void) {
    for (int pass = 0; pass < 400; ++pass) {
        RACKWRIGHT_COMMAND(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_DECOMPRESS_SRC, (uintptr_t)packed, sizeof packed);
        RACKWRIGHT_COMMAND(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_DECOMPRESS_DEST_AND_START, (uintptr_t)plain, 0);
        RACKWRIGHT_QUERY(SNAPPY_DECOMPRESS_CUSTOM, SNAPPY_DECOMPRESS_CHECK_COMPLETION);
        if (plain[0] != 'b') return 1;
        plain[0] = 0;
    }
    return 0;
}
"""
"""A C program that has a unit decompress four bytes, over and over: bare metal, or in user mode."""


def position(checkpoint: Path) -> dict[str, object]:
    """The first line of a checkpoint."""
    with checkpoint.open("rb") as file:
        record: dict[str, object] = json.loads(file.readline())
    return record


def goes_on(cluster: Callable[[], Cluster], until_ms: float, points_ms: Iterable[float], file: Path) -> None:
    """A run that goes on from its state at one of these times ends as one that was not interrupted."""
    whole = cluster().run(until_ms=until_ms)
    for at_ms in points_ms:
        before = cluster().run(until_ms=at_ms, checkpoint=file)
        assert position(file)["unsaved"] == "", at_ms
        assert position(file)["digest"] == before.digest
        after = cluster().run(until_ms=until_ms, restart=file)
        assert after.digest == whole.digest, at_ms
        assert list(after.servers["exit_code"]) == list(whole.servers["exit_code"])
        assert list(after.servers["stdout"]) == list(whole.servers["stdout"])
