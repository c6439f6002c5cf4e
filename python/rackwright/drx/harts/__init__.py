"""Kernels as programs in C for harts, which the unit is compared with."""
