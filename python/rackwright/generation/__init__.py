"""Benchmark suites generated from statistics of a fleet: `rw generate`.

A profile describes calls of compression: their sizes, ratios, levels and windows, by direction. The generator
draws targets from it, and assembles a file for each of them from chunks of corpora, so that the complete
suite resembles the fleet without containing any of its data. The idea is that of HyperCompressBench
(Karandikar 2024, section 7.4).

    from rackwright.generation import generate, load_profile

    suite = generate(load_profile("snappy-fleet"), folder, files=500, seed=1)
    print(suite.frame())
"""

from rackwright.generation.profile import PROFILES, Profile, load_profile
from rackwright.generation.suite import Suite, generate, load_suite

__all__ = ["PROFILES", "Profile", "Suite", "generate", "load_profile", "load_suite"]
