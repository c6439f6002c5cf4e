use crate::float::flag;

/// A binary interchange format of at most 64 bits.
pub(crate) trait Format {
    /// Stored bits of the significand.
    const FRACTION: u32;
    /// Bits of the exponent.
    const EXPONENT: u32;
    /// Bits of a number.
    const BITS: u32 = 1 + Self::EXPONENT + Self::FRACTION;
    /// Exponent of 1.0 as stored.
    const BIAS: i32 = (1 << (Self::EXPONENT - 1)) - 1;
    /// Exponent field of infinities and NaNs.
    const EXPONENT_MAX: u64 = (1 << Self::EXPONENT) - 1;
    /// The sign bit.
    const SIGN: u64 = 1 << (Self::BITS - 1);
    /// The bits of the fraction.
    const FRACTION_MASK: u64 = (1 << Self::FRACTION) - 1;
    /// Positive infinity.
    const INFINITY: u64 = Self::EXPONENT_MAX << Self::FRACTION;
    /// The canonical NaN.
    const NAN: u64 = Self::INFINITY | 1 << (Self::FRACTION - 1);
}

/// 32 bits.
pub(crate) struct Single;

/// 64 bits.
pub(crate) struct Double;

impl Format for Single {
    const FRACTION: u32 = 23;
    const EXPONENT: u32 = 8;
}

impl Format for Double {
    const FRACTION: u32 = 52;
    const EXPONENT: u32 = 11;
}

/// A number, split into its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    pub(crate) negative: bool,
    pub(crate) kind: Kind,
}

/// The kind of a number, without its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Zero,
    /// `significand / 2^63 * 2^exponent`, bit 63 of the significand set.
    Finite {
        exponent: i32,
        significand: u64,
    },
    Infinity,
    Nan {
        signaling: bool,
    },
}

impl Number {
    pub(crate) fn from_bits<F: Format>(bits: u64) -> Number {
        let negative = bits & F::SIGN != 0;
        let exponent = bits >> F::FRACTION & F::EXPONENT_MAX;
        let fraction = bits & F::FRACTION_MASK;
        let kind = match (exponent, fraction) {
            (0, 0) => Kind::Zero,
            (0, _) => {
                let shift = fraction.leading_zeros();
                Kind::Finite {
                    exponent: 64 - F::BIAS - F::FRACTION as i32 - shift as i32,
                    significand: fraction << shift,
                }
            }
            (maximum, 0) if maximum == F::EXPONENT_MAX => Kind::Infinity,
            (maximum, _) if maximum == F::EXPONENT_MAX => Kind::Nan {
                signaling: fraction >> (F::FRACTION - 1) == 0,
            },
            _ => Kind::Finite {
                exponent: exponent as i32 - F::BIAS,
                significand: 1 << 63 | fraction << (63 - F::FRACTION),
            },
        };
        Number { negative, kind }
    }

    pub(crate) fn is_nan(self) -> bool {
        matches!(self.kind, Kind::Nan { .. })
    }

    pub(crate) fn is_signaling(self) -> bool {
        self.kind == Kind::Nan { signaling: true }
    }
}

/// The canonical NaN, with the flag for an invalid operation.
pub(crate) fn invalid<F: Format>(flags: &mut u8) -> u64 {
    *flags |= flag::INVALID;
    F::NAN
}

/// The answer of an operation with a NaN among its operands.
pub(crate) fn propagate<F: Format>(operands: &[Number], flags: &mut u8) -> u64 {
    if operands.iter().any(|operand| operand.is_signaling()) {
        *flags |= flag::INVALID;
    }
    F::NAN
}

/// Zero or infinity with a sign.
pub(crate) fn signed<F: Format>(negative: bool, magnitude: u64) -> u64 {
    if negative {
        F::SIGN | magnitude
    } else {
        magnitude
    }
}
