"""How the official protobuf library comes: what apt is asked, what is refused, when it is needed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bootstrap import __main__ as entry
from bootstrap import protobuf_source as protobuf
from bootstrap import tools
from bootstrap.builds import PROTOBUF_LIBRARY, steps_for
from bootstrap.console import NotReadyError


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["protobuf", "deserialize", "--proto", "a.proto"], True),
        (["bench", "protobuf", "--json"], True),
        (["bench", "small"], True),
        (["bench", "units", "--update"], True),
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


def test_only_then_is_the_library_of_protoc_wanted() -> None:
    def wanted(verb: str, *extras: str) -> bool:
        return any(tool.name.startswith("libprotoc") for tool in tools.needed(verb, extras))

    assert wanted("protobuf")
    assert wanted("bench", PROTOBUF_LIBRARY)
    assert wanted("test")
    assert not wanted("bench")


@pytest.mark.parametrize(
    ("headers", "version"),
    [
        ({"stubs/common.h": "#define GOOGLE_PROTOBUF_VERSION 3021012\n", "compiler/plugin.h": ""}, "3.21.12"),
        ({"stubs/common.h": "#define GOOGLE_PROTOBUF_VERSION 3012004\n", "compiler/plugin.h": ""}, None),
        ({"stubs/common.h": "#define GOOGLE_PROTOBUF_VERSION 3021012\n"}, None),
        ({"stubs/common.h": "", "compiler/plugin.h": ""}, None),
        ({}, None),
    ],
)
def test_the_library_of_protoc_has_the_version_of_the_one_that_is_compiled(
    headers: dict[str, str], version: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in headers.items():
        path = tmp_path / "google" / "protobuf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(tools, "HEADERS", tmp_path)
    found = next(tool for tool in tools.TOOLS if tool.name.startswith("libprotoc")).find()
    assert (found and found.version) == version


def test_entries_of_both_formats_become_those_of_sources() -> None:
    modern = "Types: deb\nURIs: http://archive/debian\nSuites: bookworm\nSigned-By: /key\n"
    assert protobuf.source_entries(modern, ".sources") == modern.replace("Types: deb", "Types: deb-src")
    old = "# a comment\ndeb [signed-by=/key] http://archive/debian bookworm main\n"
    assert protobuf.source_entries(old, ".list") == old.replace("deb [", "deb-src [")


def test_an_archive_twice_of_which_one_entry_names_its_key_is_read_as_the_system_reads_it(
    tmp_path: Path,
) -> None:
    """Apt takes them in one order, with a warning, and refuses them in the other."""
    system, private = tmp_path / "system", tmp_path / "private"
    (system / "sources.list.d").mkdir(parents=True)
    private.mkdir()
    (system / "sources.list").write_text("deb http://archive/debian bookworm main\n")
    modern = "Types: deb\nURIs: http://archive/debian\nSuites: bookworm\nComponents: main\nSigned-By: /key\n"
    (system / "sources.list.d" / "debian.sources").write_text(modern)
    options = protobuf.private_apt(private, system)
    assert "'http://archive/debian/dists/bookworm/InRelease'" in would_fetch(options)
    (private / "sources.list").rename(private / "sources.list.d" / "system.list")
    with pytest.raises(subprocess.CalledProcessError):
        would_fetch(options)


def would_fetch(options: list[str]) -> str:
    """What an update by an apt with these options would fetch; it fetches nothing."""
    command = ["apt-get", *options, "--print-uris", "update"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


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
