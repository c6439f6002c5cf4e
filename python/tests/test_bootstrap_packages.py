"""Packages of the system from sources that two files name, of which one names a key and one does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap import packages
from bootstrap.tools import Tool

FROBNICATE = Tool("frobnicate", "testing", ("frobnicate",), lambda: None)

INDEX = f"""Package: frobnicate
Version: 1
Architecture: all
Maintainer: nobody <nobody@example.org>
Filename: ./frobnicate.deb
Size: 1
SHA256: {"0" * 64}
Description: does

"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder /etc/apt of a system with an archive of one package, which apt pretends to install."""
    archive, system = tmp_path / "archive", tmp_path / "apt"
    for folder in (archive, system / "sources.list.d", tmp_path / "lists/partial", tmp_path / "cache"):
        folder.mkdir(parents=True)
    (archive / "Packages").write_text(INDEX)
    for name in ("status", "key"):
        (tmp_path / name).touch()
    (system / "sources.list").write_text(f"deb [trusted=yes] file:{archive} ./\n")
    fields = {"Types": "deb", "URIs": f"file:{archive}", "Suites": "./", "Trusted": "yes"}
    fields["Signed-By"] = str(tmp_path / "key")
    stanza = "".join(f"{name}: {value}\n" for name, value in fields.items())
    (system / "sources.list.d" / "more.sources").write_text(stanza)
    settings = {
        "Dir::Etc::SourceList": system / "sources.list",
        "Dir::Etc::SourceParts": system / "sources.list.d",
        "Dir::State": tmp_path,
        "Dir::State::status": tmp_path / "status",
        "Dir::Cache": tmp_path / "cache",
        "APT::Get::Simulate": "true",
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "true",
    }
    lines = [f'{name} "{value}";\n' for name, value in settings.items()]
    (tmp_path / "apt.conf").write_text("".join(lines))
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    monkeypatch.setattr(packages, "LOGS", tmp_path / "logs")
    packages._read_index.cache_clear()
    return system


def test_what_apt_warns_of_is_installed(system: Path, tmp_path: Path) -> None:
    packages._install([FROBNICATE], [])
    log = (tmp_path / "logs" / "packages.log").read_text()
    assert "is configured multiple times" in log
    assert "Inst frobnicate" in log


def test_what_apt_refuses_is_said(system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (system / "sources.list").rename(system / "sources.list.d" / "z.list")
    packages._install([FROBNICATE], [])
    assert "Inst" not in (tmp_path / "logs" / "packages.log").read_text()
    [line] = [line for line in capsys.readouterr().err.splitlines() if "E: " in line]
    assert "packages: E: Conflicting values set for option Signed-By" in line
