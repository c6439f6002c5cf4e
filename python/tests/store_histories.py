"""Histories of concurrent requests to the unit `store`, and what each has to be: linearizable, key by key.

Callers that know nothing of each other have one request at a time under way. Those that ask at the same
moment share an operation, and operations wait in the unit's queue, so that requests of different callers
overlap. A history is what the callers of one key have seen, each request with the cycles in which it was
given and in which its response was noticed.

Short tests judge by the search here; long ones also by `validation/histories`, which share no code with it:
compiling the judge of `stateright` takes half a minute, and Go is not among the tools of a short run.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from command_line import REPOSITORY

from bootstrap.paths import CARGO_TARGET
from rackwright.unit.alone import Buffer
from rackwright.unit.commands import start
from rackwright.unit.store import Operation, Request, Response, StoreUnit, empty_region, responses

OPERATIONS: tuple[Operation, ...] = (
    "get",
    "get_version",
    "set",
    "add",
    "replace",
    "delete",
    "compare_and_set",
    "increment",
)
MOST_CALLERS, MOST_REQUESTS, KEYS = 5, 4, 2
"""Of a round, of a caller in a round, and of all callers in a round."""

QUEUE = 4
"""Operations that wait in the unit or are executed."""

_ROUNDS_OF_A_REGION = 100
_RECORD_BYTES = 16


@dataclass(frozen=True)
class Call:
    """A request of a caller, and its response: values and versions are numbers, 0 where there is none.

    `argument` is the value to store or the number to add, `expected` the version that a compare and set
    expects.
    """

    caller: int
    operation: Operation
    argument: int
    expected: int
    begin: int
    end: int = 0
    outcome: str = ""
    value: int = 0
    version: int = 0

    def line(self) -> str:
        """As `validation/histories` reads it: an end is before the beginnings of the same cycle."""
        begin, end = 2 * self.begin + 1, 2 * self.end
        asked = f"{self.operation} {self.argument} {self.expected}"
        return f"{self.caller} {begin} {end} {asked} {self.outcome} {self.value} {self.version}"


History = list[Call]


@dataclass(frozen=True)
class Held:
    """What a key holds: a number, and its version, or one below it if nobody has read the version yet."""

    value: int
    version: int
    is_known: bool = False

    def may_have(self, version: int) -> bool:
        """Whether that can be its version."""
        return version == self.version if self.is_known else version > self.version


Key = tuple[Held | None, int]
"""What it holds, and a version that is below all that its next items have."""


def after(key: Key, call: Call) -> Key | None:
    """The key after a call with that response, as memcached has it; None if it would have another one."""
    held, floor = key
    if call.operation in ("set", "add", "replace"):
        stores = call.operation == "set" or (call.operation == "add") == (held is None)
        refusal = "missing" if call.operation == "replace" else "exists"
        if call.outcome != ("ok" if stores else refusal):
            return None
        return (Held(call.argument, floor), floor) if stores else key
    if held is None:
        return key if call.outcome == "missing" else None
    if call.operation == "compare_and_set":
        if call.outcome == "ok" and held.may_have(call.expected):
            return Held(call.argument, call.expected), call.expected
        same = held.is_known and held.version == call.expected
        return key if call.outcome == "exists" and not same else None
    if call.outcome != "ok":
        return None
    if call.operation == "delete":
        return None, floor
    if call.operation == "increment":
        changed = Held(held.value + call.argument, floor)
        return (changed, floor) if call.value == changed.value else None
    if call.value != held.value:
        return None
    if call.operation == "get":
        return key
    return (Held(held.value, call.version, True), call.version) if held.may_have(call.version) else None


def is_linearizable(history: Sequence[Call]) -> bool:
    """Whether some order of the calls, each at a moment between its cycles, explains all responses.

    The search is that of Wing and Gong 1993, with the memory of Lowe 2017: a call may be the next one if none
    that is left has ended before it began.
    """
    begins: tuple[int, Key] = (0, (None, 0))
    seen, open_ = {begins}, [begins]
    while open_:
        done, key = open_.pop()
        left = [index for index in range(len(history)) if not done >> index & 1]
        if not left:
            return True
        first_end = min(history[index].end for index in left)
        for index in left:
            following = after(key, history[index]) if history[index].begin <= first_end else None
            if following is not None and (step := (done | 1 << index, following)) not in seen:
                seen.add(step)
                open_.append(step)
    return False


def judgements(histories: Sequence[History]) -> list[str]:
    """What the judges by stateright and by porcupine say of the histories."""
    folder = REPOSITORY / "validation" / "histories"
    target = ("--locked", "--target-dir", CARGO_TARGET / "histories")
    stateright = ("cargo", "run", "--quiet", "--release", *target, "--", "store")
    lines = "".join("".join(f"{call.line()}\n" for call in history) + "\n" for history in histories)
    return [
        subprocess.run(command, cwd=at, input=lines, stdout=subprocess.PIPE, check=True, text=True).stdout
        for command, at in ((stateright, folder), (("go", "run", ".", "store"), folder / "porcupine"))
    ]


@dataclass
class Caller:
    """One who asks for a key after the other, and knows the versions that it has read."""

    number: int
    left: int
    versions: dict[bytes, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """An operation that has been given: who asked for what, and where the responses and its record appear."""

    calls: list[tuple[Caller, bytes, Call]]
    target: Buffer
    record: Buffer


class Recorder:
    """Has callers ask a store, from one seed."""

    def __init__(self, store: StoreUnit, seed: int) -> None:
        """The store's region is renewed; so is its content after some rounds."""
        self.store, self.unit = store, store.unit
        self.source = random.Random(seed)
        self.rounds = self.numbers = 0

    def histories(self, count: int) -> Iterator[History]:
        """So many histories, each of a key that is missing at its beginning."""
        while count > 0:
            found = self._round()[:count]
            count -= len(found)
            yield from found

    def _round(self) -> list[History]:
        if self.rounds % _ROUNDS_OF_A_REGION == 0:
            self.store.renew(empty_region(1 << 18, 3, bytes(range(16))))
        keys = [b"%d of round %d" % (number, self.rounds) for number in range(KEYS)]
        self.rounds += 1
        found: dict[bytes, History] = {key: [] for key in keys}
        callers = [
            Caller(number, self.source.randint(1, MOST_REQUESTS))
            for number in range(self.source.randint(2, MOST_CALLERS))
        ]
        idle, given = list(callers), list[Batch]()
        while given or any(caller.left for caller in callers):
            ready = [caller for caller in idle if caller.left]
            if ready and len(given) < QUEUE and self.source.random() < 0.7:
                asking = self.source.sample(ready, self.source.randint(1, len(ready)))
                idle = [caller for caller in idle if caller not in asking]
                given.append(self._give(asking, keys))
            self.unit.bench.run(self.source.choice([1, 20, 100, 300]))
            while given and self._has_ended(given[0]):
                for caller, key, call in self._calls(given.pop(0)):
                    found[key].append(call)
                    idle.append(caller)
        return [history for history in found.values() if history]

    def _give(self, callers: list[Caller], keys: list[bytes]) -> Batch:
        """One operation has a request of each caller; it begins now."""
        calls, data = [], b""
        for caller in callers:
            caller.left -= 1
            self.numbers += 1
            key, operation = self.source.choice(keys), self.source.choice(OPERATIONS)
            is_cas, adds = operation == "compare_and_set", operation == "increment"
            argument = self.source.randint(1, 9) if adds else 10 * self.numbers
            expected = caller.versions.get(key, 0) if is_cas else 0
            data += self._encoded(operation, key, argument, expected)
            calls.append((caller, key, Call(caller.number, operation, argument, expected, self.unit.cycle)))
        source = self.unit.load(data)
        target = self.unit.reserve(64 * len(calls))
        record = self.unit.load(bytes(_RECORD_BYTES), "w")
        start(self.unit, source, target, record.address)
        return Batch(calls, target, record)

    @staticmethod
    def _encoded(operation: Operation, key: bytes, argument: int, expected: int) -> bytes:
        if operation == "increment":
            return Request(operation, key, version=argument).encoded()
        stores = operation in ("set", "add", "replace", "compare_and_set")
        return Request(operation, key, b"%d" % argument if stores else b"", version=expected).encoded()

    def _has_ended(self, batch: Batch) -> bool:
        return any(self.unit.read(batch.record))

    def _calls(self, batch: Batch) -> Iterator[tuple[Caller, bytes, Call]]:
        """The calls with their responses, which have just been noticed."""
        end = self.unit.cycle
        (word,) = struct.unpack_from("<Q", self.unit.read(batch.record))
        assert word & 0xFF == 1, f"the operation ended with status {(word & 0xFF) - 1}"
        answers = responses(self.unit.read(batch.target, word >> 8))
        for (caller, key, call), answer in zip(batch.calls, answers, strict=True):
            if call.operation == "get_version" and answer.outcome == "ok":
                caller.versions[key] = answer.version
            yield caller, key, answered(call, answer, end)


def answered(call: Call, answer: Response, end: int) -> Call:
    """The call with what it was answered with."""
    value, version = int(answer.value or b"0"), answer.version
    if call.operation == "increment":
        value, version = version, 0
    return replace(call, end=end, outcome=answer.outcome, value=value, version=version)
