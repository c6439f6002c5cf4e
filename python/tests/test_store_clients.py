"""Clients of memcached get the answers of memcached from the unit `store`, through a relay."""

from __future__ import annotations

import random
import selectors
import shutil
import socket
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from pymemcache.client.base import Client
from test_store_text import FRAME, HASH_KEY

from rackwright.unit.store import StoreUnit, empty_region

pytestmark = pytest.mark.long(
    "half a minute of a processor; the protocol itself is compared in test_store_text.py"
)

STORING = (b"set", b"add", b"replace", b"append", b"prepend", b"cas")
COUNT = 400
"""Calls of a history."""

SHAPES = {
    "get": ("key",),
    "get_many": ("keys",),
    "gets": ("key",),
    "set": ("key", "value"),
    "add": ("key", "value"),
    "replace": ("key", "value"),
    "append": ("key", "value"),
    "prepend": ("key", "value"),
    "cas": ("key", "value", "cas"),
    "delete": ("key",),
    "touch": ("key", "time"),
    "incr": ("key", "number"),
    "decr": ("key", "number"),
    "set_many": ("values",),
}
"""Methods of the library, and what they are given."""

ASKING = ("get", "get_many", "gets", "cas", "incr", "decr")
"""Methods that always have an answer, and are not told to wait for it."""

Answers = list[object]


class Relay:
    """A server of TCP that passes each command on as a datagram."""

    def __init__(self, unit: StoreUnit) -> None:
        self.unit = unit
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.server.getsockname()[1]

    def serve(self, ends: Future[Answers]) -> None:
        """Answers one client after the other, until all have ended."""
        with self.server:
            while not ends.done():
                if ready(self.server):
                    connection, _ = self.server.accept()
                    with connection:
                        self._talk(connection, ends)

    def _talk(self, connection: socket.socket, ends: Future[Answers]) -> None:
        held = b""
        while not ends.done():
            if not ready(connection):
                continue
            arrived = connection.recv(65536)
            if not arrived:
                return
            held += arrived
            while length := command_bytes(held):
                command, held = held[:length], held[length:]
                if command == b"quit\r\n":
                    return
                ended, output = self.unit.run(FRAME + command, 4096)
                assert ended.status == "ok"
                connection.sendall(output[len(FRAME) :])


def ready(port: socket.socket) -> bool:
    """Whether something has arrived, after a moment."""
    with selectors.DefaultSelector() as selector:
        selector.register(port, selectors.EVENT_READ)
        return bool(selector.select(0.05))


def command_bytes(text: bytes) -> int:
    """Bytes of the first command, if all of it is there."""
    line, end, _ = text.partition(b"\r\n")
    words = line.split()
    length = len(line) + len(end)
    if end and words and words[0] in STORING:
        length += int(words[4]) + 2
    return length if end and len(text) >= length else 0


@dataclass(frozen=True)
class Call:
    """A call of the library."""

    method: str
    values: tuple[object, ...]
    options: dict[str, bool]


def history(seed: int) -> list[Call]:
    """Calls of the library for a few keys."""
    source = random.Random(seed)
    found = []
    for _ in range(COUNT):
        key, other = (f"key{source.randrange(12)}" for _ in range(2))
        value = source.choice([source.randbytes(source.randrange(200)), b"%d" % source.randrange(1000)])
        method = source.choice([*SHAPES])
        # Numbers have keys of their own: of longer values, memcached counts those that begin with digits.
        if source.random() < 0.2:
            key, value = "number", b"%d" % source.randrange(1000)
            method = source.choice(["set", "incr", "incr", "decr", "get", "delete"])
        elif method in ("incr", "decr"):
            key = "none"
        given = {
            "key": key,
            "keys": [key, other, "none"],
            "value": value,
            "cas": b"%d" % source.randrange(1, COUNT // 2),
            "number": source.randrange(100),
            "time": 1000,
            "values": {key: value, "x": value},
        }
        waits = {} if method in ASKING else {"noreply": method == "set" and source.random() < 0.3}
        found.append(Call(method, tuple(given[name] for name in SHAPES[method]), waits))
    return found


def answers(port: int, calls: list[Call]) -> Answers:
    """What the library returns or raises."""
    found: Answers = []
    client = Client(("127.0.0.1", port), timeout=60)
    for call in calls:
        try:
            found.append(getattr(client, call.method)(*call.values, **call.options))
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    client.close()
    return found


@pytest.mark.skipif(shutil.which("memcached") is None, reason="memcached is not installed")
@pytest.mark.parametrize("seed", range(3))
def test_a_library_gets_the_answers_of_memcached(seed: int) -> None:
    calls = history(seed)
    unit = StoreUnit(1 << 18, 6, parameters={"protocol": "text"}, assertions=True)
    unit.renew(empty_region(1 << 18, 6, HASH_KEY, time=int(time.time())))
    relay = Relay(unit)
    with ThreadPoolExecutor(1) as pool:
        ends = pool.submit(answers, relay.port, calls)
        relay.serve(ends)
    expected = by_memcached(calls)
    assert ends.result() == expected
    assert len({str(answer) for answer in expected}) > COUNT // 8
    assert unit.unit.violations == 0


@pytest.mark.skipif(shutil.which("memccapable") is None, reason="libmemcached-tools is not installed")
def test_a_server_of_all_that_memccapable_asks_for() -> None:
    """The tests of the text protocol that libmemcached has for servers."""
    unit = StoreUnit(1 << 18, 6, parameters={"protocol": "text"}, assertions=True)
    unit.renew(empty_region(1 << 18, 6, HASH_KEY, time=int(time.time())))
    relay = Relay(unit)
    command = ["memccapable", "-h", "127.0.0.1", "-p", str(relay.port), "-a", "-t", "60"]

    def ask() -> Answers:
        run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        return [
            line.split()[-1] for line in (run.stdout + run.stderr).splitlines() if line.startswith("ascii")
        ]

    with ThreadPoolExecutor(1) as pool:
        ends = pool.submit(ask)
        relay.serve(ends)
    assert ends.result() == ["[pass]"] * 27
    assert unit.unit.violations == 0


def by_memcached(calls: list[Call]) -> Answers:
    """What Debian's memcached answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    command = ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1"]
    process = subprocess.Popen(
        [*command, "-o", "no_lru_maintainer,no_lru_crawler"], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        return answers(port, calls)
    finally:
        process.kill()
        process.wait()
