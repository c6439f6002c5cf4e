//! Shifts of elements twice as wide into narrower ones.

use super::element::Width;
use super::fixed::{number, Fixed};
use super::group::spares_mask;
use super::operand::Operand;
use super::word::Word;
use super::{require, Done, Illegal};
use crate::state::State;

pub(crate) fn execute(state: &mut State, word: Word) -> Done {
    let compute: fn(&mut Fixed, Width, Width, u64, u32) -> u64 = match word.funct6() {
        0b101100 => |_, _, _, value, amount| value >> amount,
        0b101101 => |_, _, wide, value, amount| (wide.signed(value) >> amount) as u64,
        0b101110 => |fixed, narrow, wide, value, amount| clip(fixed, narrow, wide, false, value, amount),
        0b101111 => |fixed, narrow, wide, value, amount| clip(fixed, narrow, wide, true, value, amount),
        _ => return Err(Illegal),
    };
    let operand = Operand::unsigned(state, word);
    let vector = &mut state.vector;
    let kind = vector.kind()?;
    let wide = kind.doubled()?;
    let target = kind.group(word.vd())?;
    spares_mask(word, target)?;
    require(target.may_overlap_source(wide.group(word.vs2())?))?;
    operand.group(kind)?;
    let mut fixed = Fixed::of(vector);
    vector.each(word, |vector, index| {
        let value = vector.get(word.vs2(), index, wide.width);
        let amount = wide.width.amount(operand.get(vector, index, kind.width));
        let result = compute(&mut fixed, kind.width, wide.width, value, amount);
        vector.put(word.vd(), index, kind.width, result);
    });
    vector.saturated = fixed.saturated;
    Ok(())
}

fn clip(fixed: &mut Fixed, narrow: Width, wide: Width, signed: bool, value: u64, amount: u32) -> u64 {
    let scaled = fixed.round(number(wide, signed, value), amount);
    fixed.saturate(narrow, signed, scaled)
}
