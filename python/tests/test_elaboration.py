"""Elaboration of several units in one run of Java."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from rackwright.errors import RackwrightError
from rackwright.hardware import designs, elaborator
from rackwright.hardware.designs import Elaboration, elaborate, elaborate_all


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


def test_one_run_of_java_does_what_a_process_asks_for_and_another_takes_its_place(tmp_path: Path) -> None:
    def elaborate_with(width: int) -> int | None:
        elaborate("stream-copy", {"port-bytes": width})
        kept = elaborator._kept
        assert kept is not None
        return kept._process.pid

    first = elaborate_with(16)
    with pytest.raises(RackwrightError, match=r"^port-bytes: 5"):
        elaborate("stream-copy", {"port-bytes": 5})
    assert elaborate_with(32) == first
    assert elaborator._kept is not None
    elaborator._kept._process.kill()
    elaborator._kept._process.wait()
    (tmp_path / "elaborated").rename(tmp_path / "before")
    assert elaborate_with(16) != first


def test_an_elaborator_that_ends_in_the_middle_says_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elaborator, "_kept", elaborator.Elaborator("nowhere", "of a test"))
    monkeypatch.setattr(designs, "hardware_fingerprint", lambda: "of a test")
    with pytest.raises(RackwrightError, match=r"has ended; see .*elaborator\.log"):
        elaborate("stream-copy")


@pytest.mark.parametrize("collector", ["Serial", "Parallel", "G1"])
def test_the_environment_may_say_how_java_collects(monkeypatch: pytest.MonkeyPatch, collector: str) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-XX:+Use{collector}GC")
    elaborator._stop()
    elaborate("stream-copy")
    elaborator._stop()


def test_a_java_that_cannot_begin_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xms2g -Xmx1g")
    elaborator._stop()
    with pytest.raises(RackwrightError, match=r"^java: Error occurred during .* of VM: Initial heap"):
        elaborate("stream-copy")
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")
    elaborate("stream-copy")


def test_a_forked_process_has_an_elaborator_of_its_own() -> None:
    elaborate("stream-copy", {"port-bytes": 16})
    ours = elaborator._kept
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(_has_none).result()
    assert ours is not None
    assert ours.is_running


def _has_none() -> bool:
    return elaborator._kept is None
