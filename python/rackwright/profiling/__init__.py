"""The distribution of a server's cycles: call stacks, durations and counters, without side effects."""

from rackwright.profiling.observed import Profile
from rackwright.profiling.run import profile, profile_boot
from rackwright.profiling.watching import Watching

__all__ = ["Profile", "Watching", "profile", "profile_boot"]
