//! Multiplications, divisions and multiply-adds of integers of one width.

use super::element::Width;
use super::operand::{map, Operand};
use super::word::Word;
use super::{Done, Illegal};
use crate::state::State;

type Compute = fn(Width, u64, u64, u64) -> u64;

pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    let compute = compute(word.funct6()).ok_or(Illegal)?;
    let operand = Operand::signed(state, word);
    map(&mut state.vector, word, operand, compute)
}

/// The computation on `vs2`, the operand and the old destination.
fn compute(funct6: u32) -> Option<Compute> {
    Some(match funct6 {
        0b100000 => |_, a, b, _| a.checked_div(b).unwrap_or(u64::MAX),
        0b100001 => |width, a, b, _| match (width.signed(a), width.signed(b)) {
            (_, 0) => u64::MAX,
            (a, b) => a.wrapping_div(b) as u64,
        },
        0b100010 => |_, a, b, _| a.checked_rem(b).unwrap_or(a),
        0b100011 => |width, a, b, _| match (width.signed(a), width.signed(b)) {
            (a, 0) => a as u64,
            (a, b) => a.wrapping_rem(b) as u64,
        },
        0b100100 => |width, a, b, _| ((u128::from(a) * u128::from(b)) >> width.bits()) as u64,
        0b100101 => |_, a, b, _| a.wrapping_mul(b),
        0b100110 => |width, a, b, _| high(width, width.signed(a).into(), b.into()),
        0b100111 => |width, a, b, _| high(width, width.signed(a).into(), width.signed(b).into()),
        0b101001 => |_, a, b, old| old.wrapping_mul(b).wrapping_add(a),
        0b101011 => |_, a, b, old| a.wrapping_sub(old.wrapping_mul(b)),
        0b101101 => |_, a, b, old| old.wrapping_add(a.wrapping_mul(b)),
        0b101111 => |_, a, b, old| old.wrapping_sub(a.wrapping_mul(b)),
        _ => return None,
    })
}

/// The high half of a product.
fn high(width: Width, a: i128, b: i128) -> u64 {
    ((a * b) >> width.bits()) as u64
}
