"""Protocol Buffers on the simulated server: by the official library, and by the units."""

from rackwright.protobuf.measure import OPERATIONS, TARGETS, Way, measure
from rackwright.protobuf.messages import read_messages
from rackwright.protobuf.program import compile_service
from rackwright.protobuf.rows import Row, Summary, geometric_mean, summarize
from rackwright.protobuf.suite import Benchmark, Suite

__all__ = [
    "OPERATIONS",
    "TARGETS",
    "Benchmark",
    "Row",
    "Suite",
    "Summary",
    "Way",
    "compile_service",
    "geometric_mean",
    "measure",
    "read_messages",
    "summarize",
]
