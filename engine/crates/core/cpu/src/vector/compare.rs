//! Comparisons of integers, which make masks.

use super::element::Width;
use super::operand::{map_to_mask, Operand};
use super::word::Word;
use super::{Done, Illegal};
use crate::state::State;

pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    let immediate = word.funct3() == 3;
    let vectors = word.funct3() == 0;
    let compute: fn(Width, u64, u64) -> bool = match word.funct6() {
        0b011000 => |_, a, b| a == b,
        0b011001 => |_, a, b| a != b,
        0b011010 if !immediate => |_, a, b| a < b,
        0b011011 if !immediate => |width, a, b| width.signed(a) < width.signed(b),
        0b011100 => |_, a, b| a <= b,
        0b011101 => |width, a, b| width.signed(a) <= width.signed(b),
        0b011110 if !vectors => |_, a, b| a > b,
        0b011111 if !vectors => |width, a, b| width.signed(a) > width.signed(b),
        _ => return Err(Illegal),
    };
    let operand = Operand::signed(state, word);
    map_to_mask(&mut state.vector, word, operand, compute)
}
