"""Load on real and simulated services: an open-loop client, and a service with requested durations.

from rackwright.cluster import Exponential, Poisson
from rackwright.loadtest import LoadPlan, WorkServices, put_load

with WorkServices(["127.0.0.1:0"]) as services:
    result = put_load(LoadPlan(services.addresses, Poisson(rate=2000), work=Exponential(mean_us=100)))
print(result.latency.p99_us)
"""

from rackwright.loadtest.address import endpoint
from rackwright.loadtest.plan import LoadPlan, Memcached, Protocol, Work
from rackwright.loadtest.result import LoadLatency, LoadResult
from rackwright.loadtest.run import put_load
from rackwright.loadtest.services import WorkServices
from rackwright.loadtest.simulated import SimulatedServices

__all__ = [
    "LoadLatency",
    "LoadPlan",
    "LoadResult",
    "Memcached",
    "Protocol",
    "SimulatedServices",
    "Work",
    "WorkServices",
    "endpoint",
    "put_load",
]
