//! Slides, gathers and compression.

use super::element::Width;
use super::group::{spares_mask, Group};
use super::operand::Operand;
use super::unit::Vector;
use super::word::Word;
use super::{require, Done};

/// `vslideup`: elements move to higher indices, and those below are unchanged.
pub(crate) fn slide_up(vector: &mut Vector, word: Word, offset: u64) -> Done {
    let kind = vector.kind()?;
    apart(vector, word)?;
    vector.each(word, |vector, index| {
        if index as u64 >= offset {
            let value = vector.get(word.vs2(), index - offset as usize, kind.width);
            vector.put(word.vd(), index, kind.width, value);
        }
    });
    Ok(())
}

/// `vslidedown`: elements move to lower indices, and zeros follow those of the whole group.
pub(crate) fn slide_down(vector: &mut Vector, word: Word, offset: u64) -> Done {
    let kind = vector.kind()?;
    spares_mask(word, kind.group(word.vd())?)?;
    kind.group(word.vs2())?;
    vector.each(word, |vector, index| {
        let from = (index as u64).saturating_add(offset);
        let value = element(vector, word.vs2(), from, kind.most(), kind.width);
        vector.put(word.vd(), index, kind.width, value);
    });
    Ok(())
}

/// `vslide1up` and `vfslide1up`: by one, with the scalar first.
pub(crate) fn push_up(vector: &mut Vector, word: Word, scalar: u64) -> Done {
    let kind = vector.kind()?;
    apart(vector, word)?;
    vector.each(word, |vector, index| {
        let value = match index.checked_sub(1) {
            Some(before) => vector.get(word.vs2(), before, kind.width),
            None => scalar,
        };
        vector.put(word.vd(), index, kind.width, value);
    });
    Ok(())
}

/// `vslide1down` and `vfslide1down`: by one, with the scalar last.
pub(crate) fn push_down(vector: &mut Vector, word: Word, scalar: u64) -> Done {
    let kind = vector.kind()?;
    spares_mask(word, kind.group(word.vd())?)?;
    kind.group(word.vs2())?;
    vector.each(word, |vector, index| {
        let value = if index + 1 < vector.length {
            vector.get(word.vs2(), index + 1, kind.width)
        } else {
            scalar
        };
        vector.put(word.vd(), index, kind.width, value);
    });
    Ok(())
}

/// `vrgather` with indices of the elements' own width, or one index for all.
pub(crate) fn gather(vector: &mut Vector, word: Word, indices: Operand) -> Done {
    let width = vector.kind()?.width;
    gather_by(vector, word, indices, width)
}

/// `vrgatherei16`.
pub(crate) fn gather_by_short(vector: &mut Vector, word: Word) -> Done {
    gather_by(vector, word, Operand::Vector(word.vs1()), Width::SHORT)
}

fn gather_by(vector: &mut Vector, word: Word, indices: Operand, width: Width) -> Done {
    let kind = vector.kind()?;
    apart(vector, word)?;
    let target = kind.group(word.vd())?;
    if indices.is_vector() {
        let source = indices.group(kind.with_width(width)?)?;
        require(source.is_none_or(|source| !source.overlaps(target)))?;
    }
    vector.each(word, |vector, index| {
        let from = match indices {
            Operand::Vector(register) => vector.get(register, index, width),
            Operand::Scalar(from) => from,
        };
        let value = element(vector, word.vs2(), from, kind.most(), kind.width);
        vector.put(word.vd(), index, kind.width, value);
    });
    Ok(())
}

/// `vcompress.vm`: the elements that the mask names, one after the other.
pub(crate) fn compress(vector: &mut Vector, word: Word) -> Done {
    let kind = vector.kind()?;
    require(!word.masked() && vector.start == 0)?;
    apart(vector, word)?;
    require(!kind.group(word.vd())?.overlaps(Group::single(word.vs1())))?;
    let mut next = 0;
    for index in 0..vector.length {
        if vector.bit(word.vs1(), index) {
            let value = vector.get(word.vs2(), index, kind.width);
            vector.put(word.vd(), next, kind.width, value);
            next += 1;
        }
    }
    Ok(())
}

/// Checks that destination and `vs2` are groups that do not overlap.
fn apart(vector: &Vector, word: Word) -> Done {
    let kind = vector.kind()?;
    let target = kind.group(word.vd())?;
    spares_mask(word, target)?;
    require(!target.overlaps(kind.group(word.vs2())?))
}

/// Element `index`, or zero beyond the `most` that there are.
fn element(vector: &Vector, register: u8, index: u64, most: usize, width: Width) -> u64 {
    if index < most as u64 {
        vector.get(register, index as usize, width)
    } else {
        0
    }
}
