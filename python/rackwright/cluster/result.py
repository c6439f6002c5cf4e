"""The result of a cluster's run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_PERCENTILES = ("p50", "p90", "p95", "p99", "p999", "max")


@dataclass(frozen=True)
class ClusterResult:
    """The results of a cluster.

    `digest` is the same for equal runs. `cycles` are of `clock_hz`; `wall_seconds` is the time of the
    simulation, on `threads` threads of `ranks` processes. `quiet` is true if no event was pending at the end;
    `error` is the reason of an early end: a lost rank. `latency` sums up the requests of all clients: count,
    mean and percentiles in microseconds, exact to 0.1 %. `servers`, `switches` and `ports` are data frames
    with a row for each; times in them are in microseconds. `samples` has a row for each selected port and
    interval: the Gbit/s received and sent, and the dropped frames.
    """

    digest: str
    cycles: int
    clock_hz: int
    wall_seconds: float
    threads: int
    ranks: int
    quiet: bool
    error: str | None
    latency: dict[str, float]
    servers: pd.DataFrame = field(repr=False, compare=False)
    switches: pd.DataFrame = field(repr=False, compare=False)
    ports: pd.DataFrame = field(repr=False, compare=False)
    samples: pd.DataFrame = field(repr=False, compare=False)

    @classmethod
    def from_report(
        cls,
        report: Mapping[str, Any],
        *,
        wall_seconds: float,
        threads: int,
        ranks: int,
        quiet: bool,
        error: str | None,
        samples: Sequence[Mapping[str, Any]],
    ) -> ClusterResult:
        """Constructed from the engine's report."""
        import pandas as pd

        cycles_per_us = report["clock_hz"] / 1e6
        servers = [_server(server, cycles_per_us) for server in report["servers"]]
        return cls(
            digest=report["digest"],
            cycles=report["cycles"],
            clock_hz=report["clock_hz"],
            wall_seconds=wall_seconds,
            threads=threads,
            ranks=ranks,
            quiet=quiet,
            error=error,
            latency=_times(report["latency"], cycles_per_us),
            servers=_frame_of(servers),
            switches=pd.DataFrame([_switch(switch) for switch in report["switches"]]),
            ports=pd.DataFrame(report["ports"]),
            samples=pd.DataFrame(samples),
        )

    @property
    def cycles_per_second(self) -> float:
        """Simulated cycles per second of the simulation."""
        return self.cycles / self.wall_seconds

    @property
    def seconds(self) -> float:
        """Simulated time."""
        return self.cycles / self.clock_hz

    def record(self) -> dict[str, Any]:
        """The result as plain data; see docs/your-first-cluster.md for the keys."""
        return {
            "digest": self.digest,
            "cycles": self.cycles,
            "clock_hz": self.clock_hz,
            "wall_seconds": self.wall_seconds,
            "cycles_per_second": self.cycles_per_second,
            "quiet": self.quiet,
            "error": self.error,
            "servers": self.servers.to_dict("records"),
            "switches": self.switches.to_dict("records"),
            "ports": self.ports.to_dict("records"),
            "latency": self.latency,
            "threads": self.threads,
            "ranks": self.ranks,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.seconds * 1e3:g} ms simulated in {self.wall_seconds:.2f} s: "
            f"{self.cycles_per_second / 1e6:.1f} MHz on {self._workers()}, digest {self.digest}",
            f"{len(self.servers)} servers, {len(self.switches)} switches, "
            f"{int(self.ports['sent'].sum()):,} packet-hops, {int(self.ports['dropped'].sum()):,} dropped",
        ]
        if self.latency["count"]:
            latency = "  ".join(
                f"{key[:-3]} {value:.2f}" for key, value in self.latency.items() if key != "count"
            )
            lines.append(f"latency in us of {self.latency['count']:,} requests: {latency}")
        return "\n".join(lines)

    def _workers(self) -> str:
        """A description of the simulating threads and processes."""
        count, name = (self.ranks, "rank") if self.ranks > 1 else (self.threads, "thread")
        return f"{count} {name}{'' if count == 1 else 's'}"


def _frame_of(servers: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each server. Values that not every server has, such as an exit code, are None if missing."""
    import pandas as pd

    frame = pd.DataFrame(servers)
    for column in ("exit_code", "error"):
        frame[column] = pd.Series([server[column] for server in servers], dtype=object)
    return frame


def _server(server: Mapping[str, Any], cycles_per_us: float) -> dict[str, Any]:
    separate = ("latency", "wait", "busy_cycles", "nic_events")
    row = {key: value for key, value in server.items() if key not in separate}
    row |= {f"nic_{name}": count for name, count in server["nic_events"].items()}
    row["busy_us"] = server["busy_cycles"] / cycles_per_us
    for kind in ("latency", "wait"):
        row |= {f"{kind}_{key}": value for key, value in _times(server[kind], cycles_per_us).items()}
    return row


def _times(report: Mapping[str, Any], cycles_per_us: float) -> dict[str, float]:
    times = {f"{key}_us": report[key] / cycles_per_us for key in _PERCENTILES}
    return {"count": report["count"], "mean_us": report["mean"] / cycles_per_us, **times}


def _switch(switch: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of a dispatcher become columns of their own, `dispatch_requests` and so on."""
    row = {key: value for key, value in switch.items() if key != "dispatched"}
    return row | {f"dispatch_{name}": count for name, count in switch["dispatched"].items()}
