//! Reductions of integers: all active elements and a first one make one.

use super::element::Width;
use super::unit::Vector;
use super::word::Word;
use super::{require, Done, Illegal};

type Compute = fn(Width, u64, u64) -> u64;

/// `vredsum` and its like.
pub(crate) fn execute(vector: &mut Vector, word: Word) -> Done {
    let compute: Compute = match word.funct6() {
        0b000000 => |_, a, b| a.wrapping_add(b),
        0b000001 => |_, a, b| a & b,
        0b000010 => |_, a, b| a | b,
        0b000011 => |_, a, b| a ^ b,
        0b000100 => |_, a, b| a.min(b),
        0b000101 => |width, a, b| width.signed(a).min(width.signed(b)) as u64,
        0b000110 => |_, a, b| a.max(b),
        0b000111 => |width, a, b| width.signed(a).max(width.signed(b)) as u64,
        _ => return Err(Illegal),
    };
    let width = vector.kind()?.width;
    fold(vector, word, width, |width, result, value| {
        width.unsigned(compute(width, result, value))
    })
}

/// `vwredsum` and `vwredsumu`, whose result is twice as wide as the elements.
pub(crate) fn widening(vector: &mut Vector, word: Word, signed: bool) -> Done {
    let narrow = vector.kind()?.width;
    require(narrow < Width::LONG)?;
    let wide = Width(narrow.0 + 1);
    fold(vector, word, wide, |_, result, value| {
        result.wrapping_add(if signed {
            narrow.signed(value) as u64
        } else {
            value
        })
    })
}

/// `vd[0]`, with the width of `result`, from `vs1[0]` of that width and the active elements of `vs2`, in their order.
pub(crate) fn fold(
    vector: &mut Vector,
    word: Word,
    result: Width,
    mut compute: impl FnMut(Width, u64, u64) -> u64,
) -> Done {
    let kind = vector.kind()?;
    require(vector.start == 0)?;
    kind.group(word.vs2())?;
    if vector.length == 0 {
        return Ok(());
    }
    let mut sum = vector.get(word.vs1(), 0, result);
    vector.each(word, |vector, index| {
        sum = compute(result, sum, vector.get(word.vs2(), index, kind.width));
    });
    vector.put(word.vd(), 0, result, sum);
    Ok(())
}
