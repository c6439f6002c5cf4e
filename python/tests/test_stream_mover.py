"""Frames between memory and the AXI4-Stream ports of units that people bring, by their movers."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.paths import REPOSITORY
from rackwright import EngineError, RackwrightError, Unit
from rackwright.hardware.designs import ParameterValue
from rackwright.hardware.manifests import read_manifest
from rackwright.unit.alone import Buffer
from rackwright.verilog.moved import moved_manifest
from rackwright.verilog.scan import scan

STREAM = REPOSITORY / "examples" / "bring-your-own" / "stream"
FIXTURES = Path(__file__).parent / "fixtures"
OK, OUTPUT_FULL, UNSUPPORTED, ACCESS_FAULT = 0, 2, 3, 4
BUSY, DONE = 1 << 8, 1 << 9
INTERRUPT, STOP, ACKNOWLEDGE = 1, 2, 4


def scanned(folder: Path, source: Path, **changes: Any) -> Path:
    """The manifest that a scan of a copy of a design writes."""
    shutil.copy(source, folder)
    manifest = folder / "manifest.json"
    record = scan([folder / source.name], folder).manifest
    manifest.write_text(json.dumps(record | changes), encoding="utf-8")
    return manifest


@pytest.fixture(scope="module")
def strainer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest of the strainer within its mover, as a scan describes the strainer."""
    return moved_manifest(scanned(tmp_path_factory.mktemp("strainer"), FIXTURES / "Strainer.sv"), {})


def start(unit: Unit, stream: str, buffer: Buffer, length: int | None = None) -> None:
    """Starts a frame of a buffer, or of its first bytes."""
    unit.write_register(f"{stream}_address", buffer.address & 0xFFFF_FFFF)
    unit.write_register(f"{stream}_address_high", buffer.address >> 32)
    unit.write_register(f"{stream}_bytes", buffer.length if length is None else length)


def ended(unit: Unit, stream: str) -> tuple[int, int]:
    """How a frame ends, and the bytes that were moved."""
    for _ in range(10_000):
        status = unit.read_register(f"{stream}_status")
        if not status & BUSY:
            assert status & DONE
            return status & 7, unit.read_register(f"{stream}_moved")
    raise AssertionError(f"{stream} does not end")


def strained(unit: Unit, data: bytes, misalignment: int, room: int) -> tuple[int, bytes, int]:
    """What the strainer makes of a frame: how it ended, what was written, and the bytes taken out."""
    source = unit.load(data, misalignment=misalignment)
    clean = unit.reserve(room, misalignment=3 * misalignment % 16)
    count = unit.reserve(1)
    start(unit, "clean_out", clean)
    start(unit, "count", count)
    start(unit, "mixed_in", source)
    assert ended(unit, "mixed_in") == (OK, len(data))
    assert ended(unit, "count") == (OK, 1)
    status, moved = ended(unit, "clean_out")
    assert unit.violations == 0
    return status, unit.read(clean, moved), unit.read(count)[0]


def test_frames_of_any_length_and_place_pass_with_bytes_that_do_not_count_left_out(strainer: Path) -> None:
    unit = Unit(strainer)
    unit.write_register(0, 7)
    assert (unit.read_register(0), unit.read_register(8)) == (7, 0)
    noise = random.Random(1)
    lengths = (1, 2, 3, 4, 5, 16, 17, 63, 1000)
    for length in lengths:
        data = bytes(noise.choice((7, 7, 1, 2)) for _ in range(length))
        wanted = bytes(byte for byte in data if byte != 7)
        assert strained(unit, data, length % 16, length) == (OK, wanted, data.count(7) % 256)
    assert unit.read_register(8) == len(lengths)
    # What has no room is dropped, up to the end of the frame.
    assert strained(unit, bytes(range(20)), 1, 5) == (OUTPUT_FULL, bytes(range(5)), 1)
    assert strained(unit, bytes(range(20)), 1, 20) == (OK, bytes(range(7)) + bytes(range(8, 20)), 1)


def test_a_stream_without_ends_is_cut_and_may_be_stopped(strainer: Path) -> None:
    unit = Unit(strainer)
    counts = unit.reserve(5)
    start(unit, "count", counts, 3)
    sent = [b"\0\0\1", b"\0", b"\1\1", b"\0\0\0", b"\1"]
    for frame in sent:
        clean = unit.reserve(8)
        start(unit, "clean_out", clean)
        start(unit, "mixed_in", unit.load(frame))
        assert ended(unit, "clean_out") == (OK, len(frame) - frame.count(0))
        assert ended(unit, "mixed_in") == (OK, len(frame))
    assert ended(unit, "count") == (OK, 3)
    start(unit, "count", Buffer(counts.address + 3, 5))
    assert unit.read_register("count_status") & BUSY
    while unit.read_register("count_moved") < 2:
        pass
    unit.write_register("count_control", STOP)
    assert ended(unit, "count") == (OK, 2)
    assert unit.read(counts) == bytes(frame.count(0) for frame in sent)


def test_memory_that_refuses_ends_a_frame(strainer: Path) -> None:
    unit = Unit(strainer)
    edge = unit.load(bytes(4096))
    start(unit, "mixed_in", Buffer(edge.address, 4100))
    clean, count = unit.reserve(4096), unit.reserve(1)
    start(unit, "clean_out", clean)
    assert ended(unit, "mixed_in") == (ACCESS_FAULT, 4096)
    assert unit.read_register("clean_out_status") & BUSY
    # What had come has no end: the next frame ends it.
    start(unit, "mixed_in", unit.load(b"\1\0"))
    assert ended(unit, "clean_out") == (OK, 1)
    start(unit, "count", count)
    assert ended(unit, "count") == (OK, 1)
    assert unit.violations == 1
    start(unit, "clean_out", Buffer(0x1000, 16))
    start(unit, "mixed_in", unit.load(b"abc"))
    assert ended(unit, "clean_out") == (ACCESS_FAULT, 3)


def test_an_interrupt_says_that_a_frame_has_ended(strainer: Path) -> None:
    unit = Unit(strainer)
    clean = unit.reserve(4)
    unit.write_register("clean_out_control", INTERRUPT)
    start(unit, "clean_out", clean)
    start(unit, "mixed_in", unit.load(b"\1\2\3"))
    unit.await_interrupt()
    assert unit.read_register("clean_out_status") == DONE
    unit.write_register("clean_out_control", INTERRUPT | ACKNOWLEDGE)
    assert unit.read_register("clean_out_status") == 0
    assert unit.read(clean, 3) == b"\1\2\3"


def test_a_unit_with_streams_alone_has_registers_and_its_own_interrupt(tmp_path: Path) -> None:
    made = moved_manifest(scanned(tmp_path, FIXTURES / "Sums.sv"), {})
    names = [(port["contract"], port["name"]) for port in read_manifest(made)["ports"]]
    streams = [("memory", f"{stream}_memory") for stream in ("s_axis", "m_axis", "SUM")]
    assert names == [("axi4-lite", "mover_axi"), ("interrupt", "irq"), *streams]
    unit = Unit(made)
    data = random.Random(2).randbytes(37)
    back, total = unit.reserve(40), unit.reserve(2)
    start(unit, "m_axis", back)
    start(unit, "sum", total)
    start(unit, "s_axis", unit.load(data, misalignment=3))
    unit.await_interrupt()
    assert [ended(unit, stream) for stream in ("s_axis", "m_axis", "sum")] == [(OK, 37), (OK, 37), (OK, 2)]
    assert unit.read(back, 37) == bytes((byte + 1) % 256 for byte in data)
    assert int.from_bytes(unit.read(total), "little") == sum(data) & 0xFFFF
    assert unit.violations == 0


def test_streams_without_tready_do_not_wait(tmp_path: Path) -> None:
    manifest = scanned(tmp_path, FIXTURES / "Hurried.sv")
    assert [port["ready"] for port in read_manifest(manifest)["ports"]] == [False, False]
    unit = Unit(manifest)
    unit.send("s_axis", b"\0\1\xff")
    assert unit.receive("m_axis") == b"\xff\0\xfe\1\0\xff"


@pytest.mark.long("ten seconds of a processor: another mover and its design")
def test_transfers_without_tready_that_no_mover_takes_are_counted(tmp_path: Path) -> None:
    unit = Unit(moved_manifest(scanned(tmp_path, FIXTURES / "Hurried.sv"), {}))
    # A frame for which there is room arrives whole; of one without a buffer, the mover holds two transfers.
    data = random.Random(3).randbytes(50)
    doubled = unit.reserve(100)
    start(unit, "m_axis", doubled)
    start(unit, "s_axis", unit.load(data))
    assert ended(unit, "m_axis") == (OK, 100)
    assert unit.read(doubled) == b"".join(bytes((byte ^ 0xFF, byte)) for byte in data)
    lost = unit.bench.events()["m_axis_lost"]
    start(unit, "s_axis", unit.load(data))
    assert ended(unit, "s_axis") == (OK, 50)
    unit.bench.run(100)
    assert unit.bench.events()["m_axis_lost"] == lost + 48


@pytest.mark.long("a quarter of a minute: another design")
def test_a_unit_that_takes_an_offered_transfer_back_is_stopped(tmp_path: Path) -> None:
    manifest = scanned(tmp_path, FIXTURES / "Strainer.sv")
    source = tmp_path / "Strainer.sv"
    text = source.read_text(encoding="utf-8")
    ticks = "logic [31:0] ticks = '0; always_ff @(posedge clk) ticks <= ticks + 1;\n"
    fault = text.replace("clean_out_tdata  = mixed_in_tdata", "clean_out_tdata  = mixed_in_tdata ^ ticks")
    source.write_text(fault.replace("logic [7:0]  value", f"{ticks} logic [7:0]  value"), encoding="utf-8")
    unit = Unit(moved_manifest(manifest, {}))
    start(unit, "mixed_in", unit.load(bytes(range(1, 100))))
    with pytest.raises(EngineError, match="clean_out: TVALID or what goes with it changed before TREADY"):
        ended(unit, "mixed_in")


@pytest.mark.parametrize(
    ("access", "said"),
    [
        (lambda unit: unit.write_register("mixed_in_moved", 1), "to a write to 0xc20"),
        (lambda unit: unit.write_register("count_bytes", 1), "to a write to 0xc90"),
        (lambda unit: unit.read_register(0xCC0), "to a read of 0xcc0"),
    ],
)
def test_accesses_that_mean_nothing_end_the_run(
    strainer: Path, access: Callable[[Unit], object], said: str
) -> None:
    unit = Unit(strainer)
    start(unit, "count", unit.reserve(8))
    access(unit)
    with pytest.raises(EngineError, match=f"answers with an error {said}"):
        unit.read_register("count_status")


def test_a_program_filters_by_a_unit_with_streams_and_registers(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, STREAM / "attach.py"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "equal" in run.stdout
    found = scan([STREAM / "Fir.sv"], STREAM).manifest
    written = read_manifest(STREAM / "manifest.json")
    del written["ports"][0]["registers"]
    for part in ("unit", "top", "verilog", "clocks", "attach", "ports"):
        assert found[part] == written[part]


def test_a_unit_is_built_with_its_mover_once_for_each_value_of_its_parameters() -> None:
    manifest = STREAM / "manifest.json"
    given: dict[str, ParameterValue] = {"TAPS": 4}
    made = moved_manifest(manifest, {})
    assert moved_manifest(manifest, {}) == made
    assert moved_manifest(made, {}) == made
    other = moved_manifest(manifest, given)
    assert other != made
    assert "#(.TAPS(4))" in (other.parent / "Fir_moved.sv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"clocks": [{"pin": pin, "reset": None, "hertz": 10**9} for pin in ("aclk", "bclk")]},
            "unit fir has the clocks aclk and bclk; a mover for its streams takes units with one",
        ),
        ({"registers": [{"name": "late", "offset": 0xC04}]}, "register late is at 0xc04, where those of the"),
        ({"registers": [{"name": "s_axis_bytes", "offset": 4}]}, "register s_axis_bytes has the name of one"),
        (
            {"port": {"contract": "apb", "name": "apb", "naming": "lower", "address_bits": 8}},
            "fir has AXI4-Stream ports and the apb port apb; a mover goes with registers behind AXI4-Lite",
        ),
        ({"top": "For"}, "the sources have no module For"),
    ],
)
def test_what_cannot_have_a_mover_is_one_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    record = json.loads((STREAM / "manifest.json").read_text(encoding="utf-8"))
    shutil.copy(STREAM / "Fir.sv", tmp_path)
    if "registers" in changes:
        record["ports"][0]["registers"] = changes.pop("registers")
    if "port" in changes:
        record["ports"][0] = changes.pop("port")
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(record | changes), encoding="utf-8")
    with pytest.raises(RackwrightError, match=said) as raised:
        moved_manifest(manifest, {})
    assert "\n" not in str(raised.value)
