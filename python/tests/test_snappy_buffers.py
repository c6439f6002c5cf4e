"""Buffers of every kind: the units stay inside, and trouble ends in a status."""

from __future__ import annotations

import pytest

from rackwright import Buffer, SnappyUnit
from rackwright.compression import libsnappy
from rackwright.demo.archive import default_archive
from rackwright.unit.commands import (
    CHECK_COMPLETION,
    DEST_AND_START,
    OUTPUT_BYTES,
    SRC,
    STATUS_NAMES,
    operate,
    start,
)

PLAIN = default_archive(5000)
PACKED = libsnappy.compress(PLAIN)


def unit_and_input(operation: str) -> tuple[SnappyUnit, bytes]:
    """A unit of its own, because some of these tests leave traces, and something for it to do."""
    return SnappyUnit(operation), PLAIN if operation == "compress" else PACKED


HUNG = 10_000_000
"""Cycles that no operation here needs."""

both = pytest.mark.parametrize("operation", ["compress", "decompress"])


@both
@pytest.mark.parametrize("source", [0, 1, 15, 16, 31, 4095])
@pytest.mark.parametrize("target", [0, 1, 17, 31, 4095])
def test_misaligned(
    compressor: SnappyUnit, decompressor: SnappyUnit, operation: str, source: int, target: int
) -> None:
    unit, data = (compressor, PLAIN) if operation == "compress" else (decompressor, PACKED)
    result = unit.run(data, misalignment=(source, target))
    assert result.status == "ok"
    assert result.verified


@both
def test_anything_that_holds_bytes_is_taken_as_it_is_now(
    compressor: SnappyUnit, decompressor: SnappyUnit, operation: str
) -> None:
    unit, data = (compressor, PLAIN) if operation == "compress" else (decompressor, PACKED)
    expected = unit.run(data).output
    held = bytearray(b"?" + data)
    for each in (bytearray(data), memoryview(data), memoryview(held)[1:], memoryview(data).cast("b")):
        result = unit.run(each)
        assert (result.output, result.verified) == (expected, True)
    with pytest.raises(TypeError, match="bytes-like"):
        unit.run(7)  # type: ignore[arg-type]


@both
def test_every_capacity_below_the_result_is_full(operation: str) -> None:
    unit, data = unit_and_input(operation)
    needed = unit.run(data).output_bytes
    for room in (0, 1, 31, 32, 33, needed // 2, needed - 1):
        result = unit.run(data, capacity=room)
        assert result.status == "output_full"
        assert result.output_bytes <= room
    assert unit.run(data, capacity=needed).status == "ok"
    assert unit.unit.violations == 0


@both
@pytest.mark.parametrize("beyond", [1, 32, 5000, 2**40])
def test_a_buffer_that_wraps_around_is_refused_before_any_access(operation: str, beyond: int) -> None:
    unit, data = unit_and_input(operation)
    source = unit.unit.load(data)
    target = unit.unit.reserve(10_000)
    wrapping = Buffer(2**64 - 4096, 4096 + beyond)
    assert operate(unit.unit, wrapping, target, max_cycles=HUNG).status == "access_fault"
    assert operate(unit.unit, source, wrapping, max_cycles=HUNG).status == "access_fault"
    assert unit.unit.violations == 0


@both
@pytest.mark.parametrize("position", [0, 1, 2500, 4999])
def test_a_fault_in_the_input_ends_the_operation(operation: str, position: int) -> None:
    unit, data = unit_and_input(operation)
    source = unit.unit.load(data)
    target = unit.unit.reserve(10_000)
    unit.unit.bench.fault(source.address + position * len(data) // 5000, 1)
    assert operate(unit.unit, source, target, max_cycles=HUNG).status == "access_fault"
    assert unit.run(data).status == "ok"
    assert unit.unit.violations == 0


@both
def test_a_fault_in_the_output_ends_the_operation(operation: str) -> None:
    unit, data = unit_and_input(operation)
    source = unit.unit.load(data)
    target = unit.unit.reserve(10_000)
    unit.unit.bench.fault(target.address + 100, 1)
    assert operate(unit.unit, source, target, max_cycles=HUNG).status == "access_fault"
    assert unit.run(data).status == "ok"


@both
def test_zero_length(operation: str) -> None:
    unit, _ = unit_and_input(operation)
    target = unit.unit.reserve(64)
    expected = "ok" if operation == "compress" else "malformed"
    assert operate(unit.unit, Buffer(0, 0), target, max_cycles=HUNG).status == expected
    assert unit.unit.violations == 0


@both
def test_overlapping_buffers_end(operation: str) -> None:
    """What comes out is not defined; that it ends, inside the buffers, is."""
    unit, data = unit_and_input(operation)
    shared = unit.unit.load(data + bytes(10_000), access="rw")
    for shift in (0, 1, 100):
        source = Buffer(shared.address, len(data))
        target = Buffer(shared.address + shift, 10_000 - shift)
        assert operate(unit.unit, source, target, max_cycles=HUNG).status in STATUS_NAMES
        unit.unit.bench.write_memory(shared.address, data)
    assert unit.unit.violations == 0


@both
def test_completion_record(operation: str) -> None:
    unit, data = unit_and_input(operation)
    source = unit.unit.load(data)
    target = unit.unit.reserve(10_000)
    record = unit.unit.reserve(16)
    ended = operate(unit.unit, source, target, record.address, max_cycles=HUNG)
    words = unit.unit.read(record)
    assert ended.status == "ok"
    assert words[0] == 1
    assert int.from_bytes(words[1:8], "little") == ended.output_bytes
    assert int.from_bytes(words[8:], "little") == len(data)


@both
def test_completion_flag_of_public_units(operation: str) -> None:
    """Without LIMIT, as software for public units of this kind starts them."""
    unit, data = unit_and_input(operation)
    source = unit.unit.load(data)
    target = unit.unit.reserve(10_000)
    flag = unit.unit.reserve(8)
    unit.unit.command(SRC, source.address, source.length)
    unit.unit.command(DEST_AND_START, target.address, flag.address)
    unit.unit.query(CHECK_COMPLETION)
    assert int.from_bytes(unit.unit.read(flag), "little") == 1
    assert unit.unit.violations == 0


@both
def test_queued_operations_complete_in_order(operation: str) -> None:
    unit, data = unit_and_input(operation)
    source = unit.unit.load(data)
    targets = [unit.unit.reserve(10_000) for _ in range(6)]
    records = [unit.unit.reserve(16) for _ in targets]
    for target, record in zip(targets, records, strict=True):
        start(unit.unit, source, target, record.address)
    assert unit.unit.query(CHECK_COMPLETION) == len(targets)
    length = unit.unit.query(OUTPUT_BYTES)
    outputs = {unit.unit.read(target, length) for target in targets}
    assert len(outputs) == 1
    assert all(unit.unit.read(record)[0] == 1 for record in records)
    assert unit.unit.violations == 0
