"""The program of `software/store/` beside the unit: the same answers, and the same memory."""

from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path

import pytest
from command_line import REPOSITORY
from test_store_unit import HASH_KEY, history

from rackwright.unit.store import (
    KEY_BYTES,
    Oracle,
    RegionView,
    Request,
    StoreUnit,
    empty_region,
    responses,
    sip_hash,
)

SOFTWARE = REPOSITORY / "software"
REGION_BYTES = 1 << 17


class ProgramStore:
    """The program, compiled for this machine, and a region."""

    def __init__(self, library: ctypes.CDLL, region: bytes) -> None:
        self.library = library
        self._memory = ctypes.create_string_buffer(len(region) + 64)
        self._at = -ctypes.addressof(self._memory) % 64
        self._bytes = len(region)
        ctypes.memmove(ctypes.addressof(self._memory) + self._at, region, len(region))

    def serve(self, data: bytes, room: int) -> bytes:
        """The responses to requests."""
        output = ctypes.create_string_buffer(room)
        region = ctypes.c_void_p(ctypes.addressof(self._memory) + self._at)
        written = self.library.region_serve(region, data, ctypes.c_size_t(len(data)), output)
        return output.raw[:written]

    def view(self) -> RegionView:
        """What the region holds."""
        return RegionView(self._memory.raw[self._at : self._at + self._bytes])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made = tmp_path_factory.mktemp("store") / "region.so"
    sources = [str(SOFTWARE / "store" / name) for name in ("region.c", "hash.c")]
    include = f"-I{SOFTWARE / 'include'}"
    command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", include, "-o", str(made), *sources]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(made))
    loaded.region_serve.restype = ctypes.c_size_t
    loaded.region_hash.restype = ctypes.c_uint64
    return loaded


def test_both_hash_alike(library: ctypes.CDLL) -> None:
    for length in range(KEY_BYTES):
        key = random.Random(length).randbytes(length)
        assert library.region_hash(HASH_KEY, key, ctypes.c_size_t(length)) == sip_hash(HASH_KEY, key)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_history_leaves_the_same_items_in_the_same_places(library: ctypes.CDLL, seed: int) -> None:
    source = random.Random(seed)
    region = empty_region(REGION_BYTES, 4, HASH_KEY)
    program, unit, oracle = ProgramStore(library, region), StoreUnit(assertions=True), Oracle()
    unit.renew(region)
    requests = [
        *history(source, 300, 50),
        Request("set", b"long", bytes(2000)),
        Request(14, b"k"),
        Request("flush", b"k"),
        Request("get", b""),
    ]
    data = b"".join(request.encoded() for request in requests)
    expected = [oracle.answer(request) for request in requests]
    assert responses(program.serve(data, 1 << 17)) == expected
    assert unit.ask(requests, room=1 << 17) == expected
    for view in (program.view(), unit.view()):
        view.check()
        assert view.items() == unit.view().items()
        assert view.free() == unit.view().free()
        assert view.usage == unit.view().usage


def test_the_program_takes_over_what_the_unit_has_stored(library: ctypes.CDLL) -> None:
    """And the unit what the program has."""
    source, oracle, unit = random.Random(8), Oracle(), StoreUnit(assertions=True)
    region = empty_region(REGION_BYTES, 5, HASH_KEY)
    requests = history(source, 200, 20)
    for number in range(0, 200, 50):
        batch = requests[number : number + 50]
        expected = [oracle.answer(request) for request in batch]
        if number % 100:
            program = ProgramStore(library, region)
            data = b"".join(request.encoded() for request in batch)
            assert responses(program.serve(data, 1 << 16)) == expected
            region = program.view().data
        else:
            unit.renew(region)
            assert unit.ask(batch) == expected
            region = unit.view().data
    RegionView(region).check()


def test_the_header_has_the_layout_of_the_page(tmp_path: Path) -> None:
    """Offsets that a program sees, by the compiler."""
    checks = {
        "offsetof(rw_store, time)": 4,
        "offsetof(rw_store, hash_key)": 8,
        "offsetof(rw_store, total)": 24,
        "offsetof(rw_store, bucket_bits)": 28,
        "offsetof(rw_store, flushes)": 29,
        "offsetof(rw_store, used)": 32,
        "offsetof(rw_store, flush_time)": 36,
        "offsetof(rw_store, items)": 40,
        "offsetof(rw_store, free_heads)": 64,
        "offsetof(rw_store, buckets)": 512,
        "offsetof(rw_store_item, key_bytes)": 20,
        "offsetof(rw_store_item, seal)": 22,
        "offsetof(rw_store_item, expiry)": 28,
        "sizeof(rw_store_item)": 32,
        "sizeof(rw_store_request)": 16,
        "sizeof(rw_store_response)": 16,
    }
    source = tmp_path / "layout.c"
    lines = [f'_Static_assert({what} == {value}, "{what}");' for what, value in checks.items()]
    source.write_text('#include "rackwright/store.h"\n' + "\n".join(lines) + "\n")
    command = ["cc", "-O1", "-c", f"-I{SOFTWARE / 'include'}", str(source), "-o", str(tmp_path / "layout.o")]
    assert subprocess.run(command, capture_output=True, check=False).stderr == b""
