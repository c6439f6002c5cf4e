"""The unit `aes` against NIST's vectors and the cipher of OpenSSL (`cryptography`)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher as Official
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import long

from rackwright.unit.aes import KEY_BYTES, MODES, AesUnit, Cipher, Mode

VECTORS = Path(cryptography_vectors.__file__).parent / "ciphers" / "AES"
NOISE = random.Random(52).randbytes(40_000)


@pytest.fixture(scope="module")
def unit() -> Iterator[AesUnit]:
    """A unit that must not have touched what is not its."""
    unit = AesUnit(assertions=True)
    yield unit
    assert unit.unit.violations == 0


def official(cipher: Cipher, data: bytes) -> bytes:
    """What the library makes of it; GCM with its additional data in front, and its tag behind."""
    if cipher.mode == "gcm":
        aad, text, aead = data[: cipher.aad_bytes], data[cipher.aad_bytes :], AESGCM(cipher.key)
        return (aead.decrypt if cipher.decrypt else aead.encrypt)(cipher.start, text, aad)
    mode = {"ecb": lambda _: modes.ECB(), "cbc": modes.CBC, "ctr": modes.CTR}[cipher.mode](cipher.start)
    both: Official[modes.Mode] = Official(algorithms.AES(cipher.key), mode)
    one = both.decryptor() if cipher.decrypt else both.encryptor()  # type: ignore[misc]
    return one.update(data) + one.finalize()


def same(unit: AesUnit, cipher: Cipher, data: bytes, misalignment: int = 0) -> bytes:
    """The unit gives what the library gives, which comes back."""
    outcome = unit.run(cipher, data, misalignment=misalignment)
    expected = official(cipher, data)
    assert (outcome.ended.status, outcome.ended.input_offset) == ("ok", len(data)), cipher
    assert outcome.data == expected, cipher
    return expected


def of(
    mode: Mode, key_bytes: int, random: random.Random, *, decrypt: bool = False, aad_bytes: int = 0
) -> Cipher:
    """A cipher with a key and an initial value of its own."""
    key, start = random.randbytes(key_bytes), random.randbytes({"ecb": 0, "gcm": 12}.get(mode, 16))
    return Cipher(mode, key, start, decrypt, aad_bytes)


def both_ways(unit: AesUnit, cipher: Cipher, data: bytes, misalignment: int = 0) -> None:
    """Encrypts a message, with the additional data in front, and decrypts what came of it."""
    secret = same(unit, cipher, data, misalignment)
    back = Cipher(cipher.mode, cipher.key, cipher.start, True, cipher.aad_bytes)
    same(unit, back, data[: cipher.aad_bytes] + secret, misalignment)


def vectors(path: Path) -> Iterator[tuple[bool, dict[str, bytes]]]:
    """The cases of a file of NIST's, and whether each decrypts."""
    decrypts, case = False, dict[str, bytes]()
    for line in [*path.read_text().splitlines(), ""]:
        if line.startswith(("[ENCRYPT]", "[DECRYPT]")):
            decrypts = line.startswith("[DECRYPT]")
        elif " =" in line and not line.startswith("["):
            name, value = line.split(" =")
            if name.upper() != "COUNT":
                case[name.upper()] = bytes.fromhex(value)
        elif not line.strip() and case:
            yield decrypts, case
            case = {}


def files(mode: str, *quick: str) -> list[object]:
    """NIST's files of a mode; those that are not named take long for what they can find besides."""
    found = sorted((VECTORS / mode).glob("*.rsp"))
    return [path if path.name in quick else long(path, why="as NIST has them") for path in found]


FILES = [case for mode in ("ECB", "CBC") for case in files(mode, f"{mode}GFSbox128.rsp", f"{mode}MMT192.rsp")]


@pytest.mark.parametrize("path", FILES)
def test_vectors_of_nist(unit: AesUnit, path: Path) -> None:
    cases = list(vectors(path))
    assert cases
    for decrypts, case in cases:
        mode: Mode = "cbc" if "IV" in case else "ecb"
        cipher = Cipher(mode, case["KEY"], case.get("IV", b""), decrypts)
        names = ("CIPHERTEXT", "PLAINTEXT") if decrypts else ("PLAINTEXT", "CIPHERTEXT")
        assert unit.run(cipher, case[names[0]]).data == case[names[1]], (path.name, case)


@pytest.mark.parametrize("path", files("GCM", "gcmDecrypt128.rsp"))
def test_vectors_of_nist_for_gcm(unit: AesUnit, path: Path) -> None:
    """Every thirtieth of those that the unit is for; a case without a text is one whose tag is wrong."""
    cases = [case for _, case in vectors(path) if len(case["IV"]) == 12 and len(case["TAG"]) == 16]
    assert len(cases) > 300
    for case in cases[::30]:
        aad, secret = case["AAD"], case["CT"] + case["TAG"]
        cipher = Cipher("gcm", case["KEY"], case["IV"], True, len(aad))
        outcome = unit.run(cipher, aad + secret)
        wrong = "PT" not in case
        assert (outcome.ended.status, outcome.data) == ("malformed" if wrong else "ok", case.get("PT", b""))
        if not wrong:
            encrypts = Cipher("gcm", case["KEY"], case["IV"], False, len(aad))
            assert unit.run(encrypts, aad + case["PT"]).data == secret


@pytest.mark.parametrize("key_bytes", KEY_BYTES)
@pytest.mark.parametrize("mode", MODES)
def test_all_modes_and_keys_both_ways(unit: AesUnit, mode: Mode, key_bytes: int) -> None:
    source = random.Random(key_bytes)
    for blocks in (0, 1, 2, 3, 20):
        both_ways(unit, of(mode, key_bytes, source), NOISE[: 16 * blocks])


@settings(max_examples=25)
@given(
    mode=st.sampled_from(["ctr", "gcm"]),
    key_bytes=st.sampled_from(KEY_BYTES),
    length=st.integers(0, 300),
    aad=st.integers(0, 70),
    misalignment=st.integers(0, 63),
    seed=st.integers(0, 1 << 32),
)
def test_any_length_and_alignment(
    unit: AesUnit, mode: Mode, key_bytes: int, length: int, aad: int, misalignment: int, seed: int
) -> None:
    cipher = of(mode, key_bytes, random.Random(seed), aad_bytes=aad if mode == "gcm" else 0)
    both_ways(unit, cipher, NOISE[seed % 1000 :][: length + cipher.aad_bytes], misalignment)


def test_counters_carry(unit: AesUnit) -> None:
    """Over all of the block in CTR; in GCM, 32 bits begin at 1."""
    for ones in (4, 8, 12, 16):
        start = NOISE[: 16 - ones] + b"\xff" * ones
        both_ways(unit, Cipher("ctr", NOISE[:16], start), NOISE[:100])
    both_ways(unit, Cipher("gcm", NOISE[:16], b"\xff" * 12), NOISE[:8000])


def test_messages_one_behind_the_other(unit: AesUnit) -> None:
    """Each has a key, mode and length of its own, and the unit begins it before others have ended."""
    source = random.Random(7)
    messages: list[tuple[Cipher, bytes]] = []
    for number in range(60):
        mode = source.choice(MODES)
        blocks = source.choice([0, 1, 2, 5, 30])
        cipher = of(mode, source.choice(KEY_BYTES), source)
        if number % 3 == 0 and messages:
            cipher = Cipher(mode, messages[-1][0].key, cipher.start)
        data = NOISE[number:][: 16 * blocks]
        if source.random() < 0.5:
            data, cipher = official(cipher, data), Cipher(mode, cipher.key, cipher.start, decrypt=True)
        messages.append((cipher, data))
    for (cipher, data), outcome in zip(messages, unit.run_many(messages).outcomes, strict=True):
        assert (outcome.ended.status, outcome.data) == ("ok", official(cipher, data)), cipher


@pytest.mark.parametrize("wrong", ["text", "tag", "aad", "key", "iv"])
def test_no_byte_of_a_message_whose_tag_is_wrong(unit: AesUnit, wrong: str) -> None:
    cipher = Cipher("gcm", NOISE[:16], NOISE[16:28], aad_bytes=20)
    data = NOISE[:20] + official(cipher, NOISE[:500])
    place = {"aad": 3, "text": 400, "tag": len(data) - 1}.get(wrong)
    if place is not None:
        data = data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]
    key = NOISE[1:17] if wrong == "key" else cipher.key
    start = NOISE[17:29] if wrong == "iv" else cipher.start
    outcome = unit.run(Cipher("gcm", key, start, True, 20), data, room=480)
    assert (outcome.ended.status, outcome.ended.output_bytes) == ("malformed", 0)
    assert outcome.ended.input_offset == len(data) - 16
    assert outcome.room == bytes(480)


def test_a_wrong_tag_between_right_ones(unit: AesUnit) -> None:
    """What is dropped takes nothing of its neighbours along."""
    messages = []
    for number in range(12):
        cipher = Cipher("gcm", NOISE[number:][:16], NOISE[:12])
        data = official(cipher, NOISE[number:][: 100 * number])
        if number % 3 == 1:
            data = data[:-1] + bytes([data[-1] ^ 1])
        messages.append((Cipher("gcm", cipher.key, cipher.start, decrypt=True), data))
    for number, outcome in enumerate(unit.run_many(messages).outcomes):
        if number % 3 == 1:
            assert (outcome.ended.status, outcome.data) == ("malformed", b"")
        else:
            assert (outcome.ended.status, outcome.data) == ("ok", NOISE[number:][: 100 * number])


def test_as_much_is_held_as_there_is_room(unit: AesUnit) -> None:
    longest = 16 * 1024 - 512
    cipher = Cipher("gcm", NOISE[:32], NOISE[:12])
    both_ways(unit, cipher, NOISE[:longest])
    secret = official(cipher, NOISE[: longest + 1])
    outcome = unit.run(Cipher("gcm", cipher.key, cipher.start, decrypt=True), secret)
    assert (outcome.ended.status, outcome.data) == ("unsupported", b"")


@pytest.mark.parametrize(
    ("cipher", "length", "status", "offset"),
    [
        (Cipher("ecb", bytes(16)), 33, "malformed", 32),
        (Cipher("cbc", bytes(16), bytes(16), decrypt=True), 15, "malformed", 0),
        (Cipher("gcm", bytes(16), bytes(12), decrypt=True), 15, "malformed", 15),
        (Cipher("gcm", bytes(16), bytes(12), aad_bytes=40), 39, "malformed", 39),
        (Cipher("ctr", bytes(20), bytes(16)), 32, "unsupported", 0),
    ],
)
def test_requests_that_make_no_sense(
    unit: AesUnit, cipher: Cipher, length: int, status: str, offset: int
) -> None:
    outcome = unit.run(cipher, NOISE[:length], room=64)
    assert (outcome.ended.status, outcome.data, outcome.ended.input_offset) == (status, b"", offset)


@pytest.mark.parametrize("mode", [*("ecb", "ctr", "gcm"), long("cbc", why="as ECB")])
def test_too_little_room(unit: AesUnit, mode: Mode) -> None:
    cipher = of(mode, 16, random.Random(1))
    outcome = unit.run(cipher, NOISE[:160], room=70)
    assert (outcome.ended.status, outcome.data) == ("output_full", official(cipher, NOISE[:160])[:70])


def test_input_that_memory_refuses() -> None:
    """It ends, nothing of a message with a tag comes out, and the next one is right."""
    unit = AesUnit(assertions=True)
    for cipher in (of("gcm", 16, random.Random(2), decrypt=True), of("ctr", 16, random.Random(3))):
        outcome = unit.run(cipher, NOISE[:4096], readable=256)
        assert outcome.ended.status == "access_fault"
        assert outcome.data == (b"" if cipher.mode == "gcm" else official(cipher, NOISE[:256]))
        both_ways(unit, of("gcm", 16, random.Random(4)), NOISE[:100])
