use crate::float::number::{signed, Format};
use crate::float::{flag, Rounding};

/// `value >> distance`, with the lowest bit telling whether any bit was lost.
pub(crate) fn shift_right_jam(value: u128, distance: u32) -> u128 {
    match distance {
        0 => value,
        1..=127 => value >> distance | u128::from(value << (128 - distance) != 0),
        _ => u128::from(value != 0),
    }
}

fn shift_right_jam_narrow(value: u64, distance: u32) -> u64 {
    shift_right_jam(u128::from(value), distance) as u64
}

/// The increment below the last retained bit before truncation.
fn increment(rounding: Rounding, negative: bool, extra: u32) -> u64 {
    match (rounding, negative) {
        (Rounding::NearestEven | Rounding::NearestAway, _) => 1 << (extra - 1),
        (Rounding::Down, true) | (Rounding::Up, false) => (1 << extra) - 1,
        _ => 0,
    }
}

/// `significand` without its `extra` low bits, rounded; a carry appears above the top bit.
pub(crate) fn round_off(significand: u64, extra: u32, negative: bool, rounding: Rounding) -> u64 {
    let sum = u128::from(significand) + u128::from(increment(rounding, negative, extra));
    let kept = (sum >> extra) as u64;
    let tie = significand & ((1 << extra) - 1) == 1 << (extra - 1);
    if tie && rounding == Rounding::NearestEven {
        kept & !1
    } else {
        kept
    }
}

/// The number `significand / 2^63 * 2^exponent` in format `F`. Bit 63 of `significand` is set, and its lowest bit
/// represents all lower ones.
pub(crate) fn round<F: Format>(
    negative: bool,
    exponent: i32,
    significand: u64,
    rounding: Rounding,
    flags: &mut u8,
) -> u64 {
    let extra = 63 - F::FRACTION;
    let smallest = 1 - F::BIAS;
    if exponent < smallest {
        return round_subnormal::<F>(negative, exponent, significand, rounding, flags);
    }
    let rounded = round_off(significand, extra, negative, rounding);
    if significand & ((1 << extra) - 1) != 0 {
        *flags |= flag::INEXACT;
    }
    // A carry out of the fraction adds one to the exponent, and leaves a fraction of zero.
    let biased = (exponent + F::BIAS - 1) as u64;
    let magnitude = (biased << F::FRACTION).saturating_add(rounded);
    if biased > F::EXPONENT_MAX || magnitude >= F::INFINITY {
        return overflow::<F>(negative, rounding, flags);
    }
    signed::<F>(negative, magnitude)
}

fn round_subnormal<F: Format>(
    negative: bool,
    exponent: i32,
    significand: u64,
    rounding: Rounding,
    flags: &mut u8,
) -> u64 {
    let extra = 63 - F::FRACTION;
    let smallest = 1 - F::BIAS;
    let shifted = shift_right_jam_narrow(significand, (smallest - exponent) as u32);
    if shifted & ((1 << extra) - 1) != 0 {
        // Not tiny when rounding to full precision reaches the smallest normal number.
        let full = round_off(significand, extra, negative, rounding);
        let tiny = exponent < smallest - 1 || full >> (F::FRACTION + 1) == 0;
        *flags |= flag::INEXACT | if tiny { flag::UNDERFLOW } else { 0 };
    }
    signed::<F>(negative, round_off(shifted, extra, negative, rounding))
}

fn overflow<F: Format>(negative: bool, rounding: Rounding, flags: &mut u8) -> u64 {
    *flags |= flag::OVERFLOW | flag::INEXACT;
    let infinite = match rounding {
        Rounding::NearestEven | Rounding::NearestAway => true,
        Rounding::TowardZero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    signed::<F>(negative, F::INFINITY - u64::from(!infinite))
}

/// [`round`] of a wide significand: `significand / 2^127 * 2^exponent`, not zero, of any alignment.
pub(crate) fn round_wide<F: Format>(
    negative: bool,
    exponent: i32,
    significand: u128,
    rounding: Rounding,
    flags: &mut u8,
) -> u64 {
    let shift = significand.leading_zeros();
    let narrow = shift_right_jam(significand << shift, 64) as u64;
    round::<F>(negative, exponent - shift as i32, narrow, rounding, flags)
}
