"""Protocol Buffers on the simulated server: by the official library, and by the units."""

from rackwright.protobuf.measure import OPERATIONS, TARGETS, measure
from rackwright.protobuf.messages import read_messages
from rackwright.protobuf.rows import Row, Summary, summarize
from rackwright.protobuf.suite import Benchmark, Suite

__all__ = [
    "OPERATIONS",
    "TARGETS",
    "Benchmark",
    "Row",
    "Suite",
    "Summary",
    "measure",
    "read_messages",
    "summarize",
]
