//! Additions, logic, shifts, minimum and maximum of elements of one width.

use super::element::Width;
use super::operand::{map, Operand};
use super::word::Word;
use super::{Done, Illegal};
use crate::state::State;

type Compute = fn(Width, u64, u64) -> u64;

/// Executes the instruction, if it is one of these.
pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    let (compute, operand): (Compute, Operand) = match plain(word) {
        Some(compute) => (compute, Operand::signed(state, word)),
        None => (
            shift(word.funct6()).ok_or(Illegal)?,
            Operand::unsigned(state, word),
        ),
    };
    map(&mut state.vector, word, operand, |width, a, b, _| {
        compute(width, a, b)
    })
}

fn plain(word: Word) -> Option<Compute> {
    let immediate = word.funct3() == 3;
    let vectors = word.funct3() == 0;
    Some(match word.funct6() {
        0b000000 => |_, a, b| a.wrapping_add(b),
        0b000010 if !immediate => |_, a, b| a.wrapping_sub(b),
        0b000011 if !vectors => |_, a, b| b.wrapping_sub(a),
        0b000100 if !immediate => |_, a, b| a.min(b),
        0b000101 if !immediate => |width, a, b| width.signed(a).min(width.signed(b)) as u64,
        0b000110 if !immediate => |_, a, b| a.max(b),
        0b000111 if !immediate => |width, a, b| width.signed(a).max(width.signed(b)) as u64,
        0b001001 => |_, a, b| a & b,
        0b001010 => |_, a, b| a | b,
        0b001011 => |_, a, b| a ^ b,
        _ => return None,
    })
}

fn shift(funct6: u32) -> Option<Compute> {
    Some(match funct6 {
        0b100101 => |width, a, b| a << width.amount(b),
        0b101000 => |width, a, b| a >> width.amount(b),
        0b101001 => |width, a, b| (width.signed(a) >> width.amount(b)) as u64,
        _ => return None,
    })
}
