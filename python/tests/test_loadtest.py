"""`rw loadtest` from end to end, on addresses of this machine."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import REPOSITORY, rw

from rackwright._engine import EngineError
from rackwright.cli.app import command_line
from rackwright.cluster.distributions import Bimodal, Constant, Empirical, Exponential, LogNormal
from rackwright.cluster.loads import Bursty, Periodic, Poisson, Trace
from rackwright.errors import RackwrightError
from rackwright.loadtest import LoadPlan, Memcached, SimulatedServices, WorkServices, endpoint, put_load
from rackwright.loadtest.words import parse_arrivals, parse_work

LATENCY_KEYS = ["count", "mean_us", "p50_us", "p90_us", "p95_us", "p99_us", "p999_us", "max_us"]
REPORT_KEYS = [
    "plan",
    "sent",
    "answered",
    "lost",
    "late",
    "malformed",
    "refused",
    "seconds",
    "offered_per_second",
    "answered_per_second",
    "latency",
    "latency_from_send",
    "send_delay",
    "buckets",
]


@contextmanager
def served(*arguments: object) -> Iterator[tuple[list[str], subprocess.Popen[str]]]:
    """`rw loadtest --serve` with these arguments: its addresses and its process."""
    command = [str(REPOSITORY / "rw"), "loadtest", "--serve", "--json", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = next(line for line in process.stderr if line.startswith("at work on "))
        yield line.removeprefix("at work on ").strip().split(", "), process
    finally:
        process.kill()
        process.communicate()


def test_a_load_on_services_is_answered_and_told_in_json() -> None:
    with served("127.0.0.1:0", "127.0.0.1:0", "--cores", 2) as (addresses, process):
        result = rw(
            "loadtest", *addresses, "--rate", 2000, "--requests", 400, "--work", "exponential:300", "--json"
        )
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=20)
    report = result.json()
    assert list(report) == REPORT_KEYS
    assert list(report["latency"]) == LATENCY_KEYS
    assert (result.status, report["sent"], report["answered"], report["lost"]) == (0, 400, 400, 0)
    assert report["latency"]["mean_us"] > 300
    assert sum(count for _, count in report["buckets"]) == report["latency"]["count"] == 400
    record = json.loads(output)
    assert list(record) == ["addresses", "answered", "malformed", "seconds"]
    assert (process.returncode, record["answered"], record["malformed"]) == (0, 400, 0)


def test_the_table_and_a_load_that_nobody_answers() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        result = rw("loadtest", address, "--requests", 5, "--rate", 1000, "--timeout-ms", 20)
    assert result.status == 1
    assert "5 after 20 ms" in result.stdout
    assert "99.9 %" in result.stdout


def test_an_error_of_the_command_line_is_one_line() -> None:
    result = rw("loadtest", "nowhere")
    assert (result.status, result.stdout) == (1, "")
    assert "HOST:PORT" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["127.0.0.1:99999"], "HOST:PORT"),
        ([], "--simulated POLICY"),
        (["127.0.0.1:1", "--simulated", "daronpon"], "--simulated POLICY"),
        (["--simulated", "daronpon", "--rate", "0"], "0 is not a number of requests per second"),
        (["--simulated", "best"], "no policy is called 'best'"),
        (["--simulated", "daronpon", "--timeout-ms", "0"], "0 us is not a time"),
        (["127.0.0.1:1", "--work", "gamma:3"], "log-normal:MEAN,SIGMA"),
        (["127.0.0.1:1", "--work", "bimodal:3"], "bimodal:SHORT,LONG,FRACTION"),
        (["127.0.0.1:1", "--work", "trace:/does/not/exist"], "/does/not/exist: cannot be read"),
        (["127.0.0.1:1", "--arrivals", "bursty:20,0.5,10"], "FRACTION is 1 at most"),
        (["127.0.0.1:1", "--arrivals", "often"], "poisson, constant"),
        (["127.0.0.1:1", "--rate", "-3"], "-3 is not a number of requests per second"),
        (["127.0.0.1:1", "--timeout-ms", "0"], "0 us is not a time"),
    ],
)
def test_bad_input_says_what_to_do(arguments: list[str], says: str) -> None:
    with pytest.raises((RackwrightError, EngineError), match=re.escape(says)):
        command_line(["loadtest"])(["loadtest", *arguments], standalone_mode=False)


def test_simulated_services_get_the_same_load_and_give_the_same_keys() -> None:
    plan = "--rate 60000 --arrivals bursty:2,0.25,200 --work log-normal:25,0.8 --requests 5000 --warmup 100"
    command = ["loadtest", "--simulated", "daronpon", *plan.split(), "--json"]
    first, again = rw(*command), rw(*command)
    report = first.json()
    assert report == again.json()
    assert list(report) == REPORT_KEYS
    assert list(report["latency"]) == LATENCY_KEYS
    assert report["plan"]["targets"]["policy"] == "daronpon"
    assert (report["sent"], report["answered"], report["lost"]) == (5000, 5000, 0)
    # The warm-up ends with the time in which so many requests are due on the average.
    assert 4800 < report["latency"]["count"] < 5000
    assert sum(count for _, count in report["buckets"]) == report["latency"]["count"]
    assert report["latency"]["mean_us"] > 25 + 52
    assert report["offered_per_second"] == pytest.approx(60_000, rel=0.1)


def test_a_simulated_queue_waits_as_theory_says() -> None:
    services = SimulatedServices("client-random", racks=1, hop_us=1.0, server_us=1.0)
    plan = LoadPlan(services, Poisson(28_000), Exponential(25), requests=200_000, warmup=10_000)
    result = put_load(plan)
    # M/M/1 at 70 %, and six ways of a microsecond.
    assert result.latency.mean_us == pytest.approx(25 / 0.3 + 6, rel=0.05)


def test_simulated_traces_are_replayed_and_what_is_dead_is_lost() -> None:
    services = SimulatedServices("daronpon", racks=2)
    result = put_load(LoadPlan(services, Trace([0, 100, 5000]), Empirical([50]), requests=10, warmup=1))
    assert (result.sent, result.answered, result.latency.count) == (3, 3, 2)
    assert result.latency.p50_us == pytest.approx(50 + 4 * 12.5 + 2, rel=0.05)
    late = put_load(LoadPlan(services, Periodic(1000), Constant(500), requests=10, timeout_ms=0.2))
    assert (late.lost, late.latency.count) == (10, 0)
    assert late.late >= 9
    with pytest.raises(RackwrightError, match="speak no memcached"):
        put_load(LoadPlan(services, Poisson(10), protocol=Memcached("get key")))


def test_words_are_distributions(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("1\n2.5\n\n4\n")
    words: dict[str, Any] = {
        "constant:3": Constant(3),
        "exponential:25": Exponential(25),
        "bimodal:13,130,0.1": Bimodal(13, 130, 0.1),
        "log-normal:25,0.8": LogNormal(25, 0.8),
        f"trace:{trace}": Empirical([1, 2.5, 4]),
    }
    assert {text: parse_work(text) for text in words} == words
    arrivals: dict[str, Any] = {
        "poisson": Poisson(100),
        "constant": Periodic(100),
        f"trace:{trace}": Trace([1, 2.5, 4]),
        "bursty:4,0.25,50": Bursty(0, 400, 150, 50),
    }
    assert {text: parse_arrivals(text, 100) for text in arrivals} == arrivals
    trace.write_text("1\nx\n")
    with pytest.raises(RackwrightError, match="trace:2: 'x' is no number"):
        parse_work(f"trace:{trace}")


def test_names_of_hosts_are_numbers() -> None:
    assert endpoint("127.0.0.1:53") == "127.0.0.1:53"
    assert endpoint("[::1]:53") == "[::1]:53"


def test_one_seed_makes_one_load() -> None:
    with WorkServices(["127.0.0.1:0"], cores=4) as services:
        plan = LoadPlan(services.addresses, Trace([0, 100, 5000]), Constant(1000), requests=10)
        result = put_load(plan)
        assert (result.sent, result.answered) == (3, 3)
        assert services.answered == 3
        assert services.is_well
