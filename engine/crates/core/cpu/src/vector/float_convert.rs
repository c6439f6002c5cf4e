//! Conversions between formats, and between floating point and integers, of the same, the double and the half width.

use super::element::Width;
use super::float::{is_float, rounding};
use super::group::spares_mask;
use super::word::Word;
use super::{require, Done, Illegal};
use crate::float::{flag, from_integer, resize, to_integer, Double, Integer, Rounding, Single};
use crate::handlers::float::raise;
use crate::state::State;

/// The kinds of conversions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conversion {
    ToInteger { signed: bool, truncates: bool },
    FromInteger { signed: bool },
    Resize { to_odd: bool },
}

impl Conversion {
    fn of(word: Word) -> Conversion {
        let signed = word.vs1() & 1 != 0;
        match word.vs1() & 7 {
            0 | 1 => Conversion::ToInteger {
                signed,
                truncates: false,
            },
            2 | 3 => Conversion::FromInteger { signed },
            4 | 5 => Conversion::Resize { to_odd: signed },
            _ => Conversion::ToInteger {
                signed,
                truncates: true,
            },
        }
    }

    /// Whether there is a conversion between such widths.
    fn exists(self, source: Width, target: Width) -> bool {
        match self {
            Conversion::ToInteger { .. } => is_float(source),
            Conversion::FromInteger { .. } => is_float(target),
            Conversion::Resize { to_odd } => {
                is_float(source) && is_float(target) && source != target && (target < source || !to_odd)
            }
        }
    }

    fn apply(self, source: Width, target: Width, value: u64, mode: Rounding, flags: &mut u8) -> u64 {
        match self {
            Conversion::ToInteger { signed, truncates } => {
                let mode = if truncates { Rounding::TowardZero } else { mode };
                let to = integer(target, signed);
                match source {
                    Width::WORD => to_integer::<Single>(value, to, mode, flags),
                    _ => to_integer::<Double>(value, to, mode, flags),
                }
            }
            Conversion::FromInteger { signed } => {
                let value = if signed {
                    source.signed(value) as u64
                } else {
                    value
                };
                let from = integer(Width::LONG, signed);
                match target {
                    Width::WORD => from_integer::<Single>(value, from, mode, flags),
                    _ => from_integer::<Double>(value, from, mode, flags),
                }
            }
            Conversion::Resize { .. } if target > source => resize::<Single, Double>(value, mode, flags),
            Conversion::Resize { to_odd: false } => resize::<Double, Single>(value, mode, flags),
            Conversion::Resize { to_odd: true } => round_to_odd(value, flags),
        }
    }
}

/// A double as a single, whose last bit is set if the conversion is inexact.
fn round_to_odd(value: u64, flags: &mut u8) -> u64 {
    let mut raised = 0;
    let result = resize::<Double, Single>(value, Rounding::TowardZero, &mut raised);
    *flags |= raised;
    result | u64::from(raised & flag::INEXACT != 0)
}

fn integer(width: Width, signed: bool) -> Integer {
    match (width, signed) {
        (Width::SHORT, true) => Integer::Short,
        (Width::SHORT, false) => Integer::ShortUnsigned,
        (Width::WORD, true) => Integer::Word,
        (Width::WORD, false) => Integer::WordUnsigned,
        (_, true) => Integer::Long,
        (_, false) => Integer::LongUnsigned,
    }
}

pub(super) fn execute(state: &mut State, word: Word) -> Done {
    let mode = rounding(state)?;
    let kind = state.vector.kind()?;
    let (source, target) = match word.vs1() >> 3 {
        0 => (kind, kind),
        1 => (kind, kind.doubled()?),
        2 => (kind.doubled()?, kind),
        _ => return Err(Illegal),
    };
    let conversion = Conversion::of(word);
    require(conversion.exists(source.width, target.width))?;
    let group = target.group(word.vd())?;
    spares_mask(word, group)?;
    require(group.may_overlap_source(source.group(word.vs2())?))?;
    let mut flags = 0;
    state.vector.each(word, |vector, index| {
        let value = vector.get(word.vs2(), index, source.width);
        let result = conversion.apply(source.width, target.width, value, mode, &mut flags);
        vector.put(word.vd(), index, target.width, result);
    });
    raise(state, flags);
    Ok(())
}
