"""The demo's table, the same columns in the terminal and in the report."""

from __future__ import annotations

from rackwright.demo.rows import TARGETS, Comparison, Row

BASELINES = ("host", "rocket", "boom")
"""What a unit is compared with: the targets that run the official library."""

COLUMNS = (
    ("operation", "left"),
    ("target", "left"),
    ("bytes", "right"),
    ("ratio", "right"),
    ("cycles", "right"),
    ("GB/s", "right"),
    *((f"vs {name}", "right") for name in BASELINES),
    ("verified", "left"),
    ("simulated at", "right"),
    ("digest", "left"),
)
"""Titles and how each column is justified."""

DESCRIPTIONS = {
    "host": "official libsnappy on this machine's processor, one core, measured",
    "rocket": "official libsnappy for RV64GC on the simulated in-order core",
    "boom": "official libsnappy for RV64GC on the simulated out-of-order core",
    "rocket+unit": "the in-order core with the Snappy units, in RTL, beside it",
    "boom+unit": "the out-of-order core with the Snappy units, in RTL, beside it",
}
"""What each target is, in a line."""

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
        f"{row.gigabytes_per_second:.3f}",
        *(f"{speedup[name]:.2f}x" if name in speedup else "" for name in BASELINES),
        "yes" if row.verified else "NO",
        simulation_speed(row),
        (row.digest or "")[:12],
    )


def simulation_speed(row: Row) -> str:
    """Instructions and RTL cycles per second of real time; empty for the host."""
    parts = []
    if row.instructions_per_second:
        parts.append(f"{row.instructions_per_second / 1e6:.1f} M instr/s")
    if row.rtl_cycles_per_second:
        parts.append(f"{row.rtl_cycles_per_second / 1e3:.0f} k RTL cycles/s")
    return ", ".join(parts)
