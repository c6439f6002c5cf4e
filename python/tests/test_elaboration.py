"""Elaboration of several units in one run of Java."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rackwright import designs
from rackwright.designs import Elaboration, elaborate, elaborate_all
from rackwright.errors import RackwrightError


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is elaborated yet."""
    monkeypatch.setattr(designs, "BUILD", tmp_path)


def test_several_are_what_each_is_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [Elaboration("stream-copy", {"port-bytes": width}, memory="axi4") for width in (32, 16)]
    together = [manifest.read_bytes() for manifest in elaborate_all(wanted)]
    monkeypatch.setattr(designs, "BUILD", tmp_path / "alone")
    alone = [elaborate("stream-copy", {"port-bytes": width}, memory="axi4") for width in (32, 16)]
    assert together == [manifest.read_bytes() for manifest in alone]
    assert together[0] != together[1]


def test_what_is_there_is_not_elaborated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [Elaboration("stream-copy"), Elaboration("stream-copy", translation=True)]
    first = elaborate_all(wanted)
    monkeypatch.setattr(designs, "hardware_classpath", lambda: "nowhere")
    assert elaborate_all(wanted) == first


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (Elaboration("stream-copy", {"port-bytes": 5}), "^port-bytes: 5"),
        # Each value is allowed, but not together, which is known only when the unit is made.
        (
            Elaboration("snappy-compress", {"entry-contents": "position", "hash-ways": 2}),
            "^hash-ways is 1 with",
        ),
    ],
)
def test_one_that_is_refused_says_so(refused: Elaboration, reason: str, tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match=reason):
        elaborate_all([Elaboration("stream-copy"), Elaboration("stream-copy", translation=True), refused])
    assert list((tmp_path / "elaborated").iterdir()) == []


def test_the_same_twice_at_once_is_there_whole_and_once(tmp_path: Path) -> None:
    wanted = [Elaboration("stream-copy")]
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(elaborate_all, [wanted, wanted])
    assert first == second == [wanted[0].manifest]
    assert list((tmp_path / "elaborated").iterdir()) == [wanted[0].folder]
