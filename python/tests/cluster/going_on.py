"""Runs that go on from the state in a checkpoint, beside one that was not interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from rackwright import Cluster


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
