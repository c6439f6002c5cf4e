//! Additions and subtractions with a carry or borrow from `v0`, and those that produce one.

use super::element::Width;
use super::group::spares_mask;
use super::operand::{check_mask_target, Operand};
use super::unit::Vector;
use super::word::Word;
use super::{require, Done, Illegal};
use crate::state::State;

pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    let subtracts = word.funct6() & 2 != 0;
    require(!(subtracts && word.funct3() == 3))?;
    let operand = Operand::signed(state, word);
    match word.funct6() {
        0b010000 | 0b010010 => sums(&mut state.vector, word, operand, subtracts),
        0b010001 | 0b010011 => carries(&mut state.vector, word, operand, subtracts),
        _ => Err(Illegal),
    }
}

/// Sum and carry of two elements and a carry; or difference and borrow.
fn add(width: Width, subtracts: bool, a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (a, b, carry) = (i128::from(a), i128::from(b), i128::from(carry));
    let result = if subtracts { a - b - carry } else { a + b + carry };
    (result as u64, result >> width.bits() != 0)
}

/// `vadc` and `vsbc`, which work on all elements: `v0` holds carries and no mask.
fn sums(vector: &mut Vector, word: Word, operand: Operand, subtracts: bool) -> Done {
    require(word.masked())?;
    let kind = vector.kind()?;
    spares_mask(word, kind.group(word.vd())?)?;
    kind.group(word.vs2())?;
    operand.group(kind)?;
    for index in vector.start..vector.length {
        let a = vector.get(word.vs2(), index, kind.width);
        let b = operand.get(vector, index, kind.width);
        let (sum, _) = add(kind.width, subtracts, a, b, vector.bit(0, index));
        vector.put(word.vd(), index, kind.width, sum);
    }
    vector.start = 0;
    Ok(())
}

/// `vmadc` and `vmsbc`, with carries in `v0` or without.
fn carries(vector: &mut Vector, word: Word, operand: Operand, subtracts: bool) -> Done {
    let kind = vector.kind()?;
    check_mask_target(kind, word, operand)?;
    for index in vector.start..vector.length {
        let a = vector.get(word.vs2(), index, kind.width);
        let b = operand.get(vector, index, kind.width);
        let carry = word.masked() && vector.bit(0, index);
        let (_, carry) = add(kind.width, subtracts, a, b, carry);
        vector.set_bit(word.vd(), index, carry);
    }
    vector.start = 0;
    Ok(())
}
