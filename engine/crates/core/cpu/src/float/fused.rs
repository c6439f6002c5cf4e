use crate::float::arithmetic::{add_magnitudes, cancelled};
use crate::float::number::{invalid, propagate, signed, Format, Kind, Number};
use crate::float::round::round_wide;
use crate::float::Rounding;

/// `a * b + c` with one rounding.
pub(crate) fn multiply_add<F: Format>(a: u64, b: u64, c: u64, rounding: Rounding, flags: &mut u8) -> u64 {
    let [left, right, addend] = [a, b, c].map(Number::from_bits::<F>);
    let negative = left.negative != right.negative;
    match (left.kind, right.kind) {
        // Invalid even when the addend is a quiet NaN.
        (Kind::Infinity, Kind::Zero) | (Kind::Zero, Kind::Infinity) => return invalid::<F>(flags),
        _ if left.is_nan() || right.is_nan() || addend.is_nan() => {
            return propagate::<F>(&[left, right, addend], flags)
        }
        (Kind::Infinity, _) | (_, Kind::Infinity) => {
            return if addend.kind == Kind::Infinity && addend.negative != negative {
                invalid::<F>(flags)
            } else {
                signed::<F>(negative, F::INFINITY)
            }
        }
        _ => {}
    }
    match (product(left, right), addend.kind) {
        (_, Kind::Infinity) => c,
        (None, Kind::Zero) if negative == addend.negative => c,
        (None, Kind::Zero) => cancelled::<F>(rounding),
        (None, _) => c,
        (
            Some((exponent, significand)),
            Kind::Finite {
                exponent: other_exponent,
                significand: other,
            },
        ) => {
            // The product has at most 106 significant bits, so that no bits are lost.
            add_magnitudes::<F>(
                (negative, exponent + 2, significand >> 2),
                (addend.negative, other_exponent + 2, u128::from(other) << 62),
                rounding,
                flags,
            )
        }
        (Some((exponent, significand)), _) => {
            round_wide::<F>(negative, exponent, significand, rounding, flags)
        }
    }
}

/// The exact product of two finite numbers as `significand / 2^127 * 2^exponent`; none when it is zero.
fn product(left: Number, right: Number) -> Option<(i32, u128)> {
    match (left.kind, right.kind) {
        (
            Kind::Finite {
                exponent,
                significand,
            },
            Kind::Finite {
                exponent: other_exponent,
                significand: other,
            },
        ) => Some((
            exponent + other_exponent + 1,
            u128::from(significand) * u128::from(other),
        )),
        _ => None,
    }
}
