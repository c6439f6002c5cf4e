//! IEEE 754 arithmetic as specified by RISC-V (unprivileged manual 20191213, chapters 11 and 12).
//!
//! All five rounding modes, all five flags, tininess detected after rounding, and one canonical NaN. Flags and directed
//! rounding of the host's own arithmetic are not accessible in portable Rust, so the operations are implemented with
//! integers; [`fast`] uses the host if the result is the same. Numbers are passed as bits in the low part of a `u64`,
//! for any format.

mod arithmetic;
mod compare;
mod convert;
pub(crate) mod fast;
mod fused;
mod number;
mod round;
#[cfg(test)]
mod tests;

pub(crate) use arithmetic::{add, divide, multiply, square_root, subtract};
pub(crate) use compare::{classify, equal, less, less_or_equal, maximum, minimum};
pub(crate) use convert::{from_integer, resize, to_integer, Integer};
pub(crate) use fused::multiply_add;
pub(crate) use number::{Double, Format, Single};

/// Rounding modes, with their encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    NearestEven = 0,
    TowardZero = 1,
    Down = 2,
    Up = 3,
    NearestAway = 4,
}

impl Rounding {
    /// The mode encoded by `code`, if any.
    pub(crate) fn from_code(code: u8) -> Option<Rounding> {
        Some(match code {
            0 => Rounding::NearestEven,
            1 => Rounding::TowardZero,
            2 => Rounding::Down,
            3 => Rounding::Up,
            4 => Rounding::NearestAway,
            _ => return None,
        })
    }
}

/// Accrued exceptions, as in `fflags`.
pub(crate) mod flag {
    pub(crate) const INEXACT: u8 = 1;
    pub(crate) const UNDERFLOW: u8 = 2;
    pub(crate) const OVERFLOW: u8 = 4;
    pub(crate) const DIVIDE_BY_ZERO: u8 = 8;
    pub(crate) const INVALID: u8 = 16;
}
