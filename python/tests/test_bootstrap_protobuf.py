"""How the official protobuf library comes: what apt is asked, what is refused, when it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap import __main__ as entry
from bootstrap import protobuf_source as protobuf
from bootstrap.builds import PROTOBUF_LIBRARY, steps_for
from bootstrap.console import NotReadyError


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["protobuf", "deserialize", "--proto", "a.proto"], True),
        (["bench", "protobuf", "--json"], True),
        (["bench", "snappy", "compress", "protobuf"], False),
        (["reproduce", "proto-6.11"], True),
        (["reproduce", "--quick"], True),
        (["reproduce", "--list"], False),
        (["reproduce", "firesim-t2.3"], False),
        (["run", "protobuf.elf"], False),
        (["demo"], False),
        (["test"], True),
        ([], False),
    ],
)
def test_the_library_is_made_for_what_uses_it(arguments: list[str], needed: bool) -> None:
    assert (PROTOBUF_LIBRARY in entry.extras_of(arguments)) is needed


def test_only_then_is_there_a_step() -> None:
    assert PROTOBUF_LIBRARY in [step.name for step in steps_for("bench", {PROTOBUF_LIBRARY})]
    assert PROTOBUF_LIBRARY not in [step.name for step in steps_for("bench")]


def test_entries_of_both_formats_become_those_of_sources() -> None:
    modern = "Types: deb\nURIs: http://archive/debian\nSuites: bookworm\nSigned-By: /key\n"
    assert protobuf.source_entries(modern, ".sources") == modern.replace("Types: deb", "Types: deb-src")
    old = "# a comment\ndeb [signed-by=/key] http://archive/debian bookworm main\n"
    assert protobuf.source_entries(old, ".list") == old.replace("deb [", "deb-src [")


def test_another_source_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / protobuf.ARCHIVE
    archive.write_bytes(b"something else")
    with pytest.raises(NotReadyError, match=r"not the official source of 3\.21\.12"):
        protobuf.check(archive)


def test_another_version_of_the_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch_another(_: str, command: list[str], folder: Path) -> None:
        if "source" in command:
            (folder / "protobuf_3.25.1.orig.tar.gz").touch()

    monkeypatch.setattr(protobuf, "execute", fetch_another)
    with pytest.raises(NotReadyError, match=r"not 3\.21\.12 but protobuf_3\.25\.1"):
        protobuf._fetch(tmp_path)
