"""Packages of images: locked versions, and mirrors that have not kept them or are damaged."""

from __future__ import annotations

import fcntl
import hashlib
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rackwright import RackwrightError
from rackwright.linux import image, lock
from rackwright.linux.packages import MIRROR_VARIABLE, Package, PackageClient


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line per request."""

    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a mirror with nothing in it."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv(MIRROR_VARIABLE, f"http://127.0.0.1:{server.server_address[1]}/")
    yield folder
    server.shutdown()
    server.server_close()


def package(content: bytes) -> Package:
    digest = hashlib.sha256(content).hexdigest()
    return Package("tool_1%3a2.0+b1.deb", "pool/t/tool_2.0%2bb1.deb", f"SHA256:{digest}")


def test_packages_are_fetched_by_their_hashes(mirror: Path, tmp_path: Path) -> None:
    client = PackageClient(tmp_path / "client")
    wanted = package(b"content")
    with pytest.raises(RackwrightError, match="404"):
        client.fetch([wanted])
    (mirror / "pool" / "t").mkdir(parents=True)
    (mirror / "pool" / "t" / "tool_2.0+b1.deb").write_bytes(b"another")
    with pytest.raises(RackwrightError, match="Hash Sum mismatch"):
        client.fetch([wanted])
    assert not client.path(wanted).exists()
    (mirror / "pool" / "t" / "tool_2.0+b1.deb").write_bytes(b"content")
    client.fetch([wanted])
    assert client.path(wanted).read_bytes() == b"content"
    (mirror / "pool" / "t" / "tool_2.0+b1.deb").unlink()
    client.fetch([wanted])


def test_lists_are_fetched_by_one_process_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, "http://127.0.0.1:1/")
    monkeypatch.setattr(PackageClient, "_run", lambda *_arguments, **_settings: "")
    client = PackageClient(tmp_path)
    with open(tmp_path / "lock", "w", encoding="ascii") as other:
        with client.current_lists(), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_without_the_locked_files_the_lists_are_asked(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image, "_FOLDER", tmp_path / "linux")
    heard: list[str] = []
    with pytest.raises(RackwrightError, match="trixie Release"):
        image.build_image(tell=heard.append)
    assert heard[0] == "3 packages"
    assert re.match("newer packages than the locked ones: .*404", heard[1])
    assert heard[2] == "package lists"
    assert not list(mirror.iterdir())


@pytest.mark.parametrize("names", [[], ["iperf3"], ["memcached", "iperf3"], ["python3-minimal"]])
def test_the_images_of_the_documents_are_locked(names: list[str]) -> None:
    selection = lock.locked_selection(names)
    assert selection is not None
    assert selection.kernel.file.startswith("linux-image-6")
    files = [found.file for found in selection.packages]
    assert len(set(files)) == len(files)
    base = "busybox" if names else "busybox-static"
    for name in (base, *names):
        assert any(file.startswith(f"{name}_") for file in files)
    for found in selection.packages:
        assert re.fullmatch("SHA256:[0-9a-f]{64}", found.hash)
        assert found.path.startswith("pool/main/")
    assert lock.locked_selection([base, *names]) is None


def test_a_lock_is_kept_beside_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LOCK", tmp_path / "packages.json")
    lock.LOCK.write_text("{}", encoding="utf-8")
    one, other = (lock.Selection(package(text), package(b"f"), (package(b"c"),)) for text in (b"1", b"2"))
    lock.write_lock(["b", "a", "b"], one)
    lock.write_lock([], other)
    assert lock.locked_selection(["a", "b"]) == one
    assert lock.locked_selection([]) == other
