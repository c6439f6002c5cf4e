"""`rw protobuf` and `rw bench protobuf`, as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import rw
from tiers import long

from rackwright.errors import RackwrightError
from rackwright.protobuf import Benchmark, Suite, Way, measure, wire
from rackwright.protobuf.rows import Row, summarize
from rackwright.reports.times import Times

pytestmark = pytest.mark.usefixtures("made_fast")

PROTO = """
syntax = "proto3";
package shop;
message Order {
  message Item { string name = 1; int32 count = 2; }
  int64 id = 1;
  repeated Item items = 2;
  map<string, int32> marks = 3;
}
"""
ITEM = wire.length_field(1, b"a thing with a long name") + wire.varint_field(2, 3)
ORDER = wire.varint_field(1, 77) + wire.length_field(2, ITEM) * 3
MARKS = b"".join(
    wire.length_field(3, wire.length_field(1, f"mark {key}".encode()) + wire.varint_field(2, key))
    for key in (5, 3, 9, 1, 7, 2, 8)
)
UNKNOWN = wire.varint_field(99, 1)
KEYS = {
    "benchmark", "operation", "target", "messages", "wire_bytes", "cycles", "gigabits_per_second", "calls",
    "first_gigabits_per_second", "used_gigabits_per_second",
    "verified", "fallbacks", "status", "group", "reasons", "unit_clock_hz",
}  # fmt: skip


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    """A user's schema."""
    path = tmp_path / "shop.proto"
    path.write_text(PROTO)
    return path


def test_every_target_is_measured_and_verified(proto: Path, tmp_path: Path) -> None:
    stream = tmp_path / "orders.bin"
    stream.write_bytes(wire.delimited([ORDER + MARKS, b"", ORDER + UNKNOWN]))
    for operation in ("deserialize", "serialize"):
        ended = rw("protobuf", operation, "--proto", proto, "--message", "shop.Order", "--delimited", stream,
                   "--json")  # fmt: skip
        assert ended.status == 0, ended.stderr
        rows = {row["target"]: row for row in ended.json()["rows"]}
        assert list(rows) == ["host", "rocket", "boom", "rocket+unit", "boom+unit"]
        for target, row in rows.items():
            assert set(row) == KEYS
            assert row["verified"]
            assert (row["benchmark"], row["operation"], row["messages"]) == ("shop.Order", operation, 3)
            assert (row["cycles"] is None) == (target == "host")
            assert (row["unit_clock_hz"] is None) == (not target.endswith("+unit"))
            assert row["status"] == "ok"
        assert rows["boom"]["fallbacks"] == 0
        # The unknown field is left over when it is parsed, and added when it is serialized.
        assert rows["boom+unit"]["reasons"] == {}
        assert {row["over"] for row in ended.json()["summary"]} == {"host", "rocket", "boom"}


def test_what_is_counted_is_said(proto: Path) -> None:
    suite = Suite("orders", proto, [Benchmark("orders", "shop.Order", [ORDER] * 8)])
    for operation in ("deserialize", "serialize"):
        (batch,) = measure(suite, [operation], ["boom+unit"])
        (single,) = measure(suite, [operation], ["boom+unit"], way=Way(calls="single"))
        assert (batch.calls, single.calls) == ("batch", "single")
        assert batch.verified
        assert single.verified
        # Messages of a batch overlap; a first run meets empty caches; results are read in no time by nobody.
        assert batch.times.again < single.times.again < single.times.first
        assert batch.times.use > 0
        assert batch.used_gigabits_per_second < batch.gigabits_per_second


def test_calls_of_another_kind_are_refused() -> None:
    with pytest.raises(RackwrightError, match="batch or single, not one"):
        Way(calls="one")


def test_a_malformed_message_is_told_of(proto: Path, tmp_path: Path) -> None:
    file = tmp_path / "order.bin"
    file.write_bytes(ORDER[:-1])
    ended = rw("protobuf", "deserialize", "--proto", proto, "--message", "shop.Order", file,
               "--target", "host", "--target", "boom+unit", "--json")  # fmt: skip
    assert ended.status == 1
    assert [row["status"] for row in ended.json()["rows"]] == ["malformed", "malformed"]
    assert all(row["verified"] for row in ended.json()["rows"])


def test_imports_from_several_folders(tmp_path: Path) -> None:
    """Packages in folders, a second -I, and a name that begins like those of the library's own."""
    files = {
        "a/shop/main.proto": 'syntax = "proto3"; package shop; import "shop/sub/dep.proto";'
        'import "far.proto"; import "google/protobuf/mine.proto";'
        'import "google/protobuf/timestamp.proto";'
        "message Order { shop.sub.Item item = 1; Far far = 2; mine.Own own = 3;"
        "google.protobuf.Timestamp at = 4; }",
        "a/shop/sub/dep.proto": 'syntax = "proto3"; package shop.sub; message Item { string name = 1; }',
        "b/far.proto": 'syntax = "proto3"; message Far { int32 way = 1; }',
        "b/google/protobuf/mine.proto": 'syntax = "proto3"; package mine; message Own { int32 x = 1; }',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    message = tmp_path / "order.bin"
    message.write_bytes(
        wire.length_field(1, wire.length_field(1, b"thing"))
        + wire.length_field(2, wire.varint_field(1, 5))
        + wire.length_field(3, wire.varint_field(1, 6))
    )
    ended = rw("protobuf", "deserialize", "--proto", tmp_path / "a/shop/main.proto", "-I", tmp_path / "a",
               "-I", tmp_path / "b", "--message", "shop.Order", message, "--target", "host",
               "--target", "boom+unit", "--json")  # fmt: skip
    assert ended.status == 0, ended.stderr
    assert [row["verified"] for row in ended.json()["rows"]] == [True, True]
    assert ended.json()["rows"][1]["fallbacks"] == 0


KEYWORDS = """
syntax = "proto2";
package class.new;
import "types.proto";
enum operator { delete = 0; switch = 5; }
message union {
  message struct { optional int32 x = 1; }
  optional int32 new = 1;
  repeated string delete = 2;
  optional operator int = 3;
  map<string, union> public = 4;
  oneof template { int32 while = 5; string for = 6; }
  optional struct this = 7;
  optional .shop.namespace.int.double typename = 8;
}
"""


@pytest.mark.long("eleven seconds of a processor for names that protoc mangles")
def test_packages_messages_and_fields_may_be_keywords_of_cpp(tmp_path: Path) -> None:
    (tmp_path / "class.proto").write_text(KEYWORDS)
    (tmp_path / "types.proto").write_text(
        'syntax = "proto3"; package shop.namespace.int; message double { string return = 1; }'
    )
    message = tmp_path / "union.bin"
    message.write_bytes(
        wire.varint_field(1, 5)
        + wire.length_field(2, b"text")
        + wire.varint_field(3, 5)
        + wire.length_field(6, b"chosen")
        + wire.length_field(7, wire.varint_field(1, 1))
        + wire.length_field(8, wire.length_field(1, b"far"))
    )
    ended = rw("protobuf", "deserialize", "--proto", tmp_path / "class.proto", "--message", "class.new.union",
               message, "--target", "host", "--target", "rocket+unit", "--json")  # fmt: skip
    assert ended.status == 0, ended.stderr
    rows = ended.json()["rows"]
    assert [row["verified"] for row in rows] == [True, True]
    assert rows[1]["fallbacks"] == 0


def test_what_is_wrong_is_said_in_a_line(proto: Path, tmp_path: Path) -> None:
    file = tmp_path / "order.bin"
    file.write_bytes(ORDER)
    options = ["protobuf", "deserialize", file, "--target", "host"]
    ended = rw(*options, "--proto", proto, "--message", "shop.Oder")
    assert ended.status == 1
    assert "no message shop.Oder; there are shop.Order, shop.Order.Item" in ended.stderr
    ended = rw(*options, "--proto", tmp_path / "none.proto", "--message", "shop.Order")
    assert ended.status == 1
    assert "none.proto: no such file" in ended.stderr
    proto.write_text("message {")
    ended = rw(*options, "--proto", proto, "--message", "shop.Order")
    assert ended.status == 1
    assert "shop.proto:1:9" in ended.stderr


def test_an_edition_is_refused_by_its_name(tmp_path: Path) -> None:
    """Also in a file that is imported."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "new.proto").write_text('// New.\nedition = "2023";\nmessage M { int32 a = 1; }\n')
    importing = tmp_path / "old.proto"
    importing.write_text('syntax = "proto3";\nimport "deep/new.proto";\nmessage N { M m = 1; }\n')
    message = tmp_path / "a.bin"
    message.write_bytes(b"")
    for proto in (importing, tmp_path / "deep" / "new.proto"):
        ended = rw("protobuf", "deserialize", "--proto", proto, "--message", "M", message)
        assert (ended.status, ended.stdout) == (1, "")
        *_, last = ended.stderr.splitlines()
        assert "new.proto: edition 2023 is newer than protobuf 3.21.12" in last


@pytest.mark.parametrize(
    ("text", "message", "said"),
    [
        (
            'syntax = "proto3"; package foo.std.bar; message M { string s = 2; }',
            "foo.std.bar.M",
            "own.proto: package foo.std.bar: what the official generator makes of the name std",
        ),
        (
            'syntax = "proto3"; package a; message std { string s = 2; }',
            "a.std",
            "own.proto: message a.std: what the official generator makes",
        ),
        (
            'syntax = "proto2"; message M { message std { optional string s = 2; } }',
            "M",
            "own.proto: message M.std: what the official generator makes",
        ),
        (
            'syntax = "proto3"; package q; option optimize_for = LITE_RUNTIME; message M { int32 a = 1; }',
            "q.M",
            "own.proto: q.M has no reflection to compare objects by, since the file says optimize_for =",
        ),
        (
            'syntax = "proto2"; option optimize_for = LITE_RUNTIME; message M { message N {} }',
            "M.N",
            "own.proto: M.N has no reflection to compare objects by, since the file says optimize_for =",
        ),
        (
            'syntax = "proto3"; option optimize_for=LITE_RUNTIME; message M { oneof a { M m = 2; } }',
            "M",
            "own.proto: M has no reflection to compare objects by, since the file says optimize_for =",
        ),
    ],
    ids=["package", "message", "nested message", "lite", "lite and nested", "lite with itself"],
)
def test_what_cannot_be_compiled_is_refused_in_a_line(
    tmp_path: Path, text: str, message: str, said: str
) -> None:
    (tmp_path / "own.proto").write_text(text)
    (tmp_path / "a.bin").write_bytes(b"")
    ended = rw(
        "protobuf", "deserialize", "--proto", tmp_path / "own.proto", "--message", message, tmp_path / "a.bin"
    )
    assert (ended.status, ended.stdout) == (1, "")
    *_, last = ended.stderr.splitlines()
    assert said in last


MAPS = """
syntax = "proto3";
package m;
message Value { int32 a = 1; string s = 2; }
message Maps {
  map<int32, int32> numbers = 1;
  map<string, Value> values = 2;
  map<bool, string> flags = 3;
  map<fixed64, bytes> fixed = 4;
  repeated Maps more = 5;
}
"""


def _entry(field: int, *parts: bytes) -> bytes:
    return wire.length_field(field, b"".join(parts))


def _number(key: int, value: int, *more: bytes) -> bytes:
    return _entry(1, wire.varint_field(1, key), wire.varint_field(2, value), *more)


def _value(key: bytes, value: bytes) -> bytes:
    return _entry(2, wire.length_field(1, key), wire.length_field(2, value))


def _fixed(value: bytes) -> bytes:
    return _entry(4, wire.tag(1, 1) + (7).to_bytes(8, "little"), wire.length_field(2, value))


ODD_MAPS = {
    "key twice": _number(5, 6) + _number(5, 7),
    "unknown field": _number(5, 6, wire.varint_field(3, 7)),
    "unknown field and key twice": _number(1, 2) + _number(5, 6, wire.length_field(9, b"x")) + _number(5, 1),
    "no key, no value": _entry(1) + _entry(1, wire.varint_field(2, 3)),
    "message twice": _value(b"k", wire.varint_field(1, 9))
    + _value(b"k", wire.length_field(2, b"longer than 15 bytes")),
    "bool as 2": _entry(3, b"\x08\x02", wire.length_field(2, b"a"))
    + _entry(3, b"\x08\x01", wire.length_field(2, b"b")),
    "fixed64 twice": _fixed(b"a") + _fixed(b"b"),
    "within another": wire.length_field(5, _number(5, 6) + _number(5, 7) + _number(4, 4)),
}


def test_reflection_of_a_parsed_map_sees_what_the_librarys_parser_makes(tmp_path: Path) -> None:
    """Entries as they came have a key twice, or unknown fields; nobody has looked at the map before."""
    proto = tmp_path / "maps.proto"
    proto.write_text(MAPS)
    files = []
    for name, message in ODD_MAPS.items():
        files.append(tmp_path / f"{name}.bin")
        files[-1].write_bytes(message)
    options = ["--proto", proto, "--message", "m.Maps", "--target", "rocket+unit", "--json"]
    ended = rw("protobuf", "deserialize", *options, *files)
    assert ended.status == 0, ended.stderr
    [row] = ended.json()["rows"]
    assert (row["verified"], row["messages"], row["status"]) == (True, len(ODD_MAPS), "ok")
    assert "maps.proto: deserialize on rocket+unit" in ended.stderr


def test_a_message_of_many_parts_is_told_of_while_it_is_simulated(proto: Path) -> None:
    message = wire.length_field(2, wire.varint_field(2, 3)) * 20_000
    suite = Suite("many", proto, [Benchmark("shop.Order", "shop.Order", [message])])
    begun: list[str] = []
    told: list[str] = []
    [row] = measure(suite, ["deserialize"], ["boom"], begin=begun.append, detail=told.append)
    assert row.verified
    assert begun == ["many: compiling", "many: deserialize on boom"]
    assert told[0].startswith("many: deserialize on boom, ")
    assert told[0].endswith(" million cycles")


@pytest.mark.parametrize(
    "targets", [["host"], long(["host", "boom"], why="20 s, most of it compiling, for what suites show too")]
)
def test_benchmarks_have_averages(targets: list[str]) -> None:
    options = [word for target in targets for word in ("--target", target)]
    ended = rw("bench", "protobuf", "--suite", "fields", *options, "--json")
    assert ended.status == 0, ended.stderr
    rows = ended.json()["rows"]
    assert len(rows) == 2 * len(targets) * 33
    assert all(row["verified"] for row in rows)


def test_averages_are_geometric() -> None:
    def row(benchmark: str, target: str, seconds: float, **reasons: int) -> Row:
        times = Times(2 * seconds, seconds, 1.0)
        return Row(benchmark, "serialize", target, 2, 10, "batch", times, None, True, "ok", "group", reasons)

    rows = [row("a", "boom", 4.0), row("b", "boom", 1.0), row("a", "boom+unit", 1.0)]
    rows += [row("b", "boom+unit", 1.0, unsupported=1)]
    [summary] = summarize(rows)
    assert (summary.over, summary.target, summary.benchmarks, summary.messages) == ("boom", "boom+unit", 2, 2)
    assert summary.fallbacks == 0.25
    assert (summary.speedup, summary.first_speedup) == pytest.approx((2.0, 2.0))
    assert summary.used_speedup == pytest.approx(2.5**0.5)


def test_the_example_of_the_guide(repository: Path) -> None:
    script = repository / "examples" / "protobuf" / "service.py"
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    library, units = result.stdout.splitlines()
    assert "0 calls left to the library, as the library" in library
    assert "0 calls left to the library, as the library" in units
    assert _cycles(units) < _cycles(library)


def _cycles(line: str) -> int:
    return int(line.split(" cycles")[0].split()[-1])
