"""Fixtures of all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tiers import long

from rackwright import SnappyUnit
from rackwright.hardware.designs import ASSERTED
from rackwright.hardware.toolchain import OF_TESTS, OPTIMISATION
from rackwright.protobuf.program import MADE_FAST
from rackwright.unit.nic import NicUnit

LONG = os.environ.get("RACKWRIGHT_LONG") == "1"

# Whoever is started in the background ignores Ctrl-C, and so do its children; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A failure must be one that anybody can see again, so the short profile uses no entropy.
_COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("short", max_examples=40, derandomize=True, **_COMMON)  # type: ignore[arg-type]
settings.register_profile("long", max_examples=2000, **_COMMON)  # type: ignore[arg-type]
settings.load_profile("long" if LONG else "short")


# Their tests have the assertions compiled in; others need not compile these large designs without them.
os.environ[ASSERTED] = (
    "aes allocate daronpon deflate-compress deflate-decompress drx gather protobuf-deserialize "
    "protobuf-serialize store zstd-compress zstd-decompress"
)

if not LONG:
    os.environ.setdefault(OPTIMISATION, OF_TESTS)

LONGEST_FIRST = (
    "test_protobuf_commands",
    "test_reproduce",
    "test_streaming",
    "test_synthesis",
    "test_protobuf_differential",
    "test_protobuf_runtime",
    "test_exploration",
    "test_protobuf_conformance",
    "test_ranks",
    "test_combinations",
    "test_protobuf_public_suite",
    "test_protobuf_serialize_queue",
    "test_bench_compression",
    "test_combined_decompress",
    "test_parameters",
    "test_queue_proofs",
    "test_linux",
    "test_protobuf_replaced",
    "test_command_line",
    "test_deflate_decompress",
    "test_zstd_compress",
    "test_zstd_decompress",
)
"""Files that take longest, so that no process is left with one when the others have nothing more to do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Has the longest files first."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that copies examples into the documentation."""
    parser.addoption("--update-docs", action="store_true", help="copy quoted files into the pages")


@pytest.fixture(scope="module")
def compressor() -> Iterator[SnappyUnit]:
    """A Snappy compressor as it is built by default; it must not have touched what is not its."""
    unit = SnappyUnit("compress", assertions=True)
    yield unit
    assert unit.unit.violations == 0


@pytest.fixture(scope="module")
def decompressor() -> Iterator[SnappyUnit]:
    """A Snappy decompressor as it is built by default; it must not have touched what is not its."""
    unit = SnappyUnit("decompress", assertions=True)
    yield unit
    assert unit.unit.violations == 0


@pytest.fixture(
    scope="module",
    params=[
        (16, 8),
        (32, 16),
        long((32, 8), why="the two others have each width of either port"),
        long((16, 16), why="the two others have each width of either port"),
    ],
)
def nic(request: pytest.FixtureRequest) -> Iterator[NicUnit]:
    """A network interface that has not touched what is not its when the tests end."""
    nic = NicUnit(dict(zip(("port-bytes", "network-bytes"), request.param, strict=True)), assertions=True)
    yield nic
    assert nic.unit.violations == 0


@pytest.fixture
def made_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs with messages are neither optimised nor relaxed, for tests that ask for no cycles."""
    monkeypatch.setenv(MADE_FAST, "1")


@pytest.fixture
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parents[2]
