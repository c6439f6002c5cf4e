"""Linux on a simulated server: images, booting, and what is refused."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import pty
import signal
import stat
import tarfile
import termios
from pathlib import Path

import pytest
from tiers import long

from rackwright import RackwrightError, _engine
from rackwright.hardware.sizes import memory_bytes
from rackwright.linux.archive import ArchiveWriter, Entry, folder, program
from rackwright.linux.boot import COMMAND_LINE, OUTPUT, BootResult, boot, restore
from rackwright.linux.console import Console, raw_console
from rackwright.linux.files import placed
from rackwright.linux.image import Image, default_image, load_image
from rackwright.linux.modules import Modules
from rackwright.machine.parameters import ServerParameters

SMALL = 256 << 20


@pytest.fixture(scope="module")
def image() -> Image:
    """The default image. Where packages can't be had, the tests that need it fail and say so."""
    return load_image(default_image())


def test_a_command_runs_on_two_harts(image: Image) -> None:
    # More than the 256 bytes that the kernel's driver takes from a serial port at a time.
    command = f"nproc; grep -c ^processor /proc/cpuinfo; echo 'not \"that\"' >&2; exit 7 # {'long' * 16}"
    result = boot(image, command, harts=2, memory_bytes=SMALL)
    assert result.stdout == b"2\n2\n"
    assert result.stderr == b'not "that"\n'
    assert result.exit_code == 7
    assert b"Linux version" in result.console
    assert b"Power down" in result.console
    assert result.boot.instructions > 10_000_000
    assert result.record()["stdout"] == "2\n2\n"


@pytest.mark.long("6 s of a processor for two boots; runs from a checkpoint are cut elsewhere in a short run")
def test_where_runs_of_a_boot_are_cut_changes_nothing(image: Image) -> None:
    result = boot(image, "nproc", harts=2, memory_bytes=SMALL)
    again = _engine.Guest(
        image.firmware, image.kernel, image.files, COMMAND_LINE, harts=2, memory_bytes=SMALL
    )
    assert run_until(again, "ready", 77_777_777) is None
    again.request_run(b"nproc")
    assert run_until(again, "off", 999_999) == 0
    assert again.digest == result.digest


COMMAND = "cat /sys/bus/pci/devices/*/device; head -c 500 /dev/hwrng | xxd -p; cat /proc/uptime; exit 5"


@pytest.fixture(scope="module")
def whole(image: Image, tmp_path_factory: pytest.TempPathFactory) -> BootResult:
    """A run that has left a checkpoint of its machine before the command.

    The entropy device, whose driver the image's init has loaded, is under way meanwhile.
    """
    saved = tmp_path_factory.mktemp("booted") / "booted.checkpoint"
    result = boot(image, COMMAND, harts=2, memory_bytes=SMALL, checkpoint=saved)
    assert result.checkpoint == str(saved)
    return result


@pytest.fixture(scope="module")
def saved(whole: BootResult) -> Path:
    """Its checkpoint."""
    assert whole.checkpoint is not None
    return Path(whole.checkpoint)


def test_a_restored_guest_goes_on_as_the_uninterrupted_one(whole: BootResult, saved: Path) -> None:
    prepared = _engine.Guest.restore(saved)
    prepared.request_prepare(b"echo once >note; echo heard")
    assert run_until(prepared, "ready", 999_999) is None
    prepared.request_prepare(b"cat note; exit 3")
    assert run_until(prepared, "off", 77_777_777) == 3
    assert prepared.output(OUTPUT) == b"heard\nonce\n"
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
    rest = restore(saved, COMMAND)
    assert (rest.exit_code, rest.stdout, rest.harts) == (5, whole.stdout, 2)
    assert rest.digest == whole.digest
    again = _engine.Guest.restore(saved)
    again.request_run(COMMAND.encode())
    assert run_until(again, "off", 999_999) == 5
    assert again.digest == whole.digest
    lines = whole.stdout.splitlines()
    assert lines[0] == b"0x1044"
    assert len(set(b"".join(lines[1:-1]))) == 16, "random digits"


@pytest.mark.parametrize(
    "cpu", [long("rocket", why="5 s of a processor; boom, in a short run, has more state to save"), "boom"]
)
def test_timed_harts_go_on_from_a_checkpoint(cpu: str, saved: Path, tmp_path: Path) -> None:
    timed = restore(saved, "nproc", cpu=cpu)
    assert timed.stdout == b"2\n"
    again = _engine.Guest.restore(saved, cpu)
    again.request_run(b"nproc")
    assert run_until(again, "off", 77_777) == 0
    assert again.digest == timed.digest
    slow = restore(saved, "nproc", cpu=cpu, timing=ServerParameters({"llc-latency": 400}))
    assert slow.stdout == b"2\n"
    assert slow.cycles > timed.cycles
    assert slow.timing["memory"] == {"llc-latency": 400}
    warm = _engine.Guest.restore(saved, cpu)
    warm.request_prepare(b"true")
    assert run_until(warm, "ready", 999_999) is None
    warm.save(tmp_path / cpu)
    warm.request_run(b"nproc")
    assert run_until(warm, "off", 77_777_777) == 0
    assert restore(tmp_path / cpu, "nproc", cpu=cpu).digest == warm.digest, "caches and pipelines"
    assert restore(tmp_path / cpu, "nproc").stdout == b"2\n"


def test_what_is_no_checkpoint_of_this_machine_is_refused(image: Image, saved: Path, tmp_path: Path) -> None:
    with pytest.raises(_engine.EngineError, match="whose harts have another clock; boot one with this"):
        restore(saved, "true", timing=ServerParameters({"clock-hz": 3_200_000_000}))
    content, file = saved.read_bytes(), tmp_path / "damaged"
    for wrong, reason in (
        (b"", "no checkpoint"),
        (b"something else", "no checkpoint"),
        (content[:-1], "damaged"),
        (content[: len(content) // 2], "damaged"),
        (content[:9000] + bytes([content[9000] ^ 1]) + content[9001:], "damaged"),
        (content[:8] + b"\xff" + content[9:], "another version"),
    ):
        file.write_bytes(wrong)
        with pytest.raises(_engine.EngineError, match=reason):
            restore(file, "true")
    with pytest.raises(_engine.EngineError, match="cannot read"):
        restore(tmp_path / "missing", "true")
    missing = tmp_path / "missing" / "file"
    with pytest.raises(_engine.EngineError, match="cannot write"):
        _engine.Guest.restore(saved).save(missing)
    # Before it boots, which takes seconds.
    with pytest.raises(RackwrightError, match=r"cannot write .*: there is no folder"):
        boot(image, "true", memory_bytes=SMALL, checkpoint=missing)


def test_a_disk_is_written_and_its_file_stays(image: Image, tmp_path: Path) -> None:
    file = tmp_path / "disk"
    content = bytes(range(256)) * (4 << 12)
    file.write_bytes(content)
    saved = tmp_path / "booted.checkpoint"
    commands = (
        "blockdev --getsize64 /dev/vda",
        "md5sum </dev/vda",
        "seq 100000 | dd of=/dev/vda bs=4k seek=3 conv=fsync 2>/dev/null",
        "echo 3 >/proc/sys/vm/drop_caches",
        "md5sum </dev/vda",
    )
    whole = boot(image, " && ".join(commands), memory_bytes=SMALL, disk=file, checkpoint=saved)
    numbers = "".join(f"{number}\n" for number in range(1, 100001)).encode()
    changed = content[:12288] + numbers + content[12288 + len(numbers) :]
    hashes = [hashlib.md5(text, usedforsecurity=False).hexdigest() for text in (content, changed)]
    assert whole.stdout.decode().split() == [str(len(content)), hashes[0], "-", hashes[1], "-"]
    assert file.read_bytes() == content
    rest = restore(saved, " && ".join(commands), disk=file)
    assert (rest.stdout, rest.digest) == (whole.stdout, whole.digest)
    with pytest.raises(_engine.EngineError, match="with a disk, which is needed"):
        restore(saved, "true")
    file.write_bytes(bytes(512))
    with pytest.raises(_engine.EngineError, match="another disk"):
        restore(saved, "true", disk=file)
    file.write_bytes(b"short")
    with pytest.raises(_engine.EngineError, match="5 bytes"):
        boot(image, "true", disk=file)
    with pytest.raises(_engine.EngineError, match="cannot read the disk"):
        boot(image, "true", disk=tmp_path / "missing")


def run_until(guest: _engine.Guest, wanted: str, cycles: int) -> int | None:
    """Runs a guest in steps of so many cycles."""
    while True:
        state, status = guest.run(cycles)
        if state == wanted:
            return status
        assert state == "running"


def test_what_cannot_be_booted_is_refused(image: Image) -> None:
    with pytest.raises(_engine.EngineError, match="no Linux image"):
        boot(Image(image.firmware, b"kernel", image.files, ()), "true")
    with pytest.raises(_engine.EngineError, match="damaged"):
        boot(Image(image.firmware, image.kernel + bytes(1 << 28), image.files, ()), "true")
    with pytest.raises(_engine.EngineError, match="need at least"):
        boot(image, "true", memory_bytes=1 << 24)
    with pytest.raises(_engine.EngineError, match="64 harts"):
        boot(image, "true", harts=65)
    with pytest.raises(_engine.EngineError, match="no core model"):
        boot(image, "true", cpu="z80")
    with pytest.raises(RackwrightError, match="console"):
        boot(image)


def test_an_image_that_is_none_is_refused(tmp_path: Path) -> None:
    path = default_image()
    whole = path.read_bytes()
    other = tmp_path / "other.image"
    with pytest.raises(RackwrightError, match="no such file"):
        load_image(other)
    other.write_bytes(b"something else")
    with pytest.raises(RackwrightError, match="is not an image"):
        load_image(other)
    other.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RackwrightError, match="damaged"):
        load_image(other)
    middle = len(whole) // 2
    other.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(RackwrightError, match="damaged"):
        load_image(other)
    with tarfile.open(other, "w") as archive:
        head = tarfile.TarInfo("image.json")
        text = b'{"version": 0}'
        head.size = len(text)
        archive.addfile(head, io.BytesIO(text))
    with pytest.raises(RackwrightError, match="another version"):
        load_image(other)


def test_sizes_of_memory() -> None:
    assert memory_bytes("2GiB") == 2 << 30
    assert memory_bytes("4096") == 4096
    for wrong in ("2GB", "", "-1MiB", "0", "99999999GiB"):
        with pytest.raises(RackwrightError, match="no size of memory"):
            memory_bytes(wrong)


def test_modules_are_found_with_what_they_need() -> None:
    def module(*depends: str) -> bytes:
        texts = ("license=GPL", f"depends={','.join(depends)}", "alias=virtio:d1v*")
        return lzma.compress(b"\x7fELF\0" + b"".join(text.encode() + b"\0" for text in texts))

    top = "usr/lib/modules/6.1"
    files = {
        f"{top}/kernel/a.ko.xz": module("b", "c-d"),
        f"{top}/kernel/b.ko.xz": module("c-d"),
        f"{top}/kernel/fs/c-d.ko.xz": module(),
        f"{top}/kernel/e.ko.xz": module("missing"),
    }
    entries = {entry.path: entry.content for entry in Modules(files).entries(["a"])}
    table = entries[f"{top}/modules.dep"].decode().splitlines()
    assert table == [
        "kernel/a.ko: kernel/b.ko kernel/fs/c-d.ko",
        "kernel/b.ko: kernel/fs/c-d.ko",
        "kernel/fs/c-d.ko: ",
    ]
    assert entries[f"{top}/modules.alias"].splitlines()[0] == b"alias virtio:d1v* a"
    assert entries[f"{top}/kernel/b.ko"].startswith(b"\x7fELF")
    assert f"{top}/kernel/e.ko" not in entries
    with pytest.raises(RackwrightError, match="no module missing"):
        list(Modules(files).entries(["e"]))


def test_files_lie_below_usr() -> None:
    assert placed("./bin/sh") == "usr/bin/sh"
    assert placed("./lib") == ""
    assert placed("./") == ""
    assert placed("./etc/hosts") == "etc/hosts"


def test_an_archive_has_the_heads_that_the_kernel_reads() -> None:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    writer.add(folder("usr"))
    writer.add(program("usr/x", b"12345"))
    writer.add(Entry("dev/null", stat.S_IFCHR | 0o666, device=(1, 3)))
    writer.close()
    content = stream.getvalue()
    assert len(content) % 4 == 0
    names = []
    place = 0
    while place < len(content):
        assert content[place : place + 6] == b"070701"
        fields = [int(content[at : at + 8], 16) for at in range(place + 6, place + 110, 8)]
        size, name_size = fields[6], fields[11]
        names.append(content[place + 110 : place + 110 + name_size - 1])
        start = place + (110 + name_size + 3) // 4 * 4
        if names[-1] == b"usr/x":
            assert content[start : start + size] == b"12345"
            assert stat.S_IMODE(fields[1]) == 0o755
        place = start + (size + 3) // 4 * 4
    assert names == [b"usr", b"usr/x", b"dev/null", b"TRAILER!!!"]


def test_the_terminal_is_restored_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    outside, inside = pty.openpty()
    with os.fdopen(inside, "rb", buffering=0) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        before = termios.tcgetattr(inside)
        with raw_console() as console:
            assert not termios.tcgetattr(inside)[3] & termios.ICANON
            os.write(outside, b"ls\r")
            assert console.typed(5) == b"ls\r"
            os.write(outside, b"\x1d")
            with pytest.raises(RackwrightError, match="left the console"):
                console.typed(5)
        assert termios.tcgetattr(inside) == before
        with pytest.raises(SystemExit), raw_console():
            os.kill(os.getpid(), signal.SIGTERM)
        assert termios.tcgetattr(inside) == before
    os.close(outside)


def test_the_end_of_piped_input_is_typed_once() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"exit\n")
    os.close(writing)
    console = Console(reading)
    assert [console.typed(0.01) for _ in range(3)] == [b"exit\n", b"\x04", b""]
    os.close(reading)
