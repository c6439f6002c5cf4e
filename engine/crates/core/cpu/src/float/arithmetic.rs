use crate::float::number::{invalid, propagate, signed, Format, Kind, Number};
use crate::float::round::{round, round_wide, shift_right_jam};
use crate::float::{flag, Rounding};

/// The sign of a zero that is the sum of numbers of different sign.
pub(crate) fn cancelled<F: Format>(rounding: Rounding) -> u64 {
    signed::<F>(rounding == Rounding::Down, 0)
}

/// Sum of two magnitudes with signs, each `significand / 2^127 * 2^exponent` below half of the range,
/// so that a carry has room.
pub(crate) fn add_magnitudes<F: Format>(
    left: (bool, i32, u128),
    right: (bool, i32, u128),
    rounding: Rounding,
    flags: &mut u8,
) -> u64 {
    let (large, small) = if left.1 >= right.1 {
        (left, right)
    } else {
        (right, left)
    };
    let aligned = shift_right_jam(small.2, (large.1 - small.1) as u32);
    let (negative, sum) = match (large.0 == small.0, large.2 >= aligned) {
        (true, _) => (large.0, large.2 + aligned),
        (false, true) => (large.0, large.2 - aligned),
        (false, false) => (small.0, aligned - large.2),
    };
    if sum == 0 {
        return cancelled::<F>(rounding);
    }
    round_wide::<F>(negative, large.1, sum, rounding, flags)
}

/// `a + b`.
pub(crate) fn add<F: Format>(a: u64, b: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    let (left, right) = (Number::from_bits::<F>(a), Number::from_bits::<F>(b));
    match (left.kind, right.kind) {
        _ if left.is_nan() || right.is_nan() => propagate::<F>(&[left, right], flags),
        (Kind::Infinity, Kind::Infinity) if left.negative != right.negative => invalid::<F>(flags),
        (Kind::Infinity, _) => a,
        (_, Kind::Infinity) => b,
        (Kind::Zero, Kind::Zero) if left.negative == right.negative => a,
        (Kind::Zero, Kind::Zero) => cancelled::<F>(rounding),
        (Kind::Zero, _) => b,
        (_, Kind::Zero) => a,
        (
            Kind::Finite {
                exponent,
                significand,
            },
            Kind::Finite {
                exponent: other_exponent,
                significand: other,
            },
        ) => add_magnitudes::<F>(
            (left.negative, exponent + 2, u128::from(significand) << 62),
            (right.negative, other_exponent + 2, u128::from(other) << 62),
            rounding,
            flags,
        ),
        _ => unreachable!("NaNs were taken first"),
    }
}

/// `a - b`. The sign of a NaN has no effect.
pub(crate) fn subtract<F: Format>(a: u64, b: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    add::<F>(a, b ^ F::SIGN, rounding, flags)
}

/// `a * b`.
pub(crate) fn multiply<F: Format>(a: u64, b: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    let (left, right) = (Number::from_bits::<F>(a), Number::from_bits::<F>(b));
    let negative = left.negative != right.negative;
    match (left.kind, right.kind) {
        _ if left.is_nan() || right.is_nan() => propagate::<F>(&[left, right], flags),
        (Kind::Infinity, Kind::Zero) | (Kind::Zero, Kind::Infinity) => invalid::<F>(flags),
        (Kind::Infinity, _) | (_, Kind::Infinity) => signed::<F>(negative, F::INFINITY),
        (
            Kind::Finite {
                exponent,
                significand,
            },
            Kind::Finite {
                exponent: other_exponent,
                significand: other,
            },
        ) => {
            let product = u128::from(significand) * u128::from(other);
            round_wide::<F>(negative, exponent + other_exponent + 1, product, rounding, flags)
        }
        _ => signed::<F>(negative, 0),
    }
}

/// `a / b`.
pub(crate) fn divide<F: Format>(a: u64, b: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    let (left, right) = (Number::from_bits::<F>(a), Number::from_bits::<F>(b));
    let negative = left.negative != right.negative;
    match (left.kind, right.kind) {
        _ if left.is_nan() || right.is_nan() => propagate::<F>(&[left, right], flags),
        (Kind::Infinity, Kind::Infinity) | (Kind::Zero, Kind::Zero) => invalid::<F>(flags),
        (Kind::Infinity, _) => signed::<F>(negative, F::INFINITY),
        (Kind::Finite { .. }, Kind::Zero) => {
            *flags |= flag::DIVIDE_BY_ZERO;
            signed::<F>(negative, F::INFINITY)
        }
        (
            Kind::Finite {
                exponent,
                significand,
            },
            Kind::Finite {
                exponent: other_exponent,
                significand: other,
            },
        ) => {
            let dividend = u128::from(significand) << 63;
            let quotient = dividend / u128::from(other);
            let exact = quotient * u128::from(other) == dividend;
            let jammed = quotient | u128::from(!exact);
            let wide = jammed << 63;
            round_wide::<F>(negative, exponent - other_exponent + 1, wide, rounding, flags)
        }
        _ => signed::<F>(negative, 0),
    }
}

/// The square root of `a`.
pub(crate) fn square_root<F: Format>(a: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    let number = Number::from_bits::<F>(a);
    match number.kind {
        Kind::Nan { .. } => propagate::<F>(&[number], flags),
        Kind::Zero => a,
        _ if number.negative => invalid::<F>(flags),
        Kind::Infinity => a,
        Kind::Finite {
            exponent,
            significand,
        } => {
            let radicand = u128::from(significand) << (63 + (exponent & 1));
            let root = radicand.isqrt();
            let jammed = root as u64 | u64::from(root * root != radicand);
            round::<F>(false, exponent >> 1, jammed, rounding, flags)
        }
    }
}
