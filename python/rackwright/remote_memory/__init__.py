"""Programs with little local memory, and the rest of their pages on memory blades across the network."""

from rackwright.remote_memory.measure import Paging, PagingResult, run_paged
from rackwright.remote_memory.parts import FaultParts, fault_parts
from rackwright.remote_memory.programs import WORKLOADS, paging_program, workload
from rackwright.remote_memory.sweep import sweep, sweep_page

__all__ = [
    "WORKLOADS",
    "FaultParts",
    "Paging",
    "PagingResult",
    "fault_parts",
    "paging_program",
    "run_paged",
    "sweep",
    "sweep_page",
    "workload",
]
