"""Traces: every instruction that harts have executed, as `rw profile --trace` writes them."""

from rackwright.tracing.trace import Trace, read_trace

__all__ = ["Trace", "read_trace"]
