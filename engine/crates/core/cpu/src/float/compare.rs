use crate::float::flag;
use crate::float::number::{Format, Kind, Number};
use std::cmp::Ordering;

/// The order of two numbers that are no NaNs; zeros are equal.
fn order<F: Format>(a: u64, b: u64) -> Ordering {
    let key = |bits: u64| {
        let magnitude = (bits & (F::SIGN - 1)) as i64;
        if bits & F::SIGN != 0 {
            -magnitude
        } else {
            magnitude
        }
    };
    key(a).cmp(&key(b))
}

fn is_nan<F: Format>(bits: u64) -> bool {
    bits & (F::SIGN - 1) > F::INFINITY
}

fn is_signaling<F: Format>(bits: u64) -> bool {
    Number::from_bits::<F>(bits).is_signaling()
}

/// Quiet equality.
pub(crate) fn equal<F: Format>(a: u64, b: u64, flags: &mut u8) -> bool {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        if is_signaling::<F>(a) || is_signaling::<F>(b) {
            *flags |= flag::INVALID;
        }
        return false;
    }
    order::<F>(a, b) == Ordering::Equal
}

/// Signaling `a < b`.
pub(crate) fn less<F: Format>(a: u64, b: u64, flags: &mut u8) -> bool {
    ordered::<F>(a, b, flags) && order::<F>(a, b) == Ordering::Less
}

/// Signaling `a <= b`.
pub(crate) fn less_or_equal<F: Format>(a: u64, b: u64, flags: &mut u8) -> bool {
    ordered::<F>(a, b, flags) && order::<F>(a, b) != Ordering::Greater
}

fn ordered<F: Format>(a: u64, b: u64, flags: &mut u8) -> bool {
    let nan = is_nan::<F>(a) || is_nan::<F>(b);
    if nan {
        *flags |= flag::INVALID;
    }
    !nan
}

/// The smaller number (`minimumNumber` of IEEE 754-2019).
pub(crate) fn minimum<F: Format>(a: u64, b: u64, flags: &mut u8) -> u64 {
    select::<F>(a, b, flags, |a, b| match order::<F>(a, b) {
        Ordering::Less => true,
        Ordering::Equal => a & F::SIGN != 0,
        Ordering::Greater => false,
    })
}

/// The larger number (`maximumNumber` of IEEE 754-2019).
pub(crate) fn maximum<F: Format>(a: u64, b: u64, flags: &mut u8) -> u64 {
    select::<F>(a, b, flags, |a, b| match order::<F>(a, b) {
        Ordering::Greater => true,
        Ordering::Equal => a & F::SIGN == 0,
        Ordering::Less => false,
    })
}

fn select<F: Format>(a: u64, b: u64, flags: &mut u8, first: impl Fn(u64, u64) -> bool) -> u64 {
    if is_signaling::<F>(a) || is_signaling::<F>(b) {
        *flags |= flag::INVALID;
    }
    match (is_nan::<F>(a), is_nan::<F>(b)) {
        (true, true) => F::NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) if first(a, b) => a,
        (false, false) => b,
    }
}

/// The one-hot class of `fclass`.
pub(crate) fn classify<F: Format>(bits: u64) -> u64 {
    let number = Number::from_bits::<F>(bits);
    let place = match number.kind {
        Kind::Infinity if number.negative => 0,
        Kind::Infinity => 7,
        Kind::Nan { signaling: true } => 8,
        Kind::Nan { signaling: false } => 9,
        Kind::Zero => 4 - u32::from(number.negative),
        Kind::Finite { exponent, .. } => match (number.negative, exponent < 1 - F::BIAS) {
            (true, false) => 1,
            (true, true) => 2,
            (false, true) => 5,
            (false, false) => 6,
        },
    };
    1 << place
}
