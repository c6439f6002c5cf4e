"""Whole chips as RTL: a value, its checks, the Verilog that Rocket Chip makes of it, and runs of it."""

from rackwright.soc.check import checked
from rackwright.soc.compose import compose
from rackwright.soc.value import CacheConfig, HartConfig, Soc

__all__ = ["CacheConfig", "HartConfig", "Soc", "checked", "compose"]
