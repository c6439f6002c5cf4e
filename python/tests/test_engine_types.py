"""How large types of the engine may be."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import rust_types

CRATES = Path(__file__).parents[2] / "engine" / "crates"

MOST_FIELDS = 15
"""Of a type. A larger one is several: group what belongs together into a type with a name of its own."""

MOST_METHODS = 20
"""Public ones of a type, those of traits not counted."""


def counted(count: Callable[[str], dict[str, int]], *, whole: bool) -> Counter[str]:
    """What each type has, by crate and name, or by file and name: private types of a crate may share one."""
    counts: Counter[str] = Counter()
    for manifest in CRATES.rglob("Cargo.toml"):
        crate = manifest.parent
        for file in (crate / "src").rglob("*.rs"):
            place = crate.name if whole else str(file.relative_to(CRATES))
            for name, number in count(file.read_text()).items():
                counts[f"{place}::{name}"] += number
    return counts


def larger(counts: Counter[str], most: int) -> dict[str, int]:
    """The types that have more."""
    return {name: number for name, number in counts.items() if number > most}


def test_the_most_fields() -> None:
    assert larger(counted(rust_types.fields, whole=False), MOST_FIELDS) == {}


def test_the_most_public_methods() -> None:
    assert larger(counted(rust_types.methods, whole=True), MOST_METHODS) == {}


SOURCE = """
pub struct Core<T: Timing> {
    /// One.
    pub hart: Hart<T>,
    stall: Option<Stall>,
}

impl<T: Timing> Core<T> {
    pub fn run(&mut self) {}
    pub const fn new() {}
    fn hidden(&self) {}
    pub(crate) fn inside(&self) {}
}

impl<T: Timing> Drop for Core<T> {
    fn drop(&mut self) {}
}

impl<T> Core<T>
where
    T: Send,
{
    pub fn more(&self) {}
}

#[cfg(test)]
mod tests {
    impl Core<u8> {
        pub fn of_a_test() {}
    }
}
"""


@pytest.mark.parametrize(("count", "found"), [(rust_types.fields, 2), (rust_types.methods, 3)])
def test_what_a_type_has_is_counted(count: Callable[[str], dict[str, int]], found: int) -> None:
    assert count(SOURCE) == {"Core": found}
