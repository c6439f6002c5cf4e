"""Wang 2025, chapter 2: Daronpon, load balancing across racks."""

from rackwright.reproduce.daronpon import breakdown, capacities, distributions, service_times, thresholds

EXPERIMENTS = (
    thresholds.EXPERIMENT,
    breakdown.EXPERIMENT,
    distributions.EXPERIMENT,
    capacities.EXPERIMENT,
    service_times.EXPERIMENT,
)
"""In the order of their figures."""
