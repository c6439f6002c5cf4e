"""Streams of the runtime for compression units: a chunk at a time, in pieces that stand for themselves."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from test_bench_compression import SMALL, SMALL_DEFLATE
from test_combined_compress import SMALL as SMALL_COMBINED
from test_combined_decompress import SMALL as SMALL_COMBINED_DECOMPRESS

from bootstrap.paths import SOFTWARE
from rackwright import Server, compile_program
from rackwright.compression import libsnappy, libzstd
from rackwright.demo.archive import default_archive
from rackwright.hardware.designs import elaborate
from rackwright.machine.server import RunResult
from rackwright.unit.config import UnitConfig

UNITS = {"zstd": "zstd", "gzip": "deflate", "snappy": "snappy"}
PARAMETERS = {"zstd-compress": SMALL, "deflate-compress": SMALL_DEFLATE}
PLAIN = default_archive(60_000)
PIECE = 20_000
SKIPPABLE = b"\x5a\x2a\x4d\x18\x05\x00\x00\x00apart"
IDENTIFIER = b"\xff\x06\x00\x00sNaPpY"
CHUNKS = ((1000, 70_000), (70_000, 1000), (7777, 3333))
"""Bytes that a stream gets at a time, and for which it has room."""


@pytest.fixture(scope="module")
def program() -> Path:
    """A filter by streams."""
    return compile_program([SOFTWARE / "tests" / "stream.c"], options=["-Wall", "-Werror"])


@pytest.fixture(scope="module")
def servers() -> dict[str, Server]:
    """By format: a server with its units."""
    found = {}
    for format_name, family in UNITS.items():
        names = [f"{family}-compress", f"{family}-decompress"]
        units = [UnitConfig(name, PARAMETERS.get(name, {})) for name in names]
        found[format_name] = Server("functional", units)
    return found


def crc32c(data: bytes) -> int:
    """Bit by bit, by its definition (RFC 3720)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def chunk(kind: int, plain: bytes, content: bytes) -> bytes:
    """One of Snappy's framing format, by its description."""
    crc = crc32c(plain)
    masked = ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF
    return bytes([kind]) + (4 + len(content)).to_bytes(3, "little") + masked.to_bytes(4, "little") + content


def unframed(packed: bytes) -> bytes:
    """What a Snappy stream stands for, all of it checked."""
    assert packed.startswith(IDENTIFIER)
    plain, at = b"", len(IDENTIFIER)
    while at < len(packed):
        end = at + 4 + int.from_bytes(packed[at + 1 : at + 4], "little")
        content = packed[at + 8 : end]
        part = libsnappy.decompress(content) if packed[at] == 0 else content
        assert isinstance(part, bytes)
        assert chunk(packed[at], part, content) == packed[at:end]
        plain, at = plain + part, end
    return plain


def official(format_name: str, packed: bytes) -> object:
    """What the stream stands for, by others than us."""
    if format_name == "zstd":
        return libzstd.decompress(packed, len(PLAIN))
    return gzip.decompress(packed) if format_name == "gzip" else unframed(packed)


def run(
    servers: dict[str, Server], program: Path, words: str, data: bytes, chunks: tuple[int, int] = CHUNKS[2]
) -> RunResult:
    """The filter with FORMAT and operation `words`."""
    format_name, operation = words.split()
    arguments = [format_name, operation, str(PIECE), *map(str, chunks)]
    return servers[format_name].run(program, arguments, stdin=data)


@pytest.mark.parametrize("format_name", UNITS)
def test_streams_are_read_by_the_official_libraries_and_by_us(
    servers: dict[str, Server], program: Path, format_name: str
) -> None:
    words = f"{format_name} compress"
    # The same however it comes.
    (packed,) = {run(servers, program, words, PLAIN, chunks).stdout for chunks in CHUNKS}
    assert official(format_name, packed) == PLAIN
    assert len(packed) < len(PLAIN) * 0.8
    for chunks in CHUNKS:
        back = run(servers, program, f"{format_name} decompress", packed, chunks)
        assert (back.exit_code, back.stdout) == (0, PLAIN)


@pytest.mark.parametrize("format_name", UNITS)
def test_nothing_is_a_stream_too(servers: dict[str, Server], program: Path, format_name: str) -> None:
    packed = run(servers, program, f"{format_name} compress", b"").stdout
    assert packed
    assert official(format_name, packed) == b""
    back = run(servers, program, f"{format_name} decompress", packed)
    assert (back.exit_code, back.stdout) == (0, b"")


@pytest.mark.parametrize(
    ("format_name", "packed", "plain"),
    [
        ("zstd", libzstd.compress(PLAIN[:9000], 1) + SKIPPABLE + libzstd.compress(PLAIN[9000:], 19), PLAIN),
        ("gzip", gzip.compress(PLAIN[:100], 9) + gzip.compress(PLAIN[100:], 1), PLAIN),
        ("gzip", gzip.compress(bytes(60_000), 9), bytes(60_000)),
        (
            "snappy",
            IDENTIFIER
            + chunk(0, PLAIN[:30_000], libsnappy.compress(PLAIN[:30_000]))
            + chunk(0xFE, b"", b"padding")
            + chunk(1, PLAIN[30_000:], PLAIN[30_000:]),
            PLAIN,
        ),
    ],
    ids=["frames and what is skipped", "members of others", "a high ratio", "chunks of all kinds"],
)
def test_streams_of_others(
    servers: dict[str, Server], program: Path, format_name: str, packed: bytes, plain: bytes
) -> None:
    back = run(servers, program, f"{format_name} decompress", packed)
    assert (back.exit_code, back.stdout) == (0, plain)


@pytest.mark.parametrize(
    ("format_name", "packed", "status"),
    [
        ("zstd", libzstd.compress(PLAIN)[:-1], b"malformed"),
        ("zstd", libzstd.compress(PLAIN) + b"no frame", b"malformed"),
        ("gzip", gzip.compress(PLAIN)[:-9], b"malformed"),
        ("snappy", chunk(1, PLAIN[:9], PLAIN[:9]), b"malformed"),
        ("snappy", IDENTIFIER + chunk(1, PLAIN[:9], PLAIN[1:10]), b"malformed"),
        ("snappy", IDENTIFIER + chunk(2, b"", b""), b"unsupported"),
        ("snappy", IDENTIFIER[:-2], b"malformed"),
    ],
)
def test_what_is_wrong_ends_a_stream(
    servers: dict[str, Server], program: Path, format_name: str, packed: bytes, status: bytes
) -> None:
    ended = run(servers, program, f"{format_name} decompress", packed)
    assert (ended.exit_code, ended.stderr) == (1, status + b"\n")


def test_one_pair_of_units_does_every_format(program: Path) -> None:
    # As the tests of these units compile them.
    compressor = elaborate("combined-compress", SMALL_COMBINED, assertions=True)
    decompressor = elaborate("combined-decompress", SMALL_COMBINED_DECOMPRESS, assertions=True)
    server = Server("functional", [compressor, decompressor])
    servers = dict.fromkeys(UNITS, server)
    for format_name in [*UNITS, *UNITS]:
        packed = run(servers, program, f"{format_name} compress", PLAIN)
        assert packed.exit_code == 0, packed.stderr
        assert official(format_name, packed.stdout) == PLAIN
        back = run(servers, program, f"{format_name} decompress", packed.stdout)
        assert (back.exit_code, back.stdout) == (0, PLAIN)
