//! Fixed-point arithmetic: saturated, averaged, scaled.

use super::element::Width;
use super::operand::{map, Operand};
use super::unit::Vector;
use super::word::Word;
use super::{Done, Illegal};
use crate::state::State;

/// The computation of fixed-point results.
pub(crate) struct Fixed {
    rounding: u8,
    pub(crate) saturated: bool,
}

impl Fixed {
    pub(crate) fn of(vector: &Vector) -> Fixed {
        Fixed {
            rounding: vector.rounding,
            saturated: vector.saturated,
        }
    }

    /// `value / 2^bits`, rounded according to `vxrm`: to nearest up, to nearest even, down, or to odd.
    pub(crate) fn round(&self, value: i128, bits: u32) -> i128 {
        let whole = value >> bits;
        let rest = value - (whole << bits);
        let half = (1 << bits) >> 1;
        let up = match self.rounding {
            0 => half != 0 && rest >= half,
            1 => rest > half || half != 0 && rest == half && whole & 1 != 0,
            2 => false,
            _ => rest != 0 && whole & 1 == 0,
        };
        whole + i128::from(up)
    }

    /// The nearest number of an element's range.
    pub(crate) fn saturate(&mut self, width: Width, signed: bool, value: i128) -> u64 {
        let nearest = if signed {
            value.clamp(width.least().into(), width.most().into())
        } else {
            value.clamp(0, width.unsigned(u64::MAX).into())
        };
        self.saturated |= nearest != value;
        nearest as u64
    }
}

/// An element as a number.
pub(crate) fn number(width: Width, signed: bool, value: u64) -> i128 {
    if signed {
        width.signed(value).into()
    } else {
        value.into()
    }
}

type Compute = fn(&mut Fixed, Width, u64, u64) -> u64;

pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    let compute = compute(word).ok_or(Illegal)?;
    let operand = match word.funct6() {
        0b101010 | 0b101011 => Operand::unsigned(state, word),
        _ => Operand::signed(state, word),
    };
    let vector = &mut state.vector;
    let mut fixed = Fixed::of(vector);
    map(vector, word, operand, |width, a, b, _| {
        compute(&mut fixed, width, a, b)
    })?;
    vector.saturated = fixed.saturated;
    Ok(())
}

fn compute(word: Word) -> Option<Compute> {
    let immediate = word.funct3() == 3;
    if matches!(word.funct3(), 2 | 6) {
        return averages(word.funct6());
    }
    Some(match word.funct6() {
        0b100000 => |fixed, width, a, b| fixed.saturate(width, false, i128::from(a) + i128::from(b)),
        0b100001 => {
            |fixed, width, a, b| fixed.saturate(width, true, number(width, true, a) + number(width, true, b))
        }
        0b100010 if !immediate => {
            |fixed, width, a, b| fixed.saturate(width, false, i128::from(a) - i128::from(b))
        }
        0b100011 if !immediate => {
            |fixed, width, a, b| fixed.saturate(width, true, number(width, true, a) - number(width, true, b))
        }
        0b100111 if !immediate => |fixed, width, a, b| {
            let product = number(width, true, a) * number(width, true, b);
            let scaled = fixed.round(product, width.bits() - 1);
            fixed.saturate(width, true, scaled)
        },
        0b101010 => |fixed, width, a, b| fixed.round(a.into(), width.amount(b)) as u64,
        0b101011 => |fixed, width, a, b| fixed.round(number(width, true, a), width.amount(b)) as u64,
        _ => return None,
    })
}

fn averages(funct6: u32) -> Option<Compute> {
    Some(match funct6 {
        0b001000 => |fixed, _, a, b| fixed.round(i128::from(a) + i128::from(b), 1) as u64,
        0b001001 => {
            |fixed, width, a, b| fixed.round(number(width, true, a) + number(width, true, b), 1) as u64
        }
        0b001010 => |fixed, _, a, b| fixed.round(i128::from(a) - i128::from(b), 1) as u64,
        0b001011 => {
            |fixed, width, a, b| fixed.round(number(width, true, a) - number(width, true, b), 1) as u64
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(rounding: u8, value: i128) -> i128 {
        let fixed = Fixed {
            rounding,
            saturated: false,
        };
        fixed.round(value, 2)
    }

    #[test]
    fn quarters_are_rounded_in_four_ways() {
        let all = |rounding| [5, 6, 7, 10, -6, 4].map(|value| rounded(rounding, value));
        assert_eq!(all(0), [1, 2, 2, 3, -1, 1]);
        assert_eq!(all(1), [1, 2, 2, 2, -2, 1]);
        assert_eq!(all(2), [1, 1, 1, 2, -2, 1]);
        assert_eq!(all(3), [1, 1, 1, 3, -1, 1]);
    }
}
