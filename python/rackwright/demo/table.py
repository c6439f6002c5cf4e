"""The demo's table, the same columns in the terminal and in the report."""

from __future__ import annotations

from rackwright.demo.rows import TARGETS, Comparison, Row

BASELINES = ("host", "rocket", "boom")
"""The reference targets, which run the official library."""

COLUMNS = (
    ("operation", "left"),
    ("target", "left"),
    ("bytes", "right"),
    ("ratio", "right"),
    ("cycles", "right"),
    ("GHz", "right"),
    ("GB/s", "right"),
    ("incl. use", "right"),
    *((f"vs {name}", "right") for name in BASELINES),
    ("verified", "left"),
    ("M instr/s", "right"),
    ("RTL kHz", "right"),
    ("digest", "left"),
)
"""Titles and justification of columns.

"GHz" is the clock of the unit that synthesis supports, at most 2. "GB/s" is that of a later call on the same
buffers, "incl. use" includes a checksum over its result. "M instr/s" and "RTL kHz" are the speed of the
simulation: instructions and cycles of RTL per second of real time.
"""

DESCRIPTIONS = {
    "host": "official libsnappy on this machine's processor, one core, median of warm calls",
    "rocket": "official libsnappy for RV64GC on the simulated in-order core",
    "boom": "official libsnappy for RV64GC on the simulated out-of-order core",
    "rocket+unit": "the in-order core with the Snappy units, in RTL, beside it",
    "boom+unit": "the out-of-order core with the Snappy units, in RTL, beside it",
}
"""A description of each target, in a line."""

assert tuple(DESCRIPTIONS) == TARGETS


def cells(comparison: Comparison, row: Row) -> tuple[str, ...]:
    """The texts of one row of the table."""
    speedup = comparison.speedup(row)
    return (
        row.operation,
        row.target,
        f"{row.uncompressed_bytes:,}",
        f"{row.ratio:.3f}",
        "" if row.cycles is None else f"{row.cycles:,}",
        "" if row.unit_clock_hz is None else f"{row.unit_clock_hz / 1e9:.2f}",
        f"{row.gigabytes_per_second:.3f}",
        f"{row.used_gigabytes_per_second:.3f}",
        *(f"{speedup[name]:.2f}x" if name in speedup else "" for name in BASELINES),
        "yes" if row.verified else "NO",
        _speed(row.instructions_per_second, 1e6),
        _speed(row.rtl_cycles_per_second, 1e3),
        (row.digest or "")[:8],
    )


def _speed(per_second: float | None, unit: float) -> str:
    """Speed of the simulation in `unit` per second; empty if nothing was simulated."""
    return f"{per_second / unit:.1f}" if per_second else ""
