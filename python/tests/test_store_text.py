"""The unit `store` with memcached's text protocol: the same text as Debian's memcached."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from rackwright.unit.store import StoreUnit, empty_region

HASH_KEY = bytes(range(16))
FRAME = bytes.fromhex("1234 0000 0001 0000")
"""Memcached's header of a datagram: a request number, datagram 0 of 1."""


class Memcached:
    """Debian's memcached, over UDP."""

    def __init__(self) -> None:
        """Starts it on a port that is free.

        Its thread that moves items between lists would hold those that are read again, at any time: `incr`
        then copies the item, which is not padded.
        """
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        port = self.socket.getsockname()[1]
        self.socket.close()
        command = ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", "0", "-U", str(port), "-t", "1"]
        command += ["-o", "no_lru_maintainer,no_lru_crawler"]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(0.05)
        for _ in range(200):
            try:
                self.socket.send(FRAME + b"version\r\n")
                self.socket.recv(2048)
                break
            except OSError:
                time.sleep(0.02)
        self.socket.settimeout(5)

    def say(self, text: bytes) -> bytes:
        """Its answer to a datagram: what comes before that to the next one."""
        after = bytes.fromhex("5678 0000 0001 0000")
        self.socket.send(FRAME + text)
        self.socket.send(after + b"version\r\n")
        found = b""
        while True:
            datagram = self.socket.recv(2048)
            if datagram[:2] == after[:2]:
                return found
            found += datagram[8:]

    def stop(self) -> None:
        """Ends the process."""
        self.socket.close()
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def unit() -> Iterator[StoreUnit]:
    """A store that is spoken to in text, and must not have touched what is not its."""
    unit = StoreUnit(1 << 18, 6, parameters={"protocol": "text"}, assertions=True)
    yield unit
    assert unit.unit.violations == 0


@pytest.fixture
def memcached() -> Iterator[Memcached]:
    if shutil.which("memcached") is None:
        pytest.skip("memcached is not installed")
    memcached = Memcached()
    yield memcached
    memcached.stop()


def say(unit: StoreUnit, text: bytes, header: bytes = FRAME) -> bytes:
    """The unit's answer to a datagram, behind the same header unless nothing is said."""
    ended, output = unit.run(header + text, 4096)
    assert ended.status == "ok"
    assert output[: len(header)] == (header if output else b"")
    return output[len(header) :]


SESSION = [
    b"get a\r\n",
    b"set a 7 0 3\r\nabc\r\n",
    b"get a\r\n",
    b"gets a b a\r\n",
    b"add a 0 0 1\r\nx\r\n",
    b"replace b 0 0 1\r\nx\r\n",
    b"set b 4294967295 0 0\r\n\r\n",
    b"get  b   a \r\n",
    b"cas a 1 0 2 1\r\nxy\r\n",
    b"cas a 1 0 2 1\r\nxy\r\n",
    b"cas q 1 0 2 1\r\nxy\r\n",
    b"set c 1 0 2 noreply\r\nxy\r\n",
    b"gets c\nget a\n",
    b"set d 0 0 1000\r\n" + bytes(range(256)) * 3 + bytes(232) + b"\r\nget a\r\n",
    b"get d\r\n",
    b"delete a\r\n",
    b"delete a\r\n",
    b"delete b 0\r\n",
    b"delete c noreply\r\n",
    b"get a b c\r\n",
    b"set " + b"k" * 250 + b" 0 0 1\r\nx\r\nget " + b"k" * 250 + b"\r\n",
    # What is wrong.
    b"\r\n",
    b"foo\r\nget c\r\nGETS noreply\r\n",
    b"get\r\nget \r\n",
    b"get " + b"k" * 251 + b"\r\n",
    b"set " + b"k" * 251 + b" 0 0 1\r\nget c\r\n",
    b"delete " + b"k" * 251 + b"\r\n",
    b"set a 1 0\r\nset a 1 0 1 noreply x\r\nset\r\ncas a 0 0 1\r\n",
    b"set a x 0 3\r\nset a 1 x 3\r\nset a 1 0 x\r\nset a 1 0 3x\r\nset a 0x1 0 3\r\nset a 1 0 -1\r\n",
    b"set a 18446744073709551616 0 3\r\ncas a 1 0 3 -1\r\ncas a 1 0 3 +\r\n",
    b"set a 4294967297 0 +1\r\nx\r\nget a\r\n",
    b"set a 1 0 3\r\nabcd\r\nget a\r\n",
    b"set a 1 0 1 noreply\r\nxy\r\nget a\r\n",
    b"cas a 1 0 1 1 noreply x\r\n",
    # Numbers, and what is added to a value.
    b"set n 5 0 2\r\n98\r\nincr n 1\r\nincr n 1\r\ngets n\r\n",
    # In datagrams of their own: memcached copies an item that an answer under way still refers to.
    *[b"decr n 91\r\n", b"gets n\r\n", b"incr n 2\r\n", b"get n\r\n", b"decr n 1000\r\n", b"get n\r\n"],
    b"set n 0 0 20\r\n18446744073709551615\r\nincr n 1\r\nget n\r\ndecr n 18446744073709551615\r\n",
    b"set n 0 0 20\r\n18446744073709551616\r\nincr n 1\r\n",
    b"set n 0 0 4\r\n 7 x\r\nincr n 8\r\nget n\r\n",
    b"set n 0 0 0\r\n\r\nincr n 1\r\nset n 0 0 2\r\n7x\r\nincr n 1\r\ndecr n 1\r\n",
    b"incr none 1\r\ndecr none 1\r\nincr none 1 noreply\r\nincr n 1 noreply\r\n",
    b"incr n\r\nincr n 1 noreply x\r\nincr n x\r\ndecr n -1\r\n",
    b"incr n 18446744073709551616\r\nincr n noreply\r\n",
    b"incr " + b"k" * 251 + b" 1\r\n",
    b"set n 9 0 1\r\n1\r\nincr n 1 noreply\r\nincr n 1 x\r\ngets n\r\n",
    b"touch none 0\r\ntouch n 0\r\ngets n\r\ntouch n 0 noreply\r\ntouch n\r\ntouch n x\r\ntouch n 0 0 0\r\n",
    b"touch " + b"k" * 251 + b" 0\r\n",
    b"append none 0 0 1\r\nx\r\nprepend none 0 0 1\r\nx\r\n",
    b"set p 3 0 4\r\nbody\r\nappend p 1 9 5\r\n tail\r\ngets p\r\n",
    b"prepend p 1 0 5 noreply\r\nhead \r\nappend p 0 0 0\r\n\r\ngets p\r\nappend p 0 0\r\nappend p x 0 1\r\n",
    b"append p 1 0 1\r\nxy\r\nget p\r\ncas p 0 0 1 3\r\nx\r\n",
    # Times: none, in the future, from now on, one that has passed, and what is no time.
    b"set e 0 100 1\r\nx\r\nget e\r\ntouch e -1\r\nget e\r\ntouch e 0\r\n",
    b"set e 0 -1 1\r\nx\r\nget e\r\ndelete e\r\nincr e 1\r\nreplace e 0 0 1\r\ny\r\nappend e 0 0 1\r\ny\r\n",
    b"add e 0 2592001 1\r\nx\r\nget e\r\ncas e 0 0 1 1\r\ny\r\nadd e 0 2592000 1\r\nz\r\ngets e\r\n",
    b"append e 0 -1 1\r\ny\r\ngets e\r\ntouch e 2147483647\r\nget e\r\nset e 0 -0 1\r\nx\r\nget e\r\n",
    *[
        b"set e 0 %d 1\r\nx\r\nget e\r\nset f 0 0 1\r\nx\r\ntouch f %d\r\nget f\r\n" % (time, time)
        for edge in (31, 32, 63)
        for time in (2**edge - 1, 2**edge, 2**edge + 1, -(2**edge), -(2**edge) - 1)
    ],
    b"set e 0 -2147483648 1\r\nx\r\nget e\r\nset e 1 0 1\r\ny\r\ntouch e 2592001 noreply\r\nget e\r\n",
    b"append p 0 0 40\r\n" + b"t" * 40 + b"\r\nprepend p 0 0 40\r\n" + b"h" * 40 + b"\r\nget p\r\n",
    # All items, how much is said about them, and the end of a session.
    b"set a 0 0 1\r\nx\r\nflush_all\r\nget a n\r\nset a 0 0 1\r\nx\r\ngets a\r\n",
    b"flush_all noreply\r\nget a\r\nset a 0 0 1\r\nx\r\n",
    b"flush_all 0\r\nget a\r\nset a 0 0 1\r\nx\r\ngets a\r\n",
    b"flush_all -1\r\nget a\r\nset a 0 0 1\r\nx\r\nflush_all 0 noreply\r\nget a\r\n",
    b"set a 0 0 1\r\nx\r\nflush_all 1000\r\nget a\r\nflush_all 1\r\nget a\r\n",
    b"flush_all\r\nset a 0 0 1\r\nx\r\nflush_all 2147483647 7\r\ngets a\r\n",
    b"flush_all x\r\nflush_all x noreply\r\nflush_all 1x\r\nflush_all +\r\nflush_all noreply 1\r\ngets a\r\n",
    b"flush_all 1 2 3\r\nflush_all 1 2 noreply\r\nflush_all 9223372036854775808\r\ngets a\r\n",
    b"flush_all " + b"1" * 260 + b"\r\nflush_all noreply noreply\r\nFLUSH_ALL\r\nxlush_all\r\ngets a\r\n",
    b"flush_all 4294967296\r\ngets a\r\n",
    b"verbosity\r\nverbosity 0\r\nverbosity x\r\nverbosity -1\r\nverbosity 0 0\r\nverbosity 0 0 0\r\n",
    b"verbosity noreply\r\nverbosity 0 noreply\r\nverbosity noreply 0\r\nverbosity 0 0 noreply\r\n",
    b"stats x\r\n",
    b"stats noreply\r\n",
    b"get a\r\nquit\r\nget a\r\n",
    b"quit noreply\r\nset a 0 0 1\r\nx\r\n",
    b"get a\r\n",
    b"delete\r\ndelete a b\r\ndelete a 0 0\r\ndelete a 0 noreply\r\ndelete a b c d\r\nget a\r\n",
]


def test_a_session_is_that_of_memcached(unit: StoreUnit, memcached: Memcached) -> None:
    """Each operation, and each error line, byte by byte."""
    unit.renew(empty_region(1 << 18, 6, HASH_KEY, time=2**30))
    for text in SESSION:
        assert say(unit, text) == memcached.say(text), text


def statistics(text: bytes) -> dict[bytes, bytes]:
    """What `stats` has answered, in its order."""
    *lines, end, rest = text.split(b"\r\n")
    assert (end, rest) == (b"END", b"")
    words = [line.split(b" ") for line in lines]
    assert all(word[0] == b"STAT" for word in words)
    return {name: value for _, name, value in words}


def test_the_same_is_counted(unit: StoreUnit, memcached: Memcached) -> None:
    """Each counter that both have, in the same order; nothing else is in ours than what is named here."""
    unit.renew(empty_region(1 << 18, 6, HASH_KEY, time=2**30))
    sessions = [*SESSION, b"set more 0 0 1\r\nx\r\nincr more 1\r\nget more\r\n"]
    for which in (sessions, [b"get a\r\n"] * 11):
        assert say(unit, b"stats reset\r\n") == memcached.say(b"stats reset\r\n") == b"RESET\r\n"
        for text in which:
            assert say(unit, text) == memcached.say(text), text
        ours, theirs = statistics(say(unit, b"stats\r\n")), statistics(memcached.say(b"stats\r\n"))
        assert [name for name in theirs if name in ours] == list(ours)
        assert (ours.pop(b"version"), ours.pop(b"time")) == (b"Rackwright", b"%d" % 2**30)
        assert int(ours.pop(b"curr_items")) == len(unit.view().items())
        assert ours == {name: theirs[name] for name in ours}
        assert len(ours) == 17
    assert (ours[b"cmd_get"], ours[b"get_misses"]) == (b"11", b"11")


def test_any_history_is_that_of_memcached(unit: StoreUnit, memcached: Memcached) -> None:
    unit.renew(empty_region(1 << 18, 6, HASH_KEY, time=2**30))
    source = random.Random(52)
    keys = [b"key%d" % number + b"x" * source.randrange(40) for number in range(12)]

    def command() -> bytes:
        kinds = [b"set", b"add", b"replace", b"cas", b"append", b"prepend"]
        key, name = source.choice(keys), source.choice(kinds)
        quiet = source.choice([b"", b"", b" noreply"])
        value = source.randbytes(source.choice([0, 1, 7, 8, 31, 64, 65]))
        if source.random() < 0.5:
            value = b"%d" % source.getrandbits(source.choice([3, 16, 64]))
        counts = b"%b %b %d" % (
            source.choice([b"incr", b"decr"]),
            key,
            source.getrandbits(source.choice([3, 16, 64])),
        )
        version = b" %d" % source.randrange(120) if name == b"cas" else b""
        # One that has passed, or is far.
        time = source.choice([0, 0, 0, 2592000, 2592001, -1, 2**31 - 1])
        stores = b"%b %b %d %d %d" % (name, key, source.getrandbits(32), time, len(value)) + version + quiet
        return source.choice(
            [
                stores + b"\r\n" + value + b"\r\n",
                stores + b"\r\n" + value + b"\r\n",
                source.choice([b"get ", b"gets "])
                + b" ".join(source.sample(keys, source.choice([1, 1, 5])))
                + b"\r\n",
                source.choice([b"delete " + key, b"touch %b %d" % (key, time)]) + quiet + b"\r\n",
                counts + quiet + b"\r\n",
                counts + quiet + b"\r\n",
            ]
        )

    for _ in range(150):
        text = b"".join(command() for _ in range(source.choice([1, 1, 3])))
        assert say(unit, text) == memcached.say(text), text
    unit.view().check()


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (FRAME, b"set q 0 0 3\r\nab"),
        (FRAME, b"set q 0 0 3\r\nabc"),
        (FRAME, b"set q 0 0 3"),
        (FRAME, b"set q 0 0 1048577\r\nabc\r\n"),
        (bytes.fromhex("1234 0000 0002 0000"), b"set q 0 0 3\r\nabc\r\n"),
        (b"\x12\x34\x00", b""),
    ],
)
def test_what_is_not_whole_is_not_answered(unit: StoreUnit, header: bytes, text: bytes) -> None:
    """Nor has it an effect."""
    ended, output = unit.run(header + text, 4096)
    assert (ended.status, output) == ("ok", b"")
    assert say(unit, b"get q\r\n") == b"END\r\n"


def test_what_a_store_has_no_room_for(unit: StoreUnit) -> None:
    unit.renew(empty_region(32 * 40, 3, HASH_KEY))
    assert (
        say(unit, b"set a 0 0 1000\r\n" + bytes(1000) + b"\r\n")
        == b"SERVER_ERROR out of memory storing object\r\n"
    )
    assert say(unit, b"set a 0 0 1\r\nx\r\nget a\r\n") == b"STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n"
