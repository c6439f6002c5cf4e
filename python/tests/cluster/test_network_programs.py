"""The programs of software/network: what they say, what they answer to, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap.paths import SOFTWARE
from rackwright import BareMetal, Cluster, Ethernet, Server, Switch, compile_bare_metal
from rackwright.cluster import ClusterResult

ASK = """
#include "arguments.h"
#include "bare.h"
#include "internet.h"
#include "memcached.h"
#include "text.h"
static int answers;
static void datagram(const struct endpoint *from, uint16_t port, const uint8_t *payload, unsigned length) {
  (void)from, (void)port;
  for (unsigned i = MEMCACHED_HEADER; i < length; ++i) print_byte((char)payload[i]);
  ++answers;
}
int main(void) {
  static const char *const requests[] = {REQUESTS};
  static const struct handlers handlers = {.datagram = datagram};
  internet_start(&handlers);
  struct endpoint to = {.address = address_argument(0), .port = MEMCACHED_PORT};
  to.mac = internet_resolve(to.address);
  for (int i = 0; i < COUNT; ++i) {
    uint8_t *bytes = internet_datagram();
    put_memcached_header(bytes, (uint16_t)i);
    char *end = put_text((char *)bytes + MEMCACHED_HEADER, requests[i]);
    internet_send_datagram(&to, 1234, (unsigned)(end - (char *)bytes));
    while (answers == i) if (!internet_poll()) nic_wait();
  }
  return 0;
}"""
"""Sends requests to a memcached, one after another, and prints each answer."""


BYTES = """
#include "bare.h"
#include "bytes.h"
enum { ROOM = 64, LONGEST = 40 };
static uint8_t source[ROOM], target[ROOM];
int main(void) {
  for (unsigned i = 0; i < ROOM; ++i) source[i] = (uint8_t)(3 * i + 1);
  for (unsigned from = 0; from < 8; ++from)
    for (unsigned to = 8; to < 16; ++to)
      for (unsigned length = 0; length <= LONGEST; ++length) {
        memset(target, 0xee, ROOM);
        if (memcpy(target + to, source + from, length) != target + to) return 1;
        for (unsigned i = 0; i < ROOM; ++i) {
          const bool inside = i >= to && i < to + length;
          if (target[i] != (inside ? source[from + i - to] : 0xee)) return 2;
        }
        if (memcmp(target + to, source + from, length)) return 3;
        for (unsigned i = 0; i < length; ++i) {
          target[to + i] ^= 0x80;
          const int sign = target[to + i] < source[from + i] ? -1 : 1;
          if (sign * memcmp(target + to, source + from, length) <= 0) return 4;
          if (sign * memcmp(source + from, target + to, length) >= 0) return 5;
          target[to + i] ^= 0x80;
        }
      }
  return 0;
}"""
"""Copies and compares so many bytes from any place in a word to any other."""


def pair(asks: Server, answers: Server, until_ms: float = 20, gbps: float | None = None) -> ClusterResult:
    """The two below one switch, until the one that asks has ended."""
    switch = Switch()
    switch.add_downlinks([answers, asks])
    return Cluster(switch, link=Ethernet(gbps, latency_us=0.5)).run(until_ms, ends_with=asks, threads=1)


def mutilate(*options: str, cpu: str = "rocket") -> dict[str, int]:
    """What the load generator prints after a run against one memcached, which must have ended well."""
    answers = Server(cpu, workload=BareMetal("memcached.elf"))
    result = pair(Server(cpu, workload=BareMetal("mutilate.elf", [answers, *options])), answers)
    assert result.servers["exit_code"][1] == 0, result.servers["stdout"][1]
    words = result.servers["stdout"][1].split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


def test_bytes_are_copied_and_compared_at_any_alignment(tmp_path: Path) -> None:
    source = tmp_path / "bytes.c"
    source.write_text(f"#include <stdbool.h>\n{BYTES}")
    network = SOFTWARE / "network"
    program = compile_bare_metal(
        [source, network / "bytes.c"], tmp_path / "bytes.elf", [f"-I{network}", "-Wall", "-Werror"]
    )
    assert Server("functional").run(program).exit_code == 0


@pytest.mark.parametrize("cpu", ["rocket", "boom"])
@pytest.mark.parametrize(
    "options",
    [
        ("requests=60", "keys=10"),
        ("requests=60", "keys=10", "outstanding=8", "key=uniform:100", "value=uniform:1000", "sets=500"),
        ("requests=60", "keys=10", "rate=100000", "value=facebook", "key=exponential:40"),
    ],
)
def test_every_value_comes_back(options: tuple[str, ...], cpu: str) -> None:
    counts = mutilate(*options, cpu=cpu)
    assert (counts["answered"], counts["lost"], counts["late"], counts["wrong"]) == (60, 0, 0, 0)
    # Four links of 0.5 us are 4000 cycles.
    assert 4000 < counts["p50"] <= counts["p90"] <= counts["p95"] <= counts["p99"] <= counts["p99.9"]
    assert counts["p99.9"] <= 1.04 * counts["longest"]


def test_an_open_loop_keeps_its_rate() -> None:
    counts = mutilate("requests=200", "keys=1", "rate=200000", "value=fixed:8")
    # 200 gaps of 5 us on average: their sum has a standard deviation of 7 %.
    assert counts["cycles"] / 2e9 == pytest.approx(1e-3, rel=0.2)


def test_a_closed_loop_gets_more_done_with_more_outstanding() -> None:
    one, many = (mutilate("requests=100", "keys=5", f"outstanding={count}") for count in (1, 8))
    assert many["cycles"] < one["cycles"] / 2


def test_what_is_not_answered_is_lost() -> None:
    answers = Server(workload=BareMetal("ping.elf"))
    asks = Server(workload=BareMetal("mutilate.elf", [answers, "keys=2", "requests=5", "timeout=20"]))
    result = pair(asks, answers)
    words = result.servers["stdout"][1].split()
    assert dict(zip(words[::2], words[1::2], strict=True))["lost"] == "5"


@pytest.mark.parametrize("option", ["rate=fast", "keys=0", "value=normal:3", "speed=1", "requests"])
def test_options_that_make_no_sense_are_refused(option: str) -> None:
    answers = Server("functional", workload=BareMetal("ping.elf"))
    result = pair(Server("functional", workload=BareMetal("mutilate.elf", [answers, option])), answers)
    assert result.servers["exit_code"][1] == 2
    assert option in result.servers["stdout"][1]


def test_hostile_requests_get_errors(tmp_path: Path) -> None:
    """Through the network from a program that prints each answer."""
    requests = [
        "get nothing\\r\\n",
        "set a 1 0 3\\r\\nabc\\r\\n",
        "get a\\r\\n",
        "set a 1 0 3\\r\\nabcd\\r\\n",
        "set a 1 0 9999\\r\\nabc\\r\\n",
        "set a x 0 3\\r\\nabc\\r\\n",
        "set a 1 0 99999999999999999999\\r\\n\\r\\n",
        "get \\r\\n",
        "get " + "k" * 251 + "\\r\\n",
        "flush_all\\r\\n",
        "get a",
        "",
    ]
    source = tmp_path / "ask.c"
    texts = ", ".join(f'"{request}"' for request in requests)
    source.write_text(ASK.replace("REQUESTS", texts).replace("COUNT", str(len(requests))))
    network = SOFTWARE / "network"
    library = sorted(network.glob("*.c"))
    program = compile_bare_metal([source, *library], tmp_path / "ask.elf", [f"-I{network}"])
    answers = Server("functional", workload=BareMetal("memcached.elf"))
    result = pair(Server("functional", workload=BareMetal(program, [answers])), answers)
    assert result.servers["stdout"][1].split("\r\n") == [
        "END",
        "STORED",
        "VALUE a 1 3",
        "abc",
        "END",
        "CLIENT_ERROR bad data chunk",
        "SERVER_ERROR object too large for cache",
        "CLIENT_ERROR bad command line format",
        "CLIENT_ERROR bad command line format",
        "CLIENT_ERROR bad command line",
        "CLIENT_ERROR bad command line",
        "ERROR",
        "ERROR",
        "ERROR",
        "",
    ]


@pytest.mark.parametrize(("count", "most"), [(1, 0), (8, 7), (12, 9000)])
def test_datagrams_come_back_unchanged(count: int, most: int) -> None:
    answers = Server("functional", workload=BareMetal("echo.elf"))
    asks = Server("functional", workload=BareMetal("echo.elf", [answers, str(count), str(most)]))
    result = pair(asks, answers)
    assert result.servers["exit_code"][1] == 0
    assert result.servers["stdout"][1] == f"{count}\n"


@pytest.mark.parametrize("length", [64, 65, 71, 1500, 9600])
def test_bulk_transfers_are_verified_to_the_byte(length: int) -> None:
    sink = Server("boom", workload=BareMetal("bulk.elf", ["40"]))
    source = Server("rocket", workload=BareMetal("bulk.elf", [sink, "40", str(length), "1", "64"]))
    switch = Switch()
    switch.add_downlinks([sink, source])
    result = Cluster(switch, link=Ethernet(latency_us=0.5)).run(20, ends_with=[sink, source], threads=1)
    assert list(result.servers["exit_code"]) == [0, 0]
    assert result.servers["stdout"][0].split()[0] == str(40 * length)


def test_a_nic_keeps_to_the_rate_of_its_link() -> None:
    sink = Server("boom", workload=BareMetal("bulk.elf", ["200", "1000"]))
    source = Server("rocket", workload=BareMetal("bulk.elf", [sink, "200", "1500"]))
    switch = Switch()
    switch.add_downlinks([sink, source])
    result = Cluster(switch, link=Ethernet(gbps=40, latency_us=0.5)).run(20, ends_with=source, threads=1)
    seconds = int(result.servers["stdout"][1]) / 2e9
    assert 200 * 1500 * 8 / seconds == pytest.approx(40e9, rel=0.1)
    assert result.ports["dropped"].sum() == 0


both_widths = pytest.mark.parametrize("nic", [None, "nic"], ids=["16 bytes per cycle", "8"])


def transfer(nic: str | None, frames: str, length: int, *limit: str) -> Cluster:
    """A source and a sink of so many frames behind a switch."""
    sink = Server("boom", workload=BareMetal("bulk.elf", [frames, "1" if limit else "1000"]), nic=nic)
    source = Server("rocket", workload=BareMetal("bulk.elf", [sink, frames, str(length), *limit]), nic=nic)
    switch = Switch(buffer_kib=4096)
    switch.add_downlinks([sink, source])
    return Cluster(switch, link=Ethernet(latency_us=0.5))


@both_widths
def test_a_nic_fills_its_link(nic: str | None) -> None:
    results = [transfer(nic, "1000", 1500).run(1, threads=threads) for threads in (1, 2)]
    seconds = int(results[0].servers["stdout"][1]) / 2e9
    assert 1000 * 1500 * 8 / seconds >= 200e9
    assert results[0].digest == results[1].digest


@both_widths
@pytest.mark.parametrize("length", [64, 65, 71, 1500])
def test_a_nic_loses_no_byte_whatever_the_windows(length: int, nic: str | None) -> None:
    limited = transfer(nic, "60", length, "1", "64")
    results = [limited.run(1, threads=1, window_cycles=window) for window in (1600, 25)]
    assert all(list(result.servers["exit_code"]) == [0, 0] for result in results)
    assert results[0].digest == results[1].digest


def test_windows_that_end_between_a_frame_and_an_interrupt_make_no_other_digest() -> None:
    results = [transfer(None, "1000", 1500).run(1, threads=1, window_cycles=window) for window in (1600, 100)]
    assert results[0].digest == results[1].digest
