"""The result of a cluster's run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
    mean and percentiles in microseconds, exact to 0.1 %. `rows` are those of the data frames below, which are
    made when they are asked for: loading pandas takes as long as the simulation of a small cluster.
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
    rows: Mapping[str, Sequence[Mapping[str, Any]]] = field(repr=False, compare=False)

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
        cycles_per_us = report["clock_hz"] / 1e6
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
            rows={
                "servers": _same_columns([_server(server, cycles_per_us) for server in report["servers"]]),
                "switches": _same_columns([_switch(switch) for switch in report["switches"]]),
                "ports": report["ports"],
                "samples": samples,
            },
        )

    @cached_property
    def servers(self) -> pd.DataFrame:
        """A row for each server; times are in microseconds."""
        import pandas as pd

        frame = self._frame("servers")
        for column in ("exit_code", "error"):
            # Values that not every server has: None if missing.
            frame[column] = pd.Series([row[column] for row in self.rows["servers"]], dtype=object)
        return frame

    @cached_property
    def switches(self) -> pd.DataFrame:
        """A row for each switch."""
        return self._frame("switches")

    @cached_property
    def ports(self) -> pd.DataFrame:
        """A row for each port of a server or a switch."""
        return self._frame("ports")

    @cached_property
    def samples(self) -> pd.DataFrame:
        """A row for each selected port and interval: the Gbit/s received and sent, and the dropped frames."""
        return self._frame("samples")

    def _frame(self, name: str) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.rows[name])

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
            **{name: list(self.rows[name]) for name in ("servers", "switches", "ports")},
            "latency": self.latency,
            "threads": self.threads,
            "ranks": self.ranks,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.seconds * 1e3:g} ms simulated in {self.wall_seconds:.2f} s: "
            f"{self.cycles_per_second / 1e6:.1f} MHz on {self._workers()}, digest {self.digest}",
            f"{len(self.rows['servers'])} servers, {len(self.rows['switches'])} switches, "
            f"{self._of_ports('sent'):,} packet-hops, {self._of_ports('dropped'):,} dropped",
        ]
        if self.latency["count"]:
            latency = "  ".join(
                f"{key[:-3]} {value:.2f}" for key, value in self.latency.items() if key != "count"
            )
            lines.append(f"latency in us of {self.latency['count']:,} requests: {latency}")
        return "\n".join(lines)

    def _of_ports(self, counter: str) -> int:
        return sum(port[counter] for port in self.rows["ports"])

    def _workers(self) -> str:
        """A description of the simulating threads and processes."""
        count, name = (self.ranks, "rank") if self.ranks > 1 else (self.threads, "thread")
        return f"{count} {name}{'' if count == 1 else 's'}"


def _same_columns(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the columns of all: counters that not every row has are floats, and NaN if missing."""
    columns = dict.fromkeys(name for row in rows for name in row)
    partial = {name for name in columns if any(name not in row for row in rows)}
    return [
        {name: float(row.get(name, math.nan)) if name in partial else row[name] for name in columns}
        for row in rows
    ]


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
