"""Where the cycles of a simulated server go: call stacks, durations and counters, seen from outside."""

from rackwright.profiling.observed import Profile
from rackwright.profiling.run import profile, profile_boot
from rackwright.profiling.watching import Watching

__all__ = ["Profile", "Watching", "profile", "profile_boot"]
