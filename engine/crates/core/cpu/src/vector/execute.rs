//! Which instruction it is.

use super::element::Width;
use super::moves;
use super::operand::Operand;
use super::permute;
use super::word::Word;
use super::{
    carry, compare, fixed, float, float_convert, float_widen, fused, integer, mask, multiply, narrow, reduce,
    widen, Done, Illegal,
};
use crate::state::State;

/// Executes an instruction that is neither a load or store nor sets the type.
pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    match word.funct3() {
        0 | 3 | 4 => general(state, word),
        2 | 6 => mixed(state, word),
        _ => floating(state, word),
    }
}

/// Instructions on integers with all kinds of operands (OPIVV, OPIVX, OPIVI).
fn general(state: &mut State, word: Word) -> Done {
    let vectors = word.funct3() == 0;
    let immediate = word.funct3() == 3;
    match word.funct6() {
        0b001100 => {
            let indices = Operand::unsigned(state, word);
            permute::gather(&mut state.vector, word, indices)
        }
        0b001110 if vectors => permute::gather_by_short(&mut state.vector, word),
        0b001110 | 0b001111 if !vectors => slide(state, word),
        0b010000..=0b010011 => carry::execute(state, word),
        0b010111 => {
            let operand = Operand::signed(state, word);
            moves::merge(&mut state.vector, word, operand)
        }
        0b011000..=0b011111 => compare::execute(state, word),
        0b100111 if immediate => moves::whole(&mut state.vector, word),
        0b100000..=0b100011 | 0b100111 | 0b101010 | 0b101011 => fixed::execute(state, word),
        0b101100..=0b101111 => narrow::execute(state, word),
        0b110000 | 0b110001 if vectors => {
            let signed = word.funct6() & 1 != 0;
            reduce::widening(&mut state.vector, word, signed)
        }
        _ => integer::execute(state, word),
    }
}

fn slide(state: &mut State, word: Word) -> Done {
    let offset = match Operand::unsigned(state, word) {
        Operand::Scalar(offset) => offset,
        Operand::Vector(_) => return Err(Illegal),
    };
    if word.funct6() & 1 == 0 {
        permute::slide_up(&mut state.vector, word, offset)
    } else {
        permute::slide_down(&mut state.vector, word, offset)
    }
}

/// Multiplications, masks and other operations without immediates (OPMVV, OPMVX).
fn mixed(state: &mut State, word: Word) -> Done {
    let vectors = word.funct3() == 2;
    let scalar = state.x[usize::from(word.vs1())];
    match word.funct6() {
        0b000000..=0b000111 if vectors => reduce::execute(&mut state.vector, word),
        0b001000..=0b001011 => fixed::execute(state, word),
        0b001110 if !vectors => permute::push_up(&mut state.vector, word, scalar),
        0b001111 if !vectors => permute::push_down(&mut state.vector, word, scalar),
        0b010000 if !vectors => moves::set_first(&mut state.vector, word, scalar),
        0b010000 => to_integer(state, word),
        0b010010 if vectors => moves::extend(&mut state.vector, word),
        0b010100 if vectors => mask::execute(&mut state.vector, word),
        0b010111 if vectors => permute::compress(&mut state.vector, word),
        0b011000..=0b011111 if vectors => mask::logic(&mut state.vector, word),
        0b110000.. => widen::execute(state, word),
        _ => multiply::execute(state, word),
    }
}

fn to_integer(state: &mut State, word: Word) -> Done {
    match word.vs1() {
        0 => moves::first_to_integer(state, word),
        16 => mask::count(state, word),
        17 => mask::first(state, word),
        _ => Err(Illegal),
    }
}

/// Instructions on floating-point numbers (OPFVV, OPFVF).
fn floating(state: &mut State, word: Word) -> Done {
    let vectors = word.funct3() == 1;
    match word.funct6() {
        0b000001 | 0b000011 | 0b000101 | 0b000111 => float::reduce(state, word),
        0b001110 | 0b001111 | 0b010111 if !vectors => with_scalar(state, word),
        0b010000 if vectors => float::first(state, word),
        0b010000 => with_scalar(state, word),
        0b010010 if vectors => float_convert::execute(state, word),
        0b010011 if vectors => float::unary(state, word),
        0b011000..=0b011111 => float::compare(state, word),
        0b101000..=0b101111 => fused::execute(state, word),
        0b110001 | 0b110011 => float_widen::reduce(state, word),
        0b110000..=0b111011 => float_widen::execute(state, word),
        0b111100.. => fused::widening(state, word),
        _ => float::arithmetic(state, word),
    }
}

/// Moves that take a floating-point register.
fn with_scalar(state: &mut State, word: Word) -> Done {
    let width: Width = float::float_kind(state)?.width;
    let scalar = float::scalar(state, word, width);
    let vector = &mut state.vector;
    match word.funct6() {
        0b001110 => permute::push_up(vector, word, scalar),
        0b001111 => permute::push_down(vector, word, scalar),
        0b010111 => moves::merge(vector, word, Operand::Scalar(scalar)),
        _ => moves::set_first(vector, word, scalar),
    }
}
