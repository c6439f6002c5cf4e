"""Table 2.3: latencies and rates of a thousand nodes, by the distance of the partners."""

from __future__ import annotations

import runpy

from bootstrap.paths import REPOSITORY
from rackwright.cluster import ClusterResult
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.firesim import rocket_nodes
from rackwright.reproduce.reference import compare

EXAMPLE = REPOSITORY / "examples" / "clusters" / "thousand_nodes.py"
DISTANCES = {"rack": "in one rack", "aggregation": "across an aggregation switch", "root": "across the root"}
WARMUP_MS = 1.0
UNTIL_MS, QUICK_UNTIL_MS = 50.0, 10.0


def quantities(distance: str, result: ClusterResult, until_ms: float) -> dict[str, float]:
    """The columns of the table, for partners at one distance."""
    where = DISTANCES[distance]
    return {
        f"median, partners {where}": result.latency["p50_us"],
        f"95th percentile, partners {where}": result.latency["p95_us"],
        f"requests per second, partners {where}": result.latency["count"] / (until_ms - WARMUP_MS) * 1e3,
        f"frames dropped, partners {where}": int(result.ports["dropped"].sum()),
        f"speed, partners {where}": result.cycles_per_second / 1e6,
    }


def measure(settings: Settings) -> Outcome:
    """The table, and the simulation speed."""
    until_ms = QUICK_UNTIL_MS if settings.quick else UNTIL_MS
    thousand_nodes = runpy.run_path(str(EXAMPLE))["thousand_nodes"]
    measured: dict[str, float] = {}
    digests = []
    for distance, where in DISTANCES.items():
        settings.detail(f"firesim-t2.3: partners {where}")
        result = thousand_nodes(distance).run(until_ms=until_ms)
        measured |= quantities(distance, result, until_ms)
        digests.append(result.digest)
    with_cores, others = rocket_nodes.measure(settings)
    return Outcome(compare("firesim/table_2_3.csv", measured | with_cores), digests=[*digests, *others])


EXPERIMENT = Experiment(
    "firesim-t2.3",
    "A thousand nodes under load",
    "Karandikar 2024, section 2.5, table 2.3",
    "512 servers and 512 load generators in 32 racks, 37 switches, links of 2 us: of `traffic` fidelity, and "
    "with `rocket` cores, NICs in RTL and memcached on bare metal.",
    measure,
)
