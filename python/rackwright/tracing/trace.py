"""Traces as data frames."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.tracing.chunks import Columns, Head, TraceError, columns_of, read_chunks, read_head

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

PRIVILEGES = {"U": 0, "S": 1, "M": 3}
"""The modes of a hart, and their numbers (privileged manual, table 1.1)."""


@dataclass(frozen=True)
class Trace:
    """The instructions that harts have executed, hart by hart in program order.

    `software`, `cpu` and `clock_hz` say what ran, on which model, at which clock. Only what passes the
    filters is given: `harts`, `privileges` (numbers), `spaces` (values of `satp`) and blocks that ended in
    the cycles from `begin` on and before `end`.
    """

    path: Path
    software: str
    cpu: str
    clock_hz: int
    harts: frozenset[int] | None = None
    privileges: frozenset[int] | None = None
    spaces: frozenset[int] | None = None
    begin: int = 0
    end: int | None = None

    def blocks(self) -> Iterator[pd.DataFrame]:
        """A row for each executed block, chunk by chunk; the chunks of one hart are in order.

        Columns: hart, cycle (in which it ended), privilege, address_space, address (of its first
        instruction), instructions (that were executed). Raises `TraceError` at the first damage, when all
        that precedes it was given.
        """
        for head, columns in self._chunks():
            yield _blocks(head, columns).loc[self._chosen(head, columns)].reset_index(drop=True)

    def instructions(self) -> Iterator[pd.DataFrame]:
        """A row for each executed instruction, chunk by chunk; the chunks of one hart are in order.

        Columns: hart, cycle (in which its block ended), privilege, address_space, address, word (of a
        compressed one, its 16 bits). Raises `TraceError` at the first damage, when all that precedes it was
        given.
        """
        for head, columns in self._chunks():
            yield _instructions(head, columns, self._chosen(head, columns))

    def _chunks(self) -> Iterator[tuple[Head, Columns]]:
        with self.path.open("rb") as file:
            read_head(file, self.path)
            for head in read_chunks(file, self.path):
                outside = head.last < self.begin or (self.end is not None and head.before >= self.end)
                if outside or (self.harts is not None and head.hart not in self.harts):
                    continue
                yield head, columns_of(head)

    def _chosen(self, head: Head, columns: Columns) -> npt.NDArray[np.bool_]:
        """Which blocks pass the filters."""
        import numpy as np

        cycles = _cycles(head, columns)
        chosen = cycles >= self.begin
        if self.end is not None:
            chosen &= cycles < self.end
        for wanted, values in ((self.privileges, columns.privileges), (self.spaces, columns.spaces)):
            if wanted is not None:
                chosen &= _spread(columns, np.isin(values, np.fromiter(wanted, values.dtype)))
        return chosen


def read_trace(
    path: str | Path,
    *,
    harts: Collection[int] | None = None,
    privileges: Collection[str] | None = None,
    address_spaces: Collection[int] | None = None,
    cycles: tuple[int, int | None] = (0, None),
) -> Trace:
    """The trace in a file, which `rw profile --trace` has made.

    Only of `harts`, of the modes in `privileges` ("U", "S", "M"), of the values of `satp` in
    `address_spaces`, and of the blocks that ended from the first of `cycles` on and before the second.
    Raises `TraceError` when the file is no trace, `OSError` when there is none, `ValueError` for a mode
    that is none.
    """
    path = Path(path)
    unknown = set(privileges or ()) - set(PRIVILEGES)
    if unknown:
        raise ValueError(f"no mode is called {min(unknown)}; there are {', '.join(PRIVILEGES)}")
    with path.open("rb") as file:
        about = read_head(file, path)
    modes = None if privileges is None else frozenset(PRIVILEGES[each] for each in privileges)
    return Trace(
        path,
        **about,
        harts=_frozen(harts),
        privileges=modes,
        spaces=_frozen(address_spaces),
        begin=cycles[0],
        end=cycles[1],
    )


def _frozen(values: Collection[int] | None) -> frozenset[int] | None:
    return None if values is None else frozenset(values)


def _cycles(head: Head, columns: Columns) -> npt.NDArray[np.uint64]:
    """The cycle in which each block ended."""
    import numpy as np

    return np.cumsum(columns.cycles, dtype=np.uint64) + np.uint64(head.before)


def _spread(columns: Columns, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A value of each context, for each block."""
    import numpy as np

    ends = np.append(columns.begins[1:], np.uint32(len(columns.places)))
    return np.repeat(values, ends.astype(np.int64) - columns.begins)


def _blocks(head: Head, columns: Columns) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "hart": head.hart,
            "cycle": _cycles(head, columns),
            "privilege": _spread(columns, columns.privileges),
            "address_space": _spread(columns, columns.spaces),
            "address": columns.addresses[columns.places],
            "instructions": columns.executed,
        }
    )


def _instructions(head: Head, columns: Columns, chosen: npt.NDArray[np.bool_]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    # Where the words of each code begin, and where each word lies behind its code's first address.
    firsts = np.cumsum(columns.lengths, dtype=np.int64) - columns.lengths
    bytes_ = np.where(columns.words & 3 == 3, 4, 2)
    offsets = np.cumsum(bytes_) - bytes_
    addresses = np.repeat(columns.addresses - offsets[firsts].astype(np.uint64), columns.lengths)
    addresses += offsets.astype(np.uint64)

    executed = columns.executed[chosen].astype(np.int64)
    within = np.arange(executed.sum()) - np.repeat(np.cumsum(executed) - executed, executed)
    words = np.repeat(firsts[columns.places[chosen]], executed) + within

    def each(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.repeat(values[chosen], executed)

    return pd.DataFrame(
        {
            "hart": head.hart,
            "cycle": each(_cycles(head, columns)),
            "privilege": each(_spread(columns, columns.privileges)),
            "address_space": each(_spread(columns, columns.spaces)),
            "address": addresses[words],
            "word": columns.words[words],
        }
    )


__all__ = ["PRIVILEGES", "Trace", "TraceError", "read_trace"]
