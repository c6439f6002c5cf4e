"""The ZStd decompressor with dictionaries, against the official library and its trainer."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import zstandard
from hypothesis import given
from strategies import plain_data

from rackwright import ZstdUnit
from rackwright.compression import libzstd
from rackwright.compression.zstd import DICTIONARY_ADDRESS, DICTIONARY_KEPT, DICTIONARY_LENGTH
from rackwright.demo.archive import default_archive
from rackwright.verification import zstd_format as fmt
from rackwright.verification.mutation import mutations

TEXT = default_archive(40_000)
ROOM = 1 << 16
HEAD = 8
"""Bytes of a trained dictionary before its tables."""


def record(source: random.Random) -> bytes:
    """A small message such as services send many of."""
    names = [source.choice(("ada", "grace", "edsger", "barbara")) for _ in range(source.randint(1, 6))]
    items = ", ".join(
        f'{{"name": "{name}", "id": {source.randrange(10**6)}, "active": {source.choice(("true", "false"))}}}'
        for name in names
    )
    return f'{{"status": "ok", "page": {source.randrange(99)}, "items": [{items}]}}\n'.encode()


def _records(seed: int, count: int) -> list[bytes]:
    source = random.Random(seed)
    return [record(source) for _ in range(count)]


RECORDS = _records(1, 3000)


def _trained(size: int, samples: list[bytes], number: int) -> bytes:
    return zstandard.train_dictionary(size, [*samples], dict_id=number).as_bytes()


TRAINED = _trained(8192, RECORDS, 0x12345)
OTHER = _trained(4096, _records(2, 3000), 0x777)


@pytest.fixture(scope="module")
def unit() -> Iterator[ZstdUnit]:
    """The decompressor as it is built by default; it must not have touched what is not its."""
    unit = ZstdUnit("decompress", check_idle=True, assertions=True)
    yield unit
    assert unit.unit.violations == 0


def agrees(
    unit: ZstdUnit,
    packed: bytes,
    dictionary: bytes,
    room: int = ROOM,
    misalignment: tuple[int, int] = (0, 0),
) -> str:
    """The verdict and, for a valid input, every byte are the library's; gives the status."""
    unit.dictionary = dictionary
    result = unit.run(packed, capacity=room, misalignment=misalignment)
    expected = libzstd.decompress(packed, room, dictionary)
    if isinstance(expected, bytes):
        assert (result.status, result.output) == ("ok", expected), (packed.hex(), dictionary[:400].hex())
    elif "mismatch" in expected:
        assert result.status == "unsupported"
    elif result.status == "unsupported":
        assert result.verified, (expected, packed.hex(), dictionary[:400].hex())
    else:
        assert result.status in ("malformed", "output_full"), (expected, packed.hex(), dictionary[:400].hex())
    return result.status


@pytest.mark.parametrize("level", [1, 3, 19])
@pytest.mark.parametrize("dictionary", [TRAINED, TEXT, TEXT[:5], b"x"], ids=["trained", "raw", "five", "one"])
def test_what_the_library_compresses_with_a_dictionary(unit: ZstdUnit, dictionary: bytes, level: int) -> None:
    source = random.Random(level)
    for plain in (*_records(level, 8), TEXT[30_000:31_500], b"", b"x" * 300, *(source.randbytes(3),)):
        misalignment = (source.randrange(32), source.randrange(32))
        packed = libzstd.compress(plain, level, dictionary=dictionary, write_checksum=level & 1)
        assert agrees(unit, packed, dictionary, misalignment=misalignment) == "ok"


@pytest.mark.parametrize(
    ("given", "said"), [(OTHER, "the one given is 1911"), (TEXT, "the one given has no number")]
)
def test_another_dictionary_is_named_beside_the_one_that_is_wanted(
    unit: ZstdUnit, given: bytes, said: str
) -> None:
    unit.dictionary = given
    result = unit.run(libzstd.compress(RECORDS[0], 3, dictionary=TRAINED))
    assert (result.status, result.verified) == ("unsupported", True)
    assert result.note == f"the frame at offset 0 names dictionary {0x12345}, {said} (--dictionary FILE)"


def test_tables_are_read_once_for_operations_that_do_not_change_them() -> None:
    unit = ZstdUnit("decompress", dictionary=TRAINED)
    packed = [libzstd.compress(plain, 3, dictionary=TRAINED) for plain in RECORDS[:3]]
    first, *others = [unit.run(each) for each in packed]
    assert all(result.verified for result in (first, *others))
    assert max(result.cycles for result in others) < first.cycles // 3
    assert unit.run(libzstd.compress(TEXT[:3000], 3, write_checksum=1)).verified
    again = unit.run(packed[0])
    assert again.verified
    assert again.cycles > first.cycles // 2


@pytest.mark.parametrize("begin", [0, 3])
def test_copies_that_begin_in_the_dictionary_and_end_in_the_output(unit: ZstdUnit, begin: int) -> None:
    # A dictionary that ends with a period of the input: the whole input is one copy.
    for period in (1, 2, 3, 7, 20, 31, 32, 33, 100):
        unit_of = random.Random(period).randbytes(period)
        dictionary = b"the content before it" * begin + unit_of * (1 + 40 // period)
        packed = libzstd.compress(unit_of * 50, 3, dictionary=dictionary)
        assert agrees(unit, packed, dictionary, misalignment=(0, period % 32)) == "ok"


def test_long_inputs_leave_the_dictionary_behind(unit: ZstdUnit) -> None:
    plain = TEXT[20_000:] + TEXT * 2 + RECORDS[5] + TEXT[:9000]
    for dictionary in (TEXT, TRAINED):
        packed = libzstd.compress(plain, 9, dictionary=dictionary)
        assert agrees(unit, packed, dictionary, len(plain)) == "ok"


def test_every_frame_of_an_operation_begins_with_the_dictionary(unit: ZstdUnit) -> None:
    parts = [libzstd.compress(plain, 5, dictionary=TRAINED) for plain in RECORDS[:3]]
    parts.insert(1, fmt.skippable(b"between"))
    parts.insert(2, libzstd.compress(TEXT[:800], 5, write_checksum=1))
    assert agrees(unit, b"".join(parts), TRAINED) == "ok"


def test_operations_with_and_without_a_dictionary_in_turn(unit: ZstdUnit) -> None:
    plain = RECORDS[3]
    for dictionary in (TRAINED, b"", OTHER, TRAINED, TEXT, b""):
        packed = libzstd.compress(plain, 3, dictionary=dictionary)
        assert agrees(unit, packed, dictionary) == "ok"


def test_the_number_of_the_dictionary_must_fit(unit: ZstdUnit) -> None:
    packed = libzstd.compress(RECORDS[0], 3, dictionary=TRAINED)
    assert agrees(unit, packed, OTHER) == "unsupported"
    assert agrees(unit, packed, TEXT) == "unsupported"
    assert agrees(unit, libzstd.compress(RECORDS[0], 3), OTHER) == "ok"


def test_a_header_that_is_cut_off_behind_the_name_of_another_dictionary(unit: ZstdUnit) -> None:
    packed = libzstd.compress(RECORDS[0], 3, dictionary=TRAINED)
    named = packed.index((0x12345).to_bytes(4, "little")) + 4
    for kept in (named, named + 1):
        unit.dictionary = OTHER
        result = unit.run(packed[:kept])
        assert (result.status in ("unsupported", "malformed"), result.verified) == (True, True), kept


def test_nothing_is_read_where_there_is_no_frame(unit: ZstdUnit) -> None:
    wrong = TRAINED[:9]
    assert agrees(unit, fmt.skippable(b"x"), wrong) == "ok"
    assert agrees(unit, b"", wrong) == "ok"
    assert agrees(unit, fmt.frame([fmt.raw(b"abc")]), wrong) == "malformed"


def test_offsets_beyond_the_dictionary_are_malformed(unit: ZstdUnit) -> None:
    begin = random.Random(5).randbytes(600)
    packed = libzstd.compress(begin, 19, dictionary=begin + TEXT[:200])
    assert agrees(unit, packed, begin + TEXT[:200]) == "ok"
    assert agrees(unit, packed, begin[50:] + TEXT[:200]) == "malformed"


@pytest.mark.parametrize("length", [*range(1, 12), 100, 150, 200, 250, 300, 400])
def test_dictionaries_cut_off(unit: ZstdUnit, length: int) -> None:
    agrees(unit, libzstd.compress(RECORDS[1], 3), TRAINED[:length])


@pytest.mark.parametrize(
    ("address", "length", "kept", "status"),
    [
        (0x1000, 5000, 0, "access_fault"),
        ((1 << 64) - 10, 11, 0, "access_fault"),
        (0, 1 << 40, 0, "unsupported"),
        (0, (1 << 31) - 1, 0, "unsupported"),
        (0, 0, 2, "unsupported"),
        (0, 0, 1, "ok"),
    ],
)
def test_dictionaries_that_cannot_be(address: int, length: int, kept: int, status: str) -> None:
    unit = ZstdUnit("decompress")
    unit.unit.command(DICTIONARY_ADDRESS, address)
    unit.unit.command(DICTIONARY_LENGTH, length)
    unit.unit.command(DICTIONARY_KEPT, kept)
    assert unit.run(fmt.frame([fmt.raw(b"abc")])).status == status


def run_mutations(unit: ZstdUnit, seed: int, count: int) -> None:
    """Damaged dictionaries, and damaged inputs with whole ones, end as the library says."""
    packed = [
        libzstd.compress(plain, level, dictionary=TRAINED) for plain in RECORDS[:4] for level in (1, 19)
    ]
    accepted = 0
    tables = zstandard_tables(TRAINED)
    source = random.Random(seed)
    for damaged in mutations(seed, [tables], count):
        chosen = source.choice(packed)
        accepted += agrees(unit, chosen, TRAINED[:HEAD] + damaged + TRAINED[HEAD + len(tables) :]) == "ok"
    for damaged in mutations(seed + 1, packed, count):
        agrees(unit, damaged, TRAINED)
    assert accepted < count


def zstandard_tables(dictionary: bytes) -> bytes:
    """What is likely to be the tables and offsets: where the content begins, repeated offsets 1, 4, 8 end."""
    offsets = b"".join(n.to_bytes(4, "little") for n in (1, 4, 8))
    return dictionary[HEAD : dictionary.index(offsets) + len(offsets)]


def test_some_mutated_dictionaries(unit: ZstdUnit) -> None:
    run_mutations(unit, seed=1, count=150)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(4))
def test_many_mutated_dictionaries(unit: ZstdUnit, seed: int) -> None:
    run_mutations(unit, seed=100 + seed, count=25_000)


@given(before=plain_data, plain=plain_data)
def test_any_content_before_any_input(unit: ZstdUnit, before: bytes, plain: bytes) -> None:
    packed = libzstd.compress(plain, 3, dictionary=before)
    assert agrees(unit, packed, before) == "ok"
