"""Packets in queues: ciphers and the network on tiles, and programs in their place."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import REPOSITORY, rw
from tiers import long

from rackwright import Server, compile_program
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import elaborate
from rackwright.reproduce.pengwing.secure import run_packets, server
from rackwright.unit.config import UnitConfig

FIXTURE = Path(__file__).parent / "fixtures" / "tile_packets.c"
TILES = REPOSITORY / "examples" / "tiles"


@pytest.fixture(scope="module")
def tiles() -> Server:
    return server()


@pytest.mark.parametrize("by", ["uuu", "uup", "puu", long("upu", why="half a million cycles of a program")])
def test_each_service_is_a_unit_or_a_program(tiles: Server, by: str) -> None:
    """What one encrypts the other decrypts, so both do what AES is; every packet comes back as it was."""
    run = run_packets(by, 30, window=8, on=tiles)
    assert run.digest == run_packets(by, 30, window=8, on=tiles).digest


@pytest.mark.parametrize("payload_bytes", [16, 1024, long(1472, why="the longest that a frame has")])
def test_packets_of_other_lengths(tiles: Server, payload_bytes: int) -> None:
    run = run_packets("uuu", 12, payload_bytes=payload_bytes, window=3, on=tiles)
    assert run.payload_bytes == payload_bytes


@pytest.mark.long("tiles that copy packets are compiled for it; ten million cycles")
@pytest.mark.parametrize("places", [2, 4, 8, 16, 64, 1024])
def test_packets_of_any_length_pass_two_tiles(places: int) -> None:
    """Whatever the places between them; both ends are programs that pause at random."""
    copiers = Server("rocket", [UnitConfig("stream-copy", command="packets")] * 2)
    program = compile_program([FIXTURE.with_name("tile_words.c")])
    for seed in range(1, 11):
        words = [str(seed), str(places), "60"]
        assert copiers.run(program, words, max_cycles=20_000_000).exit_code == 0


def test_packets_are_descriptors_when_a_program_says_so(tiles: Server) -> None:
    """Their data is in memory; the same packets are faster than in the queue if they are long."""
    described = run_packets("-d-", 12, payload_bytes=1024, window=8, on=tiles)
    assert described.cycles < run_packets("-u-", 12, payload_bytes=1024, window=8, on=tiles).cycles


def test_a_packet_of_32_bytes_takes_no_more_cycles_than_the_goal(tiles: Server) -> None:
    assert run_packets("uuu", 400, on=tiles).cycles_per_packet <= 400


@pytest.fixture(scope="module")
def said(tiles: Server) -> list[str]:
    """What a program finds that uses the tiles otherwise than they are meant to be."""
    result = tiles.run(compile_program([FIXTURE]), max_cycles=20_000_000)
    assert result.exit_code == 0, result.stdout
    return str(result.stdout.decode()).splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "a size of 0: a packet of 0",
        "a size of 2049: state 2",
        "open again: 32 bytes, as AES has them",
        "half a packet: state 0",
        "the unit refuses 20 bytes: a packet of 0, then one of 32",
        "a queue of 2 elements: 32 bytes",
        "a queue with elements of 64 bytes: state 2",
        "no such register: 0",
        "the network has sent 3 and delivered 3",
        "4 of 4 descriptors come back",
        "a buffer that is not there: 0 bytes, its address",
        "data that is not there: the next packet has 48 bytes",
        "data in the queue again: 24 bytes",
    ],
)
def test_what_goes_wrong_is_told_and_the_tile_goes_on(said: list[str], line: str) -> None:
    assert line in said


def test_the_graph_of_the_example_is_legal() -> None:
    graph = TILES / "secure.graph.yaml"
    assert rw("tiles", "check", TILES / "secure.yaml", "--graph", graph, "--json").json()["legal"] is True


@pytest.mark.parametrize(
    ("unit", "command", "complaint"),
    [
        ("nic", "packets", "--command packets is for units with the commands of streams"),
        ("aes", "packets-mirrored", "has no frames to send back"),
    ],
)
def test_a_unit_that_takes_no_packets_is_refused_in_a_line(unit: str, command: str, complaint: str) -> None:
    with pytest.raises(RackwrightError, match=complaint):
        elaborate(unit, command=command)


def test_a_tile_without_packets_has_no_mirror(tmp_path: Path) -> None:
    file = tmp_path / "tiles.yaml"
    file.write_text((TILES / "secure.yaml").read_text().replace("packets: true, mirror", "mirror"))
    ended = rw("tiles", "check", file)
    assert ended.status == 1
    assert "tile network has `packets` without a unit, or `mirror` without `packets`" in ended.stderr
