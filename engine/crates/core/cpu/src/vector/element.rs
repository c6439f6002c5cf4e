//! Elements: their widths, and numbers of such widths.

/// Width of an element, as the power of two of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Width(pub(crate) u32);

impl Width {
    pub(crate) const BYTE: Width = Width(0);
    pub(crate) const SHORT: Width = Width(1);
    pub(crate) const WORD: Width = Width(2);
    pub(crate) const LONG: Width = Width(3);

    pub(crate) const fn bytes(self) -> usize {
        1 << self.0
    }

    pub(crate) const fn bits(self) -> u32 {
        8 << self.0
    }

    /// The number in the low bits, sign-extended.
    pub(crate) const fn signed(self, value: u64) -> i64 {
        let unused = 64 - self.bits();
        (value << unused) as i64 >> unused
    }

    /// The number in the low bits, zero-extended.
    pub(crate) const fn unsigned(self, value: u64) -> u64 {
        let unused = 64 - self.bits();
        value << unused >> unused
    }

    /// The largest signed number.
    pub(crate) const fn most(self) -> i64 {
        i64::MAX >> (64 - self.bits())
    }

    /// The smallest signed number.
    pub(crate) const fn least(self) -> i64 {
        i64::MIN >> (64 - self.bits())
    }

    /// A shift amount: the low bits of `value` that encode a bit position of the element.
    pub(crate) const fn amount(self, value: u64) -> u32 {
        value as u32 & (self.bits() - 1)
    }
}
