"""Configurations of dispatchers: what they mean, and complaints that name the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.dispatch import read_configuration
from rackwright.errors import RackwrightError

GOOD = """\
rack: 2
key: "000102030405060708090a0b0c0d0e0f"
listen-peers: 127.0.0.1:7000
services:
  - name: cache
    listen: 127.0.0.1:11211
    protocol: memcached
    sticky: key
    replicas:
      - 127.0.0.1:21211
      - {address: "localhost:21212", cores: 4}
  - name: names
    id: 9
    listen: 127.0.0.1:5300
    protocol: dns
peers:
  - rack: 1
    address: 127.0.0.1:7001
    services: [cache]
  - rack: 3
    address: 127.0.0.1:7002
load-delta: adaptive
expiry-ms: 50
"""


def described(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "dispatch.yaml"
    path.write_text(text)
    return read_configuration(path).describe(incarnation=7)


def test_what_is_written_is_what_the_engine_reads(tmp_path: Path) -> None:
    settings = described(tmp_path, GOOD)
    assert settings["key"] == list(range(16))
    assert settings["peers"] == [
        {"rack": 1, "address": "127.0.0.1:7001", "services": [0]},
        {"rack": 3, "address": "127.0.0.1:7002", "services": [0, 9]},
    ]
    cache, names = settings["services"]
    assert cache["framing"] == {"kind": "memcached"}
    assert cache["replicas"][1] == {"address": "127.0.0.1:21212", "cores": 4}
    assert (names["id"], names["framing"]) == (9, {"kind": "field", "offset": 0, "bytes": 2})
    assert (settings["times"]["expiry_us"], settings["load_delta"]) == (50_000, "adaptive")
    assert settings["policy"] == {"daronpon": {"gossip": True, "piggyback": True}}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("rack: 2", "rack: many", ":1: rack: Input should be a valid integer"),
        ("rack: 2", "rakc: 2", ":1: rakc: there is no such field"),
        ('key: "000102', "key: 12 # ", ":2: key: is a text of hexadecimal digits"),
        ('0d0e0f"', '0d0e"', ":2: key: has 32 hexadecimal digits, not 30"),
        ("    listen: 127.0.0.1:11211\n", "", ":5: services.0.listen: is missing"),
        ("listen: 127.0.0.1:11211", "listen: 11211", ":6: services.0.listen: "),
        ("listen: 127.0.0.1:11211", "listen: cache", ":6: services.0.listen: 'cache' is no address"),
        ("listen: 127.0.0.1:11211", "listen: 127.0.0.1:65536", "'127.0.0.1:65536' is no address"),
        ("protocol: memcached", "protocol: http", ":7: services.0.protocol: is one of memcached, dns, shim"),
        ("cores: 4", "cores: 0", ":11: services.0.replicas.1.cores: "),
        ("127.0.0.1:21211", "127.0.0.1:21212", ":11: services.0.replicas.1: 127.0.0.1:21212 appears twice"),
        ("127.0.0.1:21211", "127.0.0.1:5300", ":10: services.0.replicas.0: 127.0.0.1:5300 is where the"),
        ("name: names", "name: cache", ":12: services.1.name: two services have the name 'cache'"),
        ("[cache]", "[cash]", ":19: peers.0.services.0: there is no service 'cash'"),
        ("rack: 3", "rack: 2", ":20: peers.1.rack: two dispatchers have the number 2"),
        ("listen-peers: 127.0.0.1:7000\n", "", ":15: peers: peers need `listen-peers`"),
        ("expiry-ms: 50", "expiry-ms: 0", ":23: expiry-ms: Input should be greater than 0"),
        ("expiry-ms: 50", "tracked: 1000", ":23: tracked: is a power of two"),
        ("expiry-ms: 50", "tracked: 33554432", ":23: tracked: Input should be less than or equal"),
        ("expiry-ms: 50", "peer-timeout-ms: 10", ":23: peer-timeout-ms: must be longer than"),
        ("expiry-ms: 50", "load-delta: 1", ":23: load-delta: appears twice"),
        ("expiry-ms: 50", "expiry-ms: [", ":24: is not YAML"),
        ("expiry-ms: 50", "expiry-ms: 2026-13-01", "is not YAML (month must be in 1..12)"),
        ("expiry-ms: 50", "expiry-ms: " + "[" * 3000, "nested too deeply"),
        ("expiry-ms: 50", "expiry-ms: &itself [*itself]", ":23: expiry-ms: "),
        (GOOD, "- a\n", ":1: the file: is to hold the fields"),
        (GOOD, "services: []\n", ":1: services: List should have at least 1 item"),
    ],
)
def test_complaints_name_the_line_and_the_field(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in GOOD
    with pytest.raises(RackwrightError) as caught:
        described(tmp_path, GOOD.replace(old, new, 1))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_left_out_is_as_documented(tmp_path: Path) -> None:
    shortest = "services: [{name: cache, listen: 127.0.0.1:1, protocol: dns, replicas: [127.0.0.1:2]}]\n"
    (tmp_path / "dispatch.yaml").write_text(shortest)
    found = read_configuration(tmp_path / "dispatch.yaml")
    assert (found.rack, found.policy, found.bound, found.threads) == (0, "daronpon", 1, 1)
    assert (found.gossip_floor, found.load_delta, found.max_redirects) == (4, 0, 1)
    assert (found.tracked, found.held, found.seed) == (65_536, 4096, 1)
    assert (found.key, found.metrics, found.busy_poll, found.peers) == (None, "127.0.0.1:9464", False, [])
    for text, is_right in (
        ("bound: 0", False),
        ("bound: 1", True),
        ("bound: 65535", True),
        ("bound: 65536", False),
        ("rack: 65535", True),
        ("tracked: 2", False),
        ("tracked: 4", True),
        ("tracked: 16777216", True),
    ):
        (tmp_path / "dispatch.yaml").write_text(f"{text}\n{shortest}")
        if is_right:
            read_configuration(tmp_path / "dispatch.yaml")
        else:
            with pytest.raises(RackwrightError, match=rf":1: {text.split(':')[0]}: "):
                read_configuration(tmp_path / "dispatch.yaml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match="cannot be read"):
        read_configuration(tmp_path / "none.yaml")


def test_examples_are_configurations(repository: Path) -> None:
    paths = sorted((repository / "examples" / "dispatch").glob("*.yaml"))
    assert paths
    for path in paths:
        assert read_configuration(path).services
        assert yaml.safe_load(path.read_text())
