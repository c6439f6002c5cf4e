"""Benchmarks of the product itself: how fast the units are, and how fast the simulation is.

What is timed on the host is given as a ratio to a baseline of the same run, because machines differ
and are noisy.
"""
