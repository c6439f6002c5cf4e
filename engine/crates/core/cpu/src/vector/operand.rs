//! The operand that is a vector, a scalar or an immediate, and loops over elements that have one.

use super::element::Width;
use super::group::{spares_mask, Group, Kind};
use super::unit::Vector;
use super::word::Word;
use super::{require, Done, Illegal};
use crate::state::State;

/// Second operand of most instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Vector(u8),
    Scalar(u64),
}

impl Operand {
    /// The integer operand of an instruction; an immediate is sign-extended.
    pub(crate) fn signed(state: &State, word: Word) -> Operand {
        match word.funct3() {
            0 | 2 => Operand::Vector(word.vs1()),
            3 => Operand::Scalar(word.immediate()),
            _ => Operand::Scalar(state.x[usize::from(word.vs1())]),
        }
    }

    /// The same with an immediate that counts from zero, as amounts and indices do.
    pub(crate) fn unsigned(state: &State, word: Word) -> Operand {
        match word.funct3() {
            3 => Operand::Scalar(word.vs1().into()),
            _ => Operand::signed(state, word),
        }
    }

    /// Its value for element `index`, zero-extended.
    #[inline]
    pub(crate) fn get(self, vector: &Vector, index: usize, width: Width) -> u64 {
        match self {
            Operand::Vector(register) => vector.get(register, index, width),
            Operand::Scalar(value) => width.unsigned(value),
        }
    }

    /// The registers, if it is a vector of `kind`.
    pub(crate) fn group(self, kind: Kind) -> Result<Option<Group>, Illegal> {
        match self {
            Operand::Vector(register) => kind.group(register).map(Some),
            Operand::Scalar(_) => Ok(None),
        }
    }

    pub(crate) fn is_vector(self) -> bool {
        matches!(self, Operand::Vector(_))
    }
}

/// `vd[i] = compute(width, vs2[i], operand[i], vd[i])`, all of one width.
pub(crate) fn map(
    vector: &mut Vector,
    word: Word,
    operand: Operand,
    mut compute: impl FnMut(Width, u64, u64, u64) -> u64,
) -> Done {
    let kind = vector.kind()?;
    let target = kind.group(word.vd())?;
    kind.group(word.vs2())?;
    operand.group(kind)?;
    spares_mask(word, target)?;
    let width = kind.width;
    vector.each(word, |vector, index| {
        let first = vector.get(word.vs2(), index, width);
        let second = operand.get(vector, index, width);
        let old = vector.get(word.vd(), index, width);
        vector.put(word.vd(), index, width, compute(width, first, second, old));
    });
    Ok(())
}

/// `vd[i] = compute(width, vs2[i], operand[i])`, where `vd` is a mask.
pub(crate) fn map_to_mask(
    vector: &mut Vector,
    word: Word,
    operand: Operand,
    mut compute: impl FnMut(Width, u64, u64) -> bool,
) -> Done {
    let kind = vector.kind()?;
    check_mask_target(kind, word, operand)?;
    let width = kind.width;
    vector.each(word, |vector, index| {
        let first = vector.get(word.vs2(), index, width);
        let second = operand.get(vector, index, width);
        vector.set_bit(word.vd(), index, compute(width, first, second));
    });
    Ok(())
}

/// The kinds of `vs2` and of a destination twice as wide as the operand, whose registers may overlap as they do; `vs2`
/// is as wide as the destination if it is `wide`.
pub(crate) fn widened_kinds(
    narrow: Kind,
    word: Word,
    operand: Operand,
    wide: bool,
) -> Result<(Kind, Kind), Illegal> {
    let double = narrow.doubled()?;
    let first = if wide { double } else { narrow };
    let target = double.group(word.vd())?;
    spares_mask(word, target)?;
    require(target.may_overlap_source(first.group(word.vs2())?))?;
    let operand = operand.group(narrow)?;
    require(operand.is_none_or(|source| target.may_overlap_source(source)))?;
    Ok((first, double))
}

/// A mask may overlap the lowest register of a source only.
pub(crate) fn check_mask_target(kind: Kind, word: Word, operand: Operand) -> Done {
    let target = Group::single(word.vd());
    let spared = |source: Group| source.first == target.first || !source.overlaps(target);
    require(spared(kind.group(word.vs2())?))?;
    require(operand.group(kind)?.is_none_or(spared))
}
