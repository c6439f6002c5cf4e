use crate::float::number::{propagate, signed, Format, Kind, Number};
use crate::float::round::{round, round_off};
use crate::float::{flag, Rounding};

/// An integer type that numbers are converted to and from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Integer {
    Short,
    ShortUnsigned,
    Word,
    WordUnsigned,
    Long,
    LongUnsigned,
}

impl Integer {
    fn range(self) -> (i128, i128) {
        match self {
            Integer::Short => (i16::MIN.into(), i16::MAX.into()),
            Integer::ShortUnsigned => (0, u16::MAX.into()),
            Integer::Word => (i32::MIN.into(), i32::MAX.into()),
            Integer::WordUnsigned => (0, u32::MAX.into()),
            Integer::Long => (i64::MIN.into(), i64::MAX.into()),
            Integer::LongUnsigned => (0, u64::MAX.into()),
        }
    }

    /// A value in range as a register holds it: words are sign-extended, even unsigned ones. Shorts are only in vectors.
    fn in_register(self, value: i128) -> u64 {
        match self {
            Integer::Short | Integer::ShortUnsigned => value as u16 as u64,
            Integer::Word | Integer::WordUnsigned => value as i32 as u64,
            Integer::Long | Integer::LongUnsigned => value as u64,
        }
    }

    /// The value that a register holds.
    fn value(self, register: u64) -> i128 {
        match self {
            Integer::Short => (register as i16).into(),
            Integer::ShortUnsigned => (register as u16).into(),
            Integer::Word => (register as i32).into(),
            Integer::WordUnsigned => (register as u32).into(),
            Integer::Long => (register as i64).into(),
            Integer::LongUnsigned => register.into(),
        }
    }
}

/// `bits` as an integer, saturated; as a register holds it.
pub(crate) fn to_integer<F: Format>(bits: u64, to: Integer, rounding: Rounding, flags: &mut u8) -> u64 {
    let number = Number::from_bits::<F>(bits);
    let (lowest, highest) = to.range();
    let (value, exact) = match number.kind {
        Kind::Zero => (0, true),
        Kind::Nan { .. } => (i128::MAX, true),
        Kind::Infinity => (i128::MAX, true),
        Kind::Finite { exponent, .. } if exponent > 64 => (i128::MAX, true),
        Kind::Finite {
            exponent,
            significand,
        } => integral(exponent, significand, number.negative, rounding),
    };
    let value = if number.negative && !number.is_nan() {
        -value
    } else {
        value
    };
    let clamped = value.clamp(lowest, highest);
    if clamped != value {
        *flags |= flag::INVALID;
    } else if !exact {
        *flags |= flag::INEXACT;
    }
    to.in_register(clamped)
}

/// The magnitude rounded to an integer, and whether that was exact.
fn integral(exponent: i32, significand: u64, negative: bool, rounding: Rounding) -> (i128, bool) {
    match exponent {
        63.. => (i128::from(significand) << (exponent - 63), true),
        0..=62 => {
            let extra = (63 - exponent) as u32;
            let exact = significand & ((1 << extra) - 1) == 0;
            (round_off(significand, extra, negative, rounding).into(), exact)
        }
        // Below one: two bits distinguish half and more from less, and the remaining bits have no effect.
        _ => {
            let small = if exponent == -1 {
                2 | u64::from(significand << 1 != 0)
            } else {
                1
            };
            (round_off(small, 2, negative, rounding).into(), false)
        }
    }
}

/// The integer in a register as a number.
pub(crate) fn from_integer<F: Format>(
    register: u64,
    from: Integer,
    rounding: Rounding,
    flags: &mut u8,
) -> u64 {
    let value = from.value(register);
    let magnitude = value.unsigned_abs() as u64;
    if magnitude == 0 {
        return 0;
    }
    let shift = magnitude.leading_zeros();
    round::<F>(value < 0, 63 - shift as i32, magnitude << shift, rounding, flags)
}

/// The number in another format.
pub(crate) fn resize<From: Format, To: Format>(bits: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    let number = Number::from_bits::<From>(bits);
    match number.kind {
        Kind::Nan { .. } => propagate::<To>(&[number], flags),
        Kind::Zero => signed::<To>(number.negative, 0),
        Kind::Infinity => signed::<To>(number.negative, To::INFINITY),
        Kind::Finite {
            exponent,
            significand,
        } => round::<To>(number.negative, exponent, significand, rounding, flags),
    }
}
