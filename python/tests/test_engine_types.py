"""The largest types of the engine, and that none grows beyond them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import rust_types

CRATES = Path(__file__).parents[2] / "engine" / "crates"


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


def largest(counts: Counter[str]) -> tuple[int, set[str]]:
    """The highest count, and the types that have it."""
    most = max(counts.values())
    return most, {name for name, number in counts.items() if number == most}


def test_the_most_fields() -> None:
    """The bar is 15. Who makes the largest smaller lowers the number here."""
    assert largest(counted(rust_types.fields, whole=False)) == (24, {"fabric/fabric/src/fabric.rs::Fabric"})


def test_the_most_public_methods() -> None:
    """The bar is 20. Who makes the largest smaller lowers the number here."""
    assert largest(counted(rust_types.methods, whole=True)) == (34, {"cpu::Hart"})


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
