//! Floating-point arithmetic of elements of one width.

use super::element::Width;
use super::group::Kind;
use super::operand::{map, map_to_mask, Operand};
use super::reduce::fold;
use super::word::Word;
use super::{require, Done, Illegal};
use crate::float::{self, Double, Format, Rounding, Single};
use crate::handlers::float::raise;
use crate::state::State;

/// An operation with its rounding mode and the flags that it raises.
pub(super) type Binary = fn(u64, u64, Rounding, &mut u8) -> u64;

/// The rounding mode; every instruction is illegal while it is reserved.
pub(super) fn rounding(state: &State) -> Result<Rounding, Illegal> {
    Rounding::from_code(state.float.mode).ok_or(Illegal)
}

/// The type that is set, if elements of its width can be floating-point numbers.
pub(super) fn float_kind(state: &State) -> Result<Kind, Illegal> {
    let kind = state.vector.kind()?;
    rounding(state)?;
    require(is_float(kind.width))?;
    Ok(kind)
}

pub(super) fn is_float(width: Width) -> bool {
    matches!(width, Width::WORD | Width::LONG)
}

/// The operand of a floating-point instruction whose scalars are `width` wide: a single that is not boxed is a NaN.
pub(super) fn operand(state: &State, word: Word, width: Width) -> Operand {
    if word.funct3() == 1 {
        return Operand::Vector(word.vs1());
    }
    Operand::Scalar(scalar(state, word, width))
}

/// The value of the floating-point register that the instruction names.
pub(super) fn scalar(state: &State, word: Word, width: Width) -> u64 {
    let bits = state.f[usize::from(word.vs1())];
    if width == Width::WORD {
        crate::handlers::float::unboxed(bits)
    } else {
        bits
    }
}

/// Arithmetic with two operands.
pub(super) fn arithmetic(state: &mut State, word: Word) -> Done {
    let kind = float_kind(state)?;
    let compute = match kind.width {
        Width::WORD => binary::<Single>(word),
        _ => binary::<Double>(word),
    }
    .ok_or(Illegal)?;
    let (operand, mode) = (operand(state, word, kind.width), rounding(state)?);
    let mut flags = 0;
    map(&mut state.vector, word, operand, |_, a, b, _| {
        compute(a, b, mode, &mut flags)
    })?;
    raise(state, flags);
    Ok(())
}

fn binary<F: Format>(word: Word) -> Option<Binary> {
    let scalar = word.funct3() == 5;
    Some(match word.funct6() {
        0b000000 => float::add::<F>,
        0b000010 => float::subtract::<F>,
        0b000100 => |a, b, _, flags| float::minimum::<F>(a, b, flags),
        0b000110 => |a, b, _, flags| float::maximum::<F>(a, b, flags),
        0b001000 => |a, b, _, _| a & !F::SIGN | b & F::SIGN,
        0b001001 => |a, b, _, _| a & !F::SIGN | !b & F::SIGN,
        0b001010 => |a, b, _, _| a ^ b & F::SIGN,
        0b100000 => float::divide::<F>,
        0b100001 if scalar => |a, b, mode, flags| float::divide::<F>(b, a, mode, flags),
        0b100100 => float::multiply::<F>,
        0b100111 if scalar => |a, b, mode, flags| float::subtract::<F>(b, a, mode, flags),
        _ => return None,
    })
}

/// Square roots, estimates and classes.
pub(super) fn unary(state: &mut State, word: Word) -> Done {
    let kind = float_kind(state)?;
    let compute = match kind.width {
        Width::WORD => one::<Single>(word.vs1()),
        _ => one::<Double>(word.vs1()),
    }
    .ok_or(Illegal)?;
    let mode = rounding(state)?;
    let mut flags = 0;
    map(&mut state.vector, word, Operand::Scalar(0), |_, a, _, _| {
        compute(a, mode, &mut flags)
    })?;
    raise(state, flags);
    Ok(())
}

fn one<F: Format>(number: u8) -> Option<fn(u64, Rounding, &mut u8) -> u64> {
    Some(match number {
        0b00000 => float::square_root::<F>,
        0b00100 => |bits, _, flags| super::float_estimate::reciprocal_root::<F>(bits, flags),
        0b00101 => super::float_estimate::reciprocal::<F>,
        0b10000 => |bits, _, _| float::classify::<F>(bits),
        _ => return None,
    })
}

/// Comparisons, which make masks.
pub(super) fn compare(state: &mut State, word: Word) -> Done {
    let kind = float_kind(state)?;
    let compute = match kind.width {
        Width::WORD => comparison::<Single>(word),
        _ => comparison::<Double>(word),
    }
    .ok_or(Illegal)?;
    let operand = operand(state, word, kind.width);
    let mut flags = 0;
    map_to_mask(&mut state.vector, word, operand, |_, a, b| {
        compute(a, b, &mut flags)
    })?;
    raise(state, flags);
    Ok(())
}

fn comparison<F: Format>(word: Word) -> Option<fn(u64, u64, &mut u8) -> bool> {
    let scalar = word.funct3() == 5;
    Some(match word.funct6() {
        0b011000 => float::equal::<F>,
        0b011001 => float::less_or_equal::<F>,
        0b011011 => float::less::<F>,
        0b011100 => |a, b, flags| !float::equal::<F>(a, b, flags),
        0b011101 if scalar => |a, b, flags| float::less::<F>(b, a, flags),
        0b011111 if scalar => |a, b, flags| float::less_or_equal::<F>(b, a, flags),
        _ => return None,
    })
}

/// Reductions, in the order of the elements, which unordered reductions may use too.
pub(super) fn reduce(state: &mut State, word: Word) -> Done {
    let kind = float_kind(state)?;
    require(word.funct3() == 1)?;
    let compute = match kind.width {
        Width::WORD => reduction::<Single>(word.funct6()),
        _ => reduction::<Double>(word.funct6()),
    }
    .ok_or(Illegal)?;
    let mode = rounding(state)?;
    let mut flags = 0;
    fold(&mut state.vector, word, kind.width, |_, result, value| {
        compute(result, value, mode, &mut flags)
    })?;
    raise(state, flags);
    Ok(())
}

fn reduction<F: Format>(funct6: u32) -> Option<Binary> {
    Some(match funct6 {
        0b000001 | 0b000011 => float::add::<F>,
        0b000101 => |a, b, _, flags| float::minimum::<F>(a, b, flags),
        0b000111 => |a, b, _, flags| float::maximum::<F>(a, b, flags),
        _ => return None,
    })
}

/// `vfmv.f.s`: the first element, for any length.
pub(super) fn first(state: &mut State, word: Word) -> Done {
    let width = float_kind(state)?.width;
    require(!word.masked() && word.vs1() == 0)?;
    let bits = state.vector.get(word.vs2(), 0, width);
    let boxed = if width == Width::WORD {
        crate::handlers::float::BOX
    } else {
        0
    };
    state.f[usize::from(word.vd())] = bits | boxed;
    state.vector.start = 0;
    Ok(())
}
