"""Co-design of hardware and software for warehouse-scale machines, on one ordinary machine.

A `Unit` is a piece of hardware alone with a memory model; a `SnappyUnit` is one of our units. A `Server` is a
core with units beside it, which runs real programs; `run` does so in one call. A `Cluster` joins switches and
servers by links. Results are data classes, and `.frame()` turns them into pandas data frames. Python
describes and reports; the engine simulates.

Names are loaded when they are first used, so that the command line can explain itself before the
engine is built.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright._engine import Design, EngineError
    from rackwright.cluster import Cluster, Ethernet, HostPort, MemoryBlade, Switch, TopologyError, Traffic
    from rackwright.codec import AcceleratorResult
    from rackwright.combined import CombinedCompressor, CombinedDecompressor
    from rackwright.deflate import DeflateUnit
    from rackwright.designs import UnitInfo, design, elaborate, elaborate_class, units
    from rackwright.errors import RackwrightError
    from rackwright.linux.features import NicFeatures
    from rackwright.parameters import ServerParameters
    from rackwright.profiling import Profile, profile
    from rackwright.programs import compile_bare_metal, compile_network_program, compile_program
    from rackwright.server import CPUS, RunResult, Server, run
    from rackwright.snappy import SnappyUnit
    from rackwright.tracing import Trace, read_trace
    from rackwright.unit import Buffer, Unit
    from rackwright.unit_config import PLACEMENTS, UnitConfig
    from rackwright.workloads import BareMetal, Linux, Program
    from rackwright.zstd import ZstdUnit

__all__ = [
    "CPUS",
    "PLACEMENTS",
    "AcceleratorResult",
    "BareMetal",
    "Buffer",
    "Cluster",
    "CombinedCompressor",
    "CombinedDecompressor",
    "DeflateUnit",
    "Design",
    "EngineError",
    "Ethernet",
    "HostPort",
    "Linux",
    "MemoryBlade",
    "NicFeatures",
    "Profile",
    "Program",
    "RackwrightError",
    "RunResult",
    "Server",
    "ServerParameters",
    "SnappyUnit",
    "Switch",
    "TopologyError",
    "Trace",
    "Traffic",
    "Unit",
    "UnitConfig",
    "UnitInfo",
    "ZstdUnit",
    "compile_bare_metal",
    "compile_network_program",
    "compile_program",
    "design",
    "elaborate",
    "elaborate_class",
    "profile",
    "read_trace",
    "run",
    "units",
]

_HOMES = {
    "_engine": ("Design", "EngineError"),
    "cluster": ("Cluster", "Ethernet", "HostPort", "MemoryBlade", "Switch", "TopologyError", "Traffic"),
    "combined": ("CombinedCompressor", "CombinedDecompressor"),
    "deflate": ("DeflateUnit",),
    "designs": ("UnitInfo", "design", "elaborate", "elaborate_class", "units"),
    "errors": ("RackwrightError",),
    "linux.features": ("NicFeatures",),
    "parameters": ("ServerParameters",),
    "profiling": ("Profile", "profile"),
    "programs": ("compile_bare_metal", "compile_network_program", "compile_program"),
    "server": ("CPUS", "RunResult", "Server", "run"),
    "codec": ("AcceleratorResult",),
    "snappy": ("SnappyUnit",),
    "tracing": ("Trace", "read_trace"),
    "zstd": ("ZstdUnit",),
    "unit": ("Buffer", "Unit"),
    "unit_config": ("PLACEMENTS", "UnitConfig"),
    "workloads": ("BareMetal", "Linux", "Program"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rackwright' has no attribute {name!r}")
    return getattr(import_module(f"rackwright.{_HOME_OF[name]}"), name)
