//! Estimates of reciprocals and of reciprocal square roots to seven bits.
//!
//! The specification's tables are the rounded results for the middle of each interval, so that they are computed here.

use crate::float::{flag, Format, Rounding};

/// Bits of an estimate, and of an index into the tables.
const BITS: u32 = 7;

/// A finite number other than zero: its exponent as stored, below one for subnormal numbers, and its fraction.
fn normalized<F: Format>(bits: u64) -> (i64, u64) {
    let exponent = (bits >> F::FRACTION & F::EXPONENT_MAX) as i64;
    let fraction = bits & F::FRACTION_MASK;
    if exponent != 0 {
        return (exponent, fraction);
    }
    let shift = fraction.leading_zeros() + F::FRACTION - 63;
    (1 - i64::from(shift), fraction << shift & F::FRACTION_MASK)
}

fn magnitude<F: Format>(bits: u64) -> u64 {
    bits & (F::SIGN - 1)
}

/// The canonical NaN for a NaN.
fn quiet<F: Format>(bits: u64, flags: &mut u8) -> u64 {
    if bits >> (F::FRACTION - 1) & 1 == 0 {
        *flags |= flag::INVALID;
    }
    F::NAN
}

/// `vfrsqrt7`.
pub(super) fn reciprocal_root<F: Format>(bits: u64, flags: &mut u8) -> u64 {
    let magnitude = magnitude::<F>(bits);
    let negative = bits & F::SIGN != 0;
    if magnitude > F::INFINITY {
        return quiet::<F>(bits, flags);
    }
    if magnitude == 0 {
        *flags |= flag::DIVIDE_BY_ZERO;
        return bits | F::INFINITY;
    }
    if negative {
        *flags |= flag::INVALID;
        return F::NAN;
    }
    if magnitude == F::INFINITY {
        return 0;
    }
    let (exponent, fraction) = normalized::<F>(bits);
    let interval = fraction >> (F::FRACTION + 1 - BITS);
    // Exponents are stored with an odd bias: even ones are those of numbers that are two to four times a square.
    let base = if exponent & 1 == 0 { 2.0 } else { 1.0 };
    let middle = base * (1.0 + (interval as f64 + 0.5) / 64.0);
    let estimate = (256.0 / middle.sqrt()).round() as u64 - 128;
    let exponent = (3 * i64::from(F::BIAS) - 1 - exponent) / 2;
    (exponent as u64) << F::FRACTION | estimate << (F::FRACTION - BITS)
}

/// `vfrec7`.
pub(super) fn reciprocal<F: Format>(bits: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    let magnitude = magnitude::<F>(bits);
    let sign = bits & F::SIGN;
    if magnitude > F::INFINITY {
        return quiet::<F>(bits, flags);
    }
    if magnitude == 0 {
        *flags |= flag::DIVIDE_BY_ZERO;
        return sign | F::INFINITY;
    }
    if magnitude == F::INFINITY {
        return sign;
    }
    let (exponent, fraction) = normalized::<F>(bits);
    if exponent < -1 {
        *flags |= flag::OVERFLOW | flag::INEXACT;
        let toward_zero = match rounding {
            Rounding::TowardZero => true,
            Rounding::Down => sign == 0,
            Rounding::Up => sign != 0,
            Rounding::NearestEven | Rounding::NearestAway => false,
        };
        return sign | (F::INFINITY - u64::from(toward_zero));
    }
    let interval = fraction >> (F::FRACTION - BITS);
    // The middle of the interval is an odd number of 256ths.
    let middle = 257 + 2 * interval;
    let estimate = ((1 << 17) / middle).div_ceil(2) - 128;
    let exponent = 2 * i64::from(F::BIAS) - 1 - exponent;
    let fraction = estimate << (F::FRACTION - BITS);
    // A result below the smallest normal number keeps its leading one.
    let (exponent, fraction) = match exponent {
        1.. => (exponent as u64, fraction),
        _ => (0, (1 << F::FRACTION | fraction) >> (1 - exponent)),
    };
    sign | exponent << F::FRACTION | fraction
}
