//! Floating-point arithmetic on singles with results in double precision.

use super::element::Width;
use super::float::{float_kind, operand, rounding};
use super::operand::widened_kinds;
use super::reduce::fold;
use super::word::Word;
use super::{require, Done, Illegal};
use crate::float::{self, Double, Rounding, Single};
use crate::handlers::float::raise;
use crate::state::State;

/// A single as a double.
pub(super) fn doubled(bits: u64, mode: Rounding, flags: &mut u8) -> u64 {
    float::resize::<Single, Double>(bits, mode, flags)
}

/// `vd[i] = compute(vs2[i], operand[i], vd[i])` with a destination in double precision, and `vs2` too if it is `wide`.
pub(super) fn widened(
    state: &mut State,
    word: Word,
    wide: bool,
    mut compute: impl FnMut(u64, u64, u64, &mut u8) -> u64,
) -> Done {
    let narrow = float_kind(state)?;
    let operand = operand(state, word, Width::WORD);
    let (first, double) = widened_kinds(narrow, word, operand, wide)?;
    let mut flags = 0;
    state.vector.each(word, |vector, index| {
        let a = vector.get(word.vs2(), index, first.width);
        let b = operand.get(vector, index, narrow.width);
        let old = vector.get(word.vd(), index, double.width);
        vector.put(word.vd(), index, double.width, compute(a, b, old, &mut flags));
    });
    raise(state, flags);
    Ok(())
}

/// `vfwadd` and its like.
pub(super) fn execute(state: &mut State, word: Word) -> Done {
    let mode = rounding(state)?;
    let (compute, wide): (super::float::Binary, bool) = match word.funct6() {
        0b110000 => (float::add::<Double>, false),
        0b110010 => (float::subtract::<Double>, false),
        0b110100 => (float::add::<Double>, true),
        0b110110 => (float::subtract::<Double>, true),
        0b111000 => (float::multiply::<Double>, false),
        _ => return Err(Illegal),
    };
    widened(state, word, wide, |a, b, _, flags| {
        let a = if wide { a } else { doubled(a, mode, flags) };
        let b = doubled(b, mode, flags);
        compute(a, b, mode, flags)
    })
}

/// `vfwredusum` and `vfwredosum`.
pub(super) fn reduce(state: &mut State, word: Word) -> Done {
    let kind = float_kind(state)?;
    require(kind.width == Width::WORD && word.funct3() == 1)?;
    let mode = rounding(state)?;
    let mut flags = 0;
    fold(&mut state.vector, word, Width::LONG, |_, result, value| {
        let value = doubled(value, mode, &mut flags);
        float::add::<Double>(result, value, mode, &mut flags)
    })?;
    raise(state, flags);
    Ok(())
}
