"""The initial file system of an image: what a package holds, and what every image has besides."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

import pytest

from rackwright.linux.archive import Entry, content_of, program
from rackwright.linux.files import placed, write_files
from rackwright.linux.modules import Modules
from rackwright.linux.packages import MIRROR_VARIABLE, Package, PackageClient

CONTROL = (
    "Package: tool\nVersion: 1\nArchitecture: all\nMaintainer: none <none@localhost>\nDescription: a tool\n"
)


class OneModule(Modules):
    """A kernel with a single module, of which no file has to be parsed."""

    def __init__(self) -> None:
        super().__init__({})

    def entries(self, wanted: Iterable[str]) -> Iterator[Entry]:
        """The file of the module, whatever is wanted."""
        assert "virtio_net" in list(wanted)
        yield program("usr/lib/modules/6/virtio_net.ko", b"module")


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A package with a program, a second name of it, a symbolic link and a configuration."""
    root = tmp_path / "root"
    for folder in ("DEBIAN", "bin", "etc"):
        (root / folder).mkdir(parents=True)
    (root / "DEBIAN" / "control").write_text(CONTROL, encoding="utf-8")
    (root / "bin" / "tool").write_bytes(b"#!/bin/sh\n")
    (root / "bin" / "tool").chmod(0o755)
    os.link(root / "bin" / "tool", root / "bin" / "twin")
    (root / "bin" / "alias").symlink_to("tool")
    (root / "etc" / "tool.conf").write_bytes(b"setting=1\n")
    package = tmp_path / "tool_1_all.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(package)]
    subprocess.run(command, check=True, capture_output=True)
    return package


def modes_and_devices(archive: bytes) -> dict[str, tuple[int, int, int]]:
    """Mode and device of each file, by the format: thirteen fields of eight digits, then the name."""
    found, at = {}, 0
    while archive[at : at + 6] == b"070701":
        fields = [int(archive[at + 6 + 8 * index : at + 14 + 8 * index], 16) for index in range(13)]
        name = archive[at + 110 : at + 110 + fields[11] - 1].decode()
        found[name] = (fields[1], fields[9], fields[10])
        at += (110 + fields[11] + 3) // 4 * 4 + (fields[6] + 3) // 4 * 4
    assert at == len(archive)
    return found


def test_an_image_has_the_files_of_its_packages(tool: Path) -> None:
    stream = BytesIO()
    write_files([tool], OneModule(), b"first process", stream)
    archive = stream.getvalue()
    for name in ("usr/bin/tool", "usr/bin/twin"):
        assert content_of(archive, name) == b"#!/bin/sh\n"
    assert content_of(archive, "usr/bin/alias") == b"tool"
    assert content_of(archive, "etc/tool.conf") == b"setting=1\n"
    assert content_of(archive, "init") == b"first process"
    assert content_of(archive, "usr/lib/modules/6/virtio_net.ko") == b"module"
    with pytest.raises(KeyError):
        content_of(archive, "bin/tool")
    files = modes_and_devices(archive)
    assert files["dev/console"] == (stat.S_IFCHR | 0o600, 5, 1)
    assert files["usr/bin/tool"] == (stat.S_IFREG | 0o755, 0, 0)
    assert files["usr/bin/alias"][0] == stat.S_IFLNK | 0o777
    assert files["bin"][0] == stat.S_IFLNK | 0o777
    assert files["etc"][0] == stat.S_IFDIR | 0o755
    names = list(files)
    assert names.index("usr") < names.index("usr/bin") < names.index("usr/bin/tool")
    assert names[-1] == "TRAILER!!!"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("./bin/sh", "usr/bin/sh"),
        ("./bin/", ""),
        ("./lib/a/b", "usr/lib/a/b"),
        ("./etc/x", "etc/x"),
        ("./", ""),
    ],
)
def test_folders_that_are_merged_are_below_usr(name: str, place: str) -> None:
    assert placed(name) == place


def test_the_package_of_a_name_is_what_apt_would_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, "http://127.0.0.1:1/")
    digest = f"SHA256:{'0' * 64}"
    line = f"'http://127.0.0.1:1/pool/main/t/tool_1_all.deb' tool_1_all.deb 700 {digest}\n"
    monkeypatch.setattr(PackageClient, "_run", lambda *_arguments, **_settings: line)
    found = PackageClient(tmp_path).alone("tool")
    assert found == Package("tool_1_all.deb", "pool/main/t/tool_1_all.deb", digest)
