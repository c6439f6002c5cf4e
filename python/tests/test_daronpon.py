"""The dispatcher in RTL against the policy crate, frame by frame, and in the switches of a cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rackwright import _engine
from rackwright.cluster import Cluster, Dispatch, Poisson, Switch, TopologyError, Traffic
from rackwright.cluster.distributions import Constant
from rackwright.hardware.clocks import ClockSource, clock_of
from rackwright.hardware.designs import design, elaborate

TABLES = {"services": 3, "peers": 4}
SMALL = {**TABLES, "flights": 256}
SMALL_DISPATCH = Dispatch(tracked=SMALL["flights"], unit_parameters=TABLES)


@pytest.fixture(scope="module")
def unit() -> _engine.Design:
    """A dispatcher with tables as small as the exercise's racks."""
    return design("daronpon", SMALL, assertions=True)


@pytest.mark.parametrize("seed", range(6))
def test_unit_and_policy_crate_send_the_same_bytes(unit: _engine.Design, seed: int) -> None:
    """Alone and in bursts: requests, answers, reports, ticks, and what is damaged, forged or for others."""
    counts = _engine.exercise_daronpon(unit, seed, 1500)
    assert counts["requests"] > 300
    assert counts["served"] > 100
    assert counts["malformed"] > 5
    assert counts["forged"] > 5


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_unit_and_policy_crate_stay_the_same(unit: _engine.Design, seed: int) -> None:
    """The same for longer."""
    assert _engine.exercise_daronpon(unit, seed, 20_000)["sent"] > 5000


def test_exercises_reach_what_the_unit_does(unit: _engine.Design) -> None:
    """Every count that the unit can have is other than zero after some of them."""
    never = {"held", "duplicates", "queue_full", "discarded"}
    total: dict[str, int] = {}
    for seed in range(6):
        for name, count in _engine.exercise_daronpon(unit, seed, 1500).items():
            total[name] = total.get(name, 0) + count
    assert {name for name, count in total.items() if not count} == never


def test_a_hundred_million_frames_of_64_bytes_a_second(unit: _engine.Design) -> None:
    """Requests and answers in turn, back to back, at the clock that synthesis supports."""
    cycles = _engine.pace_daronpon(unit, 400)
    assert 9 <= cycles <= 11
    clock = clock_of(elaborate("daronpon"))
    assert clock.source is not ClockSource.assumed
    assert clock.hertz / cycles >= 100e6


def _racks(fidelity: str, dispatch: Dispatch) -> Cluster:
    core = Switch("core")
    replicas = []
    for rack in range(3):
        top = Switch(f"rack{rack}", dispatch=dispatch, fidelity=fidelity)  # type: ignore[arg-type]
        core.connect(top)
        for number in range(2):
            replica = Traffic(f"server{rack}-{number}", service=Constant(5.0))
            top.connect(replica)
            replicas.append(replica)
    core.connect(Traffic("client", sends=Poisson(900_000), to=replicas))
    return Cluster(core, seed=5)


def test_switches_with_rtl_decide_as_those_with_the_model() -> None:
    """The digest covers every frame on every link and every count."""
    model, rtl = (_racks(fidelity, SMALL_DISPATCH).run(until_ms=0.5) for fidelity in ("model", "rtl"))
    assert model.digest == rtl.digest
    assert rtl.switches["dispatch_redirected"].sum() > 0


def test_what_the_unit_does_not_do_is_refused() -> None:
    """With a line that says what."""
    with pytest.raises(TopologyError, match="has no policy that draws"):
        _racks("rtl", replace(SMALL_DISPATCH, policy="random")).run(until_ms=0.01)
    with pytest.raises(TopologyError, match="fidelity `model` or `rtl`"):
        _racks("hdl", Dispatch())
    with pytest.raises(TopologyError, match="only a switch that dispatches"):
        Cluster(Switch("alone", fidelity="rtl"))
