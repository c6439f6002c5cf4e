"""Page tables of Sv39 and Sv48 in the memory of a bench, and a walk (privileged manual, 4.3 to 4.5)."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright import Unit

PAGE = 4096
VALID, READ, WRITE, EXECUTE, USER, GLOBAL, ACCESSED, DIRTY = (1 << bit for bit in range(8))
USED = VALID | USER | ACCESSED
RESERVED = 1 << 54

MODES = {39: (8, 3), 48: (9, 4)}
"""By the bits of a virtual address: the field MODE of satp, and how many levels there are."""


_MOST = 1 << 24
"""Bytes of the tables of one space."""


@dataclass(frozen=True)
class Context:
    """What an access is done in."""

    satp: int
    privilege: int = 0
    user_memory: bool = False
    executable_readable: bool = False


class NoTableError(Exception):
    """A table lies where there is no memory."""


class PageTables:
    """Tables that lie from `base` on; `unit` may read them."""

    def __init__(self, unit: Unit, bits: int, base: int) -> None:
        """An empty root."""
        self._unit = unit
        self.bits = bits
        self._mode, self.levels = MODES[bits]
        self._next = base
        self.memory = [range(base, base + _MOST)]
        """Where tables may lie."""
        self._root = self._table()

    @property
    def satp(self) -> int:
        """The register that leads here."""
        return self._mode << 60 | self._root // PAGE

    def map(self, virtual: int, physical: int, flags: int, level: int = 0) -> bool:
        """Has the page of `level` at `virtual` lie at `physical`; False where a larger page is in the way."""
        return self.put(virtual, physical // PAGE << 10 | flags, level)

    def put(self, virtual: int, entry: int, level: int = 0) -> bool:
        """Writes an entry as it is, with the tables that lead to it."""
        table = self._root
        for above in range(self.levels - 1, level, -1):
            place = self._place(table, virtual, above)
            found = self._read(place)
            if found == 0:
                found = self._table() // PAGE << 10 | VALID
                self._write(place, found)
            table = (found >> 10) * PAGE
            if found & 0xFF != VALID or table not in self.memory[0]:
                return False
        self._write(self._place(table, virtual, level), entry)
        return True

    def walk(self, virtual: int, write: bool, context: Context) -> int | None:
        """The physical address, or None for a page fault; marks nothing, and wants the marks to be there.

        Raises `NoTableError` when an entry leads to a table where no memory is.
        """
        upper = virtual >> (self.bits - 1)
        if upper not in (0, (1 << (65 - self.bits)) - 1):
            return None
        table = self._root
        for level in range(self.levels - 1, -1, -1):
            if not any(table in range_ for range_ in self.memory):
                raise NoTableError
            entry = self._read(self._place(table, virtual, level))
            leaf = entry & (READ | EXECUTE)
            if not entry & VALID or entry >> 54 or entry & (READ | WRITE) == WRITE:
                return None
            if not leaf:
                if entry & (USER | ACCESSED | DIRTY):
                    return None
                table = (entry >> 10) * PAGE
                continue
            size = PAGE << (9 * level)
            page = (entry >> 10) * PAGE
            if page % size or not _permitted(entry, write, context):
                return None
            return page + virtual % size
        return None

    def _table(self) -> int:
        table = self._next
        self._next += PAGE
        self._unit.bench.allow(table, PAGE, "r")
        self._unit.bench.write_memory(table, bytes(PAGE))
        return table

    @staticmethod
    def _place(table: int, virtual: int, level: int) -> int:
        return table + (virtual >> (12 + 9 * level) & 511) * 8

    def _read(self, place: int) -> int:
        return int.from_bytes(self._unit.bench.read_memory(place, 8), "little")

    def _write(self, place: int, entry: int) -> None:
        self._unit.bench.write_memory(place, entry.to_bytes(8, "little"))


def _permitted(entry: int, write: bool, context: Context) -> bool:
    user = bool(entry & USER)
    reachable = user if context.privilege == 0 else not user or context.user_memory
    readable = READ | (EXECUTE if context.executable_readable else 0)
    wanted = entry & (WRITE if write else readable)
    marked = entry & ACCESSED and (not write or entry & DIRTY)
    return bool(reachable and wanted and marked)
