//! Fused multiply-adds, into elements of the same width or of twice the width.

use super::element::Width;
use super::float::{float_kind, operand, rounding};
use super::float_widen::{doubled, widened};
use super::operand::map;
use super::word::Word;
use super::Done;
use crate::float::{self, Double, Format, Rounding, Single};
use crate::handlers::float::raise;
use crate::state::State;

/// `a * b + c`, in which the product or the addend may be negated.
fn multiply_add<F: Format>(word: Word, [a, b, c]: [u64; 3], mode: Rounding, flags: &mut u8) -> u64 {
    let negative = |bit: u32, bits: u64| if bit & 1 != 0 { bits ^ F::SIGN } else { bits };
    let form = word.funct6();
    float::multiply_add::<F>(negative(form, a), b, negative(form ^ form >> 1, c), mode, flags)
}

pub(super) fn execute(state: &mut State, word: Word) -> Done {
    let width = float_kind(state)?.width;
    let (operand, mode) = (operand(state, word, width), rounding(state)?);
    // The destination is added to, or multiplied.
    let accumulates = word.funct6() & 4 != 0;
    let mut flags = 0;
    map(&mut state.vector, word, operand, |_, first, second, old| {
        let operands = if accumulates {
            [first, second, old]
        } else {
            [old, second, first]
        };
        match width {
            Width::WORD => multiply_add::<Single>(word, operands, mode, &mut flags),
            _ => multiply_add::<Double>(word, operands, mode, &mut flags),
        }
    })?;
    raise(state, flags);
    Ok(())
}

/// The destination is twice as wide as the factors.
pub(super) fn widening(state: &mut State, word: Word) -> Done {
    let mode = rounding(state)?;
    widened(state, word, false, |a, b, old, flags| {
        let operands = [doubled(a, mode, flags), doubled(b, mode, flags), old];
        multiply_add::<Double>(word, operands, mode, flags)
    })
}
