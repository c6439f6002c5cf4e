"""The policies of a dispatcher, in a simulated switch and on real sockets alike."""

from __future__ import annotations

from typing import Any, Literal

PolicyName = Literal[
    "daronpon",
    "shortest-queue",
    "rack-local",
    "random",
    "round-robin",
    "power-of-two",
    "bounded-queue",
    "rack-sched",
]
"""Names of the policies; `engine/crates/network/dispatch/src/policy.rs` describes them."""


def describe_policy(name: str, *, bound: int, gossip: bool = True, piggyback: bool = True) -> Any:
    """A policy as the engine reads it. `bound` belongs to `bounded-queue`, the other two to `daronpon`."""
    if name == "daronpon":
        return {"daronpon": {"gossip": gossip, "piggyback": piggyback}}
    return {"bounded-queue": {"bound": bound}} if name == "bounded-queue" else name
