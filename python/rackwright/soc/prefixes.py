"""What the names of modules of our units begin with where several units are in one design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rackwright.hardware.manifests import is_elaborated


def by_content(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """A prefix for each manifest that no other RTL has, in whatever design it is; none for a user's own."""
    return [
        f"{_name(record)}_{record['hash'][:8]}_" if is_elaborated(dict(record)) else "" for record in records
    ]


def by_number(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """A prefix for each manifest that is unique among them; none for a user's own Verilog.

    What is around units names them by it, and stays the same when the contents of one change.
    """
    found: dict[str, list[str]] = {}
    prefixes = []
    for record in records:
        if not is_elaborated(dict(record)):
            prefixes.append("")
            continue
        variants = found.setdefault(_name(record), [])
        if record["hash"] not in variants:
            variants.append(record["hash"])
        number = variants.index(record["hash"]) + 1
        prefixes.append(f"{_name(record)}_{number}_" if number > 1 else f"{_name(record)}_")
    return prefixes


def _name(record: Mapping[str, Any]) -> str:
    return str(record["unit"]).replace("-", "_")
