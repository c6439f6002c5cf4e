"""Co-design of hardware and software for warehouse-scale machines, on one ordinary machine.

A `Unit` is a piece of hardware alone with a memory model; a `SnappyUnit` is one of our units. A `Server` is a
core with units beside it, which runs real programs; `run` does so in one call. A `Cluster` joins switches and
servers by links. Results are data classes, and `.frame()` turns them into pandas data frames. Python
describes and reports; the engine simulates.

Names are loaded when they are first used, so that the command line can explain itself before the
engine is built.
"""

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright._engine import Design, EngineError
    from rackwright.cluster import Cluster, Ethernet, HostPort, MemoryBlade, Switch, TopologyError, Traffic
    from rackwright.compression.codec import AcceleratorResult
    from rackwright.compression.combined import CombinedCompressor, CombinedDecompressor
    from rackwright.compression.deflate import DeflateUnit
    from rackwright.compression.snappy import SnappyUnit
    from rackwright.compression.zstd import ZstdUnit
    from rackwright.errors import RackwrightError
    from rackwright.hardware.designs import UnitInfo, design, elaborate, elaborate_class, units
    from rackwright.linux.features import NicFeatures
    from rackwright.machine.parameters import ServerParameters
    from rackwright.machine.programs import compile_bare_metal, compile_network_program, compile_program
    from rackwright.machine.server import CPUS, RunResult, Server, run
    from rackwright.machine.workloads import BareMetal, Linux, Program
    from rackwright.profiling import Profile, profile
    from rackwright.tracing import Trace, read_trace
    from rackwright.unit.alone import Buffer, Unit
    from rackwright.unit.config import UnitConfig
    from rackwright.unit.placements import PLACEMENTS

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
    "compression.combined": ("CombinedCompressor", "CombinedDecompressor"),
    "compression.deflate": ("DeflateUnit",),
    "hardware.designs": ("UnitInfo", "design", "elaborate", "elaborate_class", "units"),
    "errors": ("RackwrightError",),
    "linux.features": ("NicFeatures",),
    "machine.parameters": ("ServerParameters",),
    "profiling": ("Profile", "profile"),
    "machine.programs": ("compile_bare_metal", "compile_network_program", "compile_program"),
    "machine.server": ("CPUS", "RunResult", "Server", "run"),
    "compression.codec": ("AcceleratorResult",),
    "compression.snappy": ("SnappyUnit",),
    "tracing": ("Trace", "read_trace"),
    "compression.zstd": ("ZstdUnit",),
    "unit.alone": ("Buffer", "Unit"),
    "unit.config": ("UnitConfig",),
    "unit.placements": ("PLACEMENTS",),
    "machine.workloads": ("BareMetal", "Linux", "Program"),
}
MOVED = {
    "clocks": "hardware.clocks",
    "codec": "compression.codec",
    "combined": "compression.combined",
    "deflate": "compression.deflate",
    "designs": "hardware.designs",
    "headers": "hardware.headers",
    "internet": "unit.internet",
    "libsnappy": "compression.libsnappy",
    "libz": "compression.libz",
    "libzstd": "compression.libzstd",
    "manifests": "hardware.manifests",
    "nic": "unit.nic",
    "parameters": "machine.parameters",
    "programs": "machine.programs",
    "registers": "hardware.registers",
    "server": "machine.server",
    "snappy": "compression.snappy",
    "store": "unit.store",
    "unit_config": "unit.config",
    "workloads": "machine.workloads",
    "zstd": "compression.zstd",
}
"""Modules that pages of the documentation or examples have named, by their former names."""


class _Moved(MetaPathFinder, Loader):
    """Finds a moved module by its former name, and says the present one: for one version."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package, _, module = name.partition(".")
        return ModuleSpec(name, self) if package == "rackwright" and module in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module of the present name in its place."""
        former = module.__name__
        present = f"rackwright.{MOVED[former.partition('.')[2]]}"
        warnings.warn(f"`{former}` is now `{present}`", DeprecationWarning, stacklevel=2)
        sys.modules[former] = import_module(present)


sys.meta_path.append(_Moved())
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rackwright' has no attribute {name!r}")
    return getattr(import_module(f"rackwright.{_HOME_OF[name]}"), name)
