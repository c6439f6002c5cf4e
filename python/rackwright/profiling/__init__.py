"""Where the cycles of a simulated server go: call stacks, durations and counters, seen from outside."""

from rackwright.profiling.observed import Profile
from rackwright.profiling.run import profile, profile_boot

__all__ = ["Profile", "profile", "profile_boot"]
