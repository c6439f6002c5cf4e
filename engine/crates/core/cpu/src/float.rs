//! IEEE 754 arithmetic as RISC-V wants it (unprivileged manual 20191213, chapters 11 and 12).
//!
//! All five rounding modes, all five flags, tininess detected after rounding, and one canonical
//! NaN. The host's own arithmetic cannot be asked for flags and directed rounding in portable Rust, so
//! the operations are done in integers here; [`fast`] uses the host where it can make no difference.
//! Numbers are passed as bits in the low part of a `u64`, whatever their format.

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
    /// The mode that `code` stands for, if any.
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
