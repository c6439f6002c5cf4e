//! Instructions on masks.

use super::group::{spares_mask, Group};
use super::moves::set_integer;
use super::unit::Vector;
use super::word::Word;
use super::{require, Done, Illegal};
use crate::state::State;

/// `vmand.mm` and its like.
pub(crate) fn logic(vector: &mut Vector, word: Word) -> Done {
    vector.kind()?;
    require(!word.masked())?;
    let compute: fn(bool, bool) -> bool = match word.funct6() {
        0b011000 => |a, b| a & !b,
        0b011001 => |a, b| a & b,
        0b011010 => |a, b| a | b,
        0b011011 => |a, b| a ^ b,
        0b011100 => |a, b| a | !b,
        0b011101 => |a, b| !(a & b),
        0b011110 => |a, b| !(a | b),
        0b011111 => |a, b| a == b,
        _ => return Err(Illegal),
    };
    vector.each(word, |vector, index| {
        let result = compute(vector.bit(word.vs2(), index), vector.bit(word.vs1(), index));
        vector.set_bit(word.vd(), index, result);
    });
    Ok(())
}

/// The elements whose bit in `vs2` is set.
fn marked(vector: &Vector, word: Word) -> impl Iterator<Item = usize> + '_ {
    (0..vector.length).filter(move |&index| vector.active(word, index) && vector.bit(word.vs2(), index))
}

/// `vcpop.m`: number of set bits.
pub(crate) fn count(state: &mut State, word: Word) -> Done {
    check_whole(&state.vector)?;
    let count = marked(&state.vector, word).count() as u64;
    set_integer(state, word, count);
    Ok(())
}

/// `vfirst.m`: the first element whose bit is set, or minus one.
pub(crate) fn first(state: &mut State, word: Word) -> Done {
    check_whole(&state.vector)?;
    let first = marked(&state.vector, word).next();
    set_integer(state, word, first.map_or(u64::MAX, |index| index as u64));
    Ok(())
}

/// These instructions are not resumed in the middle.
fn check_whole(vector: &Vector) -> Done {
    vector.kind()?;
    require(vector.start == 0)
}

/// `vmsbf.m`, `vmsof.m`, `vmsif.m`, `viota.m` and `vid.v`.
pub(crate) fn execute(vector: &mut Vector, word: Word) -> Done {
    match word.vs1() {
        1 => around_first(vector, word, |index, first| index < first),
        2 => around_first(vector, word, |index, first| index == first),
        3 => around_first(vector, word, |index, first| index <= first),
        16 => counts_before(vector, word),
        17 => numbers(vector, word),
        _ => Err(Illegal),
    }
}

fn around_first(vector: &mut Vector, word: Word, set: fn(usize, usize) -> bool) -> Done {
    check_whole(vector)?;
    let target = Group::single(word.vd());
    spares_mask(word, target)?;
    require(word.vd() != word.vs2())?;
    let first = marked(vector, word).next().unwrap_or(usize::MAX);
    vector.each(word, |vector, index| {
        vector.set_bit(word.vd(), index, set(index, first));
    });
    Ok(())
}

/// `viota.m`: for each element, the number of set bits before it.
fn counts_before(vector: &mut Vector, word: Word) -> Done {
    check_whole(vector)?;
    let kind = vector.kind()?;
    let target = kind.group(word.vd())?;
    spares_mask(word, target)?;
    require(!target.overlaps(Group::single(word.vs2())))?;
    let mut count = 0;
    vector.each(word, |vector, index| {
        vector.put(word.vd(), index, kind.width, count);
        count += u64::from(vector.bit(word.vs2(), index));
    });
    Ok(())
}

/// `vid.v`: of each element, its index.
fn numbers(vector: &mut Vector, word: Word) -> Done {
    let kind = vector.kind()?;
    spares_mask(word, kind.group(word.vd())?)?;
    require(word.vs2() == 0)?;
    vector.each(word, |vector, index| {
        vector.put(word.vd(), index, kind.width, index as u64);
    });
    Ok(())
}
