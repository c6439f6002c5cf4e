"""A process that simulates a cluster span by span, on request.

    python -m rackwright.benchmarks.cluster_worker SCENARIO THREADS

It prints a line when the cluster has warmed up, and then, for each line that it reads, a line in JSON about
the next span: `cycles`, `seconds`, `cpu_seconds` and the `digest` at its end.
"""

from __future__ import annotations

import json
import sys
import time

from rackwright import _engine
from rackwright.benchmarks.cluster_loads import SCENARIOS


def _span(machine: _engine.Cluster, cycles: int) -> dict[str, float | str]:
    wall, cpu = time.perf_counter(), time.process_time()
    machine.run(machine.cycle + cycles)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    digest = json.loads(machine.report())["digest"]
    return {"cycles": cycles, "seconds": wall, "cpu_seconds": cpu, "digest": digest}


def main() -> None:
    """Simulates until the end of the input."""
    scenario, threads = SCENARIOS[sys.argv[1]], int(sys.argv[2])
    cluster = scenario.make()
    cycles_per_us = cluster.clock_hz / 1e6
    machine = cluster.machine()
    machine.set_threads(threads)
    machine.run(round(scenario.warm_us * cycles_per_us))
    print("ready", flush=True)
    for _ in sys.stdin:
        print(json.dumps(_span(machine, round(scenario.span_us * cycles_per_us))), flush=True)


if __name__ == "__main__":
    main()
