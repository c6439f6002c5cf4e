"""Benchmarks of the product itself: the speed of the units and of the simulation.

Times measured on the host are reported as a ratio to a baseline of the same run, because machines differ and
are noisy.
"""
