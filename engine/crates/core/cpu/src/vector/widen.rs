//! Integer arithmetic with results twice as wide as the operands.

use super::element::Width;
use super::operand::{widened_kinds, Operand};
use super::word::Word;
use super::{Done, Illegal};
use crate::state::State;

/// The computation on `vs2`, the operand and the old destination.
struct Plan {
    compute: fn(u64, u64, u64) -> u64,
    /// Whether `vs2` is signed, and whether the operand is.
    signed: (bool, bool),
    /// Whether `vs2` is as wide as the result already.
    wide: bool,
}

pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    let plan = plan(word).ok_or(Illegal)?;
    let operand = Operand::signed(state, word);
    let vector = &mut state.vector;
    let narrow = vector.kind()?;
    let (first, wide) = widened_kinds(narrow, word, operand, plan.wide)?;
    vector.each(word, |vector, index| {
        let a = extended(
            first.width,
            plan.signed.0,
            vector.get(word.vs2(), index, first.width),
        );
        let b = extended(
            narrow.width,
            plan.signed.1,
            operand.get(vector, index, narrow.width),
        );
        let old = vector.get(word.vd(), index, wide.width);
        vector.put(word.vd(), index, wide.width, (plan.compute)(a, b, old));
    });
    Ok(())
}

fn extended(width: Width, signed: bool, value: u64) -> u64 {
    if signed {
        width.signed(value) as u64
    } else {
        value
    }
}

fn plan(word: Word) -> Option<Plan> {
    let add = |a: u64, b: u64, _: u64| a.wrapping_add(b);
    let subtract = |a: u64, b: u64, _: u64| a.wrapping_sub(b);
    let multiply = |a: u64, b: u64, _: u64| a.wrapping_mul(b);
    let accumulate = |a: u64, b: u64, old: u64| old.wrapping_add(a.wrapping_mul(b));
    let (compute, signed, wide): (fn(u64, u64, u64) -> u64, _, _) = match word.funct6() {
        0b110000 => (add, (false, false), false),
        0b110001 => (add, (true, true), false),
        0b110010 => (subtract, (false, false), false),
        0b110011 => (subtract, (true, true), false),
        0b110100 => (add, (false, false), true),
        0b110101 => (add, (true, true), true),
        0b110110 => (subtract, (false, false), true),
        0b110111 => (subtract, (true, true), true),
        0b111000 => (multiply, (false, false), false),
        0b111010 => (multiply, (true, false), false),
        0b111011 => (multiply, (true, true), false),
        0b111100 => (accumulate, (false, false), false),
        0b111101 => (accumulate, (true, true), false),
        // Unsigned scalar and signed vector; only for scalars.
        0b111110 if word.funct3() == 6 => (accumulate, (true, false), false),
        0b111111 => (accumulate, (false, true), false),
        _ => return None,
    };
    Some(Plan {
        compute,
        signed,
        wide,
    })
}
