//! Merges, moves of vectors, scalars and whole registers, and extensions.

use super::element::Width;
use super::group::{spares_mask, Kind};
use super::operand::Operand;
use super::unit::Vector;
use super::word::Word;
use super::{require, Done, Illegal, REGISTER_BYTES};
use crate::state::State;

/// `vmerge` and, without a mask, `vmv.v`.
pub(crate) fn merge(vector: &mut Vector, word: Word, operand: Operand) -> Done {
    let kind = vector.kind()?;
    require(word.masked() || word.vs2() == 0)?;
    spares_mask(word, kind.group(word.vd())?)?;
    kind.group(word.vs2())?;
    operand.group(kind)?;
    for index in vector.start..vector.length {
        let value = if vector.active(word, index) {
            operand.get(vector, index, kind.width)
        } else {
            vector.get(word.vs2(), index, kind.width)
        };
        vector.put(word.vd(), index, kind.width, value);
    }
    vector.start = 0;
    Ok(())
}

/// `vmv1r.v` and its like, which count in elements of the type that is set.
pub(crate) fn whole(vector: &mut Vector, word: Word) -> Done {
    let kind = vector.kind()?;
    let count = word.vs1() + 1;
    require(!word.masked() && matches!(count, 1 | 2 | 4 | 8))?;
    require(word.vd() % count == 0 && word.vs2() % count == 0)?;
    for index in vector.start..(usize::from(count) * REGISTER_BYTES) >> kind.width.0 {
        let value = vector.get(word.vs2(), index, kind.width);
        vector.put(word.vd(), index, kind.width, value);
    }
    vector.start = 0;
    Ok(())
}

/// `vmv.x.s`, which does not care for the length.
pub(crate) fn first_to_integer(state: &mut State, word: Word) -> Done {
    require(!word.masked())?;
    let width = state.vector.kind()?.width;
    let value = width.signed(state.vector.get(word.vs2(), 0, width)) as u64;
    set_integer(state, word, value);
    Ok(())
}

/// Sets the integer register that the instruction names, and ends it.
pub(crate) fn set_integer(state: &mut State, word: Word, value: u64) {
    if word.vd() != 0 {
        state.x[usize::from(word.vd())] = value;
    }
    state.vector.start = 0;
}

/// `vmv.s.x` and `vfmv.s.f`: sets the first element, if there are any.
pub(crate) fn set_first(vector: &mut Vector, word: Word, value: u64) -> Done {
    require(!word.masked() && word.vs2() == 0)?;
    let width = vector.kind()?.width;
    if vector.start < vector.length {
        vector.put(word.vd(), 0, width, value);
    }
    vector.start = 0;
    Ok(())
}

/// `vzext` and `vsext`.
pub(crate) fn extend(vector: &mut Vector, word: Word) -> Done {
    let kind = vector.kind()?;
    let source = narrower(kind, word)?;
    let signed = word.vs1() & 1 != 0;
    let target = kind.group(word.vd())?;
    spares_mask(word, target)?;
    require(target.may_overlap_source(source.group(word.vs2())?))?;
    vector.each(word, |vector, index| {
        let value = vector.get(word.vs2(), index, source.width);
        let value = if signed {
            source.width.signed(value) as u64
        } else {
            value
        };
        vector.put(word.vd(), index, kind.width, value);
    });
    Ok(())
}

/// The type of the source of an extension: an eighth, a quarter or half as wide.
fn narrower(kind: Kind, word: Word) -> Result<Kind, Illegal> {
    let steps = match word.vs1() {
        2 | 3 => 3,
        4 | 5 => 2,
        6 | 7 => 1,
        _ => return Err(Illegal),
    };
    let width = kind.width.0.checked_sub(steps).ok_or(Illegal)?;
    kind.with_width(Width(width))
}
