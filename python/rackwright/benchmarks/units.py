"""Speed of every unit in its default configuration: a workload of its kind, measured from RTL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from rackwright.benchmarks.speeds import Speed
from rackwright.compression.codec import CodecUnit
from rackwright.compression.combined import CombinedCompressor, CombinedDecompressor
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError
from rackwright.formats import CODECS
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import elaborate
from rackwright.unit import commands
from rackwright.unit.alone import Unit
from rackwright.unit.nic import NicUnit

_CORPUS = "the demo's corpus, 1 MiB in one operation, input in LLC"
_FRAMES, _FRAME_BYTES, _WAITING = 256, 1514, 8


_Measured = tuple[str, int, int, int]
"""Workload, bytes, cycles, and their clock."""


def measure(names: Iterable[str]) -> Iterator[Speed]:
    """Measures units, one after the other; raises `RackwrightError` for one without a workload."""
    for name in names:
        if name not in MEASUREMENTS:
            raise RackwrightError(f"no workload for {name}; there are {', '.join(MEASUREMENTS)}")
        yield Speed(name, rtl_hash(name), *MEASUREMENTS[name]())


def rtl_hash(name: str) -> str:
    """SHA-256 of the Verilog of a unit in its default configuration."""
    return str(json.loads(elaborate(name).read_text(encoding="utf-8"))["hash"])


def _codec(format_name: str, make: Callable[[], CodecUnit]) -> _Measured:
    unit, plain = make(), default_archive()
    result = unit.run(plain if unit.operation == "compress" else CODECS[format_name].compress(plain))
    if not result.verified or result.status != "ok":
        raise RackwrightError(f"{result.unit}: the official library disagrees")
    return f"{_CORPUS}, {format_name}", result.uncompressed_bytes, result.cycles, result.clock_hz


def _copy() -> _Measured:
    unit, data = Unit("stream-copy"), default_archive()
    source, target = unit.load(data), unit.reserve(len(data))
    unit.bench.warm(source.address, source.length, "llc")
    start = unit.cycle
    commands.operate(unit, source, target)
    cycles = unit.cycle - start
    if unit.read(target) != data:
        raise RackwrightError("stream-copy: the copy differs")
    return _CORPUS, len(data), cycles, clock_of(elaborate("stream-copy")).hertz


def _frames() -> _Measured:
    """Frames leave as long as some wait; the first ones only fill the unit."""
    nic = NicUnit()
    frame = nic.unit.load(bytes(_FRAME_BYTES))
    nic.bench.warm(frame.address, frame.length, "llc")
    sent = begun = begin = 0
    while sent < _FRAMES + _WAITING:
        while begun < sent + _WAITING:
            nic.send(frame)
            begun += 1
        if nic.take_sent() is not None:
            sent += 1
            begin = nic.unit.cycle if sent == _WAITING else begin
    workload = f"frames of {_FRAME_BYTES:,} bytes sent from LLC"
    return workload, _FRAMES * _FRAME_BYTES, nic.unit.cycle - begin, clock_of(elaborate("nic")).hertz


def _messages(operation: str) -> _Measured:
    from rackwright.protobuf import measure as measure_messages
    from rackwright.protobuf.suites import chosen_suite

    rows = list(measure_messages(chosen_suite("services"), [operation], ["boom+unit"]))
    if not all(row.verified and row.status == "ok" for row in rows):
        raise RackwrightError(f"{operation}: the official library disagrees")
    cycles = sum(row.cycles or 0 for row in rows)
    seconds = sum(row.times.again for row in rows)
    workload = "messages of services on a server, from a warm second run; cycles of boom's clock"
    return workload, sum(row.wire_bytes for row in rows), cycles, round(cycles / seconds)


def _of_family(format_name: str) -> dict[str, Callable[[], _Measured]]:
    codec = CODECS[format_name]
    return {
        f"{codec.family}-{operation}": partial(_codec, format_name, partial(codec.unit, operation))
        for operation in ("compress", "decompress")
    }


MEASUREMENTS: dict[str, Callable[[], _Measured]] = {
    **_of_family("snappy"),
    **_of_family("zstd"),
    **_of_family("deflate"),
    "combined-compress": partial(_codec, "zstd", partial(CombinedCompressor, "zstd")),
    "combined-decompress": partial(_codec, "zstd", partial(CombinedDecompressor, "zstd")),
    "protobuf-deserialize": partial(_messages, "deserialize"),
    "protobuf-serialize": partial(_messages, "serialize"),
    "stream-copy": _copy,
    "nic": _frames,
}
"""By the name of the unit, in the order of the index."""
