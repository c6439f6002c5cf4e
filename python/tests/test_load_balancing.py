"""Dispatching switches in clusters: who wins, what breaks, and what comes back."""

from __future__ import annotations

import pytest

from rackwright.cluster import (
    ClusterResult,
    Constant,
    Dispatch,
    LoadBalancing,
    Switch,
    TopologyError,
    Traffic,
)
from rackwright.cluster.load_balancing import POLICIES
from rackwright.reproduce import queueing_theory

MS = 20


def run(balancing: LoadBalancing, until_ms: float = MS, threads: int = 1) -> ClusterResult:
    return balancing.cluster().run(until_ms=until_ms, threads=threads)


def counts(result: ClusterResult) -> dict[str, int]:
    """What all dispatchers have done together."""
    sums = result.switches.filter(like="dispatch_").sum()
    return {str(name).removeprefix("dispatch_"): int(count) for name, count in sums.items()}


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_answers_every_request(policy: str) -> None:
    result = run(LoadBalancing(policy=policy, load=0.6, warmup_us=0))
    servers = result.servers
    under_way = servers["requests"].sum() - servers["answered"].sum()
    assert servers["requests"].sum() > 2000
    assert 0 <= under_way < 60
    assert servers["lost"].sum() == 0
    assert result.ports["dropped"].sum() == 0


def test_the_paper_is_right_about_the_order() -> None:
    def p99(policy: str) -> float:
        return run(LoadBalancing(policy=policy, load=0.85, warmup_us=5000), until_ms=400).latency["p99_us"]

    ideal, daronpon, two, random = map(p99, ("ideal", "daronpon", "client-power-of-two", "client-random"))
    assert ideal < daronpon < two < random


def test_threads_change_nothing() -> None:
    balancing = LoadBalancing(load=0.8, racks=4, replicas=2)
    assert run(balancing, threads=1).digest == run(balancing, threads=2).digest


def test_gossip_and_piggyback_are_apart() -> None:
    silent = counts(run(LoadBalancing(load=0.8, dispatch=Dispatch(gossip=False))))
    assert silent["gossip"] == 0
    assert silent["redirected"] > 0
    both = counts(run(LoadBalancing(load=0.8)))
    assert both["gossip"] == 2 * (both["doubled"] + both["halved"]) > 0


def test_a_dead_replica_gets_nothing_until_it_is_back() -> None:
    """Only what it had, or was on its way to it, is lost."""
    balancing = LoadBalancing(load=0.5, services=1, warmup_us=0, outages_us={"server0-1-0": (5000, 12_000)})
    result = run(balancing, until_ms=30)
    served = result.servers.set_index("name")["served"]
    seen = counts(result)
    assert seen["failures"] == 1
    assert seen["probes"] >= 1
    assert 0 < seen["requests"] - result.servers["answered"].sum() < 60
    # It worked for 23 of 30 ms, of which the time until it was found to be back is short.
    assert 0.6 < served["server0-1-0"] / served["server0-0-0"] < 0.9


def test_a_rack_whose_switch_dies_comes_back_and_is_believed() -> None:
    balancing = LoadBalancing(load=0.4, services=1, warmup_us=0, outages_us={"rack1": (5000, 10_000)})
    result = run(balancing, until_ms=40)
    lost = int(result.switches["lost"].sum())
    missing = int(result.servers["requests"].sum() - result.servers["answered"].sum())
    assert lost > 50
    assert missing <= lost + 60
    assert counts(result)["strangers"] == 0
    served = result.servers.set_index("name")["served"]
    assert served["server0-1-0"] > 0.6 * served["server0-0-0"]


def test_counters_survive_loss() -> None:
    """Of all frames 1 % are lost: what is under way must not seem to grow."""
    result = run(LoadBalancing(load=0.5, warmup_us=0, loss=0.01), until_ms=200)
    seen = counts(result)
    assert seen["expired"] > 50
    assert seen["failures"] == 0
    assert seen["served"] - seen["answered"] - seen["expired"] < 60
    assert result.latency["p99_us"] < 400


def test_frames_may_overtake_each_other() -> None:
    """Requests, answers and reports, by up to two service times: nothing is lost, and counts stay true."""
    balancing = LoadBalancing(load=0.7, warmup_us=0, late=0.1, late_us=50)
    result = run(balancing, until_ms=100)
    seen = counts(result)
    assert seen["stale"] > 50
    assert seen["redirected"] > 1000
    # An answer is late by 4 x 50 us at most, and nothing is forgotten before 6000 us.
    assert (seen["expired"], seen["failures"], seen["strays"]) == (0, 0, 0)
    assert 0 <= seen["served"] - seen["answered"] < 60
    assert result.servers["lost"].sum() == 0
    assert result.digest == run(balancing, until_ms=100, threads=2).digest
    assert result.digest != run(LoadBalancing(load=0.7, warmup_us=0), until_ms=100).digest


def test_a_thousand_servers_in_32_racks_talk_less_than_three_racks() -> None:
    def messages(balancing: LoadBalancing, until_ms: float) -> float:
        seen = counts(run(balancing, until_ms))
        assert seen["requests"] > 10_000
        return (seen["gossip"] + seen["truths"] + seen["redirected"]) / seen["requests"]

    few = messages(LoadBalancing(load=0.7, services=4, warmup_us=0), until_ms=100)
    many = messages(LoadBalancing(load=0.7, racks=32, services=4, replicas=8, warmup_us=0), until_ms=1)
    assert many < few


def test_what_is_impossible_is_refused() -> None:
    with pytest.raises(TopologyError, match="no policy is called 'best'; there are daronpon"):
        LoadBalancing(policy="best").cluster()
    with pytest.raises(TopologyError, match="peer_timeout_ns must be longer than truth_interval_ns"):
        LoadBalancing(dispatch=Dispatch(peer_timeout_us=1, truth_interval_us=2)).cluster()
    for odds in ({"loss": -0.1}, {"late": 1.5}):
        with pytest.raises(TopologyError, match="is not a fraction between 0 and 1"):
            LoadBalancing(**odds).cluster()  # type: ignore[arg-type]
    with pytest.raises(TopologyError, match="outages_us of `nobody`"):
        LoadBalancing(outages_us={"nobody": (1, 2)}).cluster()
    with pytest.raises(TopologyError, match="no policy of a dispatching switch is called 'x'"):
        Switch("tor", dispatch=Dispatch(policy="x")).describe({})  # type: ignore[arg-type]
    assert Traffic("server").describe({})["outages_us"] == []


def mean_us(balancing: LoadBalancing, requests: int) -> float:
    """The mean time from request to answer without what the network takes."""
    result = run(balancing, balancing.duration_ms(requests))
    fixed = 2 * (2 * balancing.hop_us + balancing.server_us)
    return result.latency["mean_us"] - fixed


@pytest.mark.parametrize("policy", ["client-random", "ideal"])
def test_random_and_central_queues_wait_as_theory_says(policy: str) -> None:
    """A random split makes M/M/1 queues, one queue for three cores is M/M/3."""
    load = 0.7
    cores = 3 if policy == "ideal" else 1
    wait, _ = queueing_theory.exponential(load, cores, 99)
    measured = mean_us(LoadBalancing(policy=policy, load=load, services=1), 400_000)
    assert measured == pytest.approx(25 * (1 + wait), rel=0.02)


def test_constant_times_wait_as_theory_says() -> None:
    wait, _ = queueing_theory.constant(0.7, 99)
    balancing = LoadBalancing(policy="client-random", service=Constant(25), load=0.7, services=1)
    assert mean_us(balancing, 200_000) == pytest.approx(25 * (1 + wait), rel=0.02)


def test_two_choices_reach_their_mean_field_limit() -> None:
    """The mean when the shorter of two queues is chosen (Mitzenmacher 2001): the sum of load^(2^i - 2)."""
    load = 0.8
    limit = sum(load ** (2**i - 2) for i in range(1, 12))
    balancing = LoadBalancing(
        policy="rack-sched",
        load=load,
        racks=1,
        services=1,
        replicas=400,
        hop_us=0.1,
        server_us=0.05,
        warmup_us=1000,
    )
    assert mean_us(balancing, 300_000) == pytest.approx(25 * limit, rel=0.02)
