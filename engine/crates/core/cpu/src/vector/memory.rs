//! Loads and stores.

use super::element::Width;
use super::group::{spares_mask, Group, Kind};
use super::word::Word;
use super::{require, Illegal, REGISTER_BYTES};
use crate::access;
use crate::cause::Exception;
use crate::state::{State, Trouble};
use rackwright_memory::{LINE_BYTES, PAGE_BYTES};

/// The data that an access moves.
struct Plan {
    address: u64,
    /// From an element, or segment, to the next one.
    stride: u64,
    /// Widths of the offsets in `vs2`, which then take the place of the stride.
    indices: Option<Width>,
    data: Kind,
    fields: usize,
    elements: usize,
    /// Whether a fault after the first element only shortens the vector.
    first_only: bool,
}

/// Records the accessed lines, without consecutive repetitions, if a timing model uses them.
pub(crate) struct Lines<const RECORDS: bool> {
    next: *mut u64,
    last: u64,
    /// Number of lines so far.
    pub(crate) count: usize,
}

impl<const RECORDS: bool> Lines<RECORDS> {
    /// Notes them from `next` on.
    ///
    /// # Safety
    /// If `RECORDS` is set, there is room for one value per line that an access may touch.
    pub(crate) unsafe fn new(next: *mut u64) -> Lines<RECORDS> {
        Lines {
            next,
            last: u64::MAX,
            count: 0,
        }
    }

    #[inline]
    fn touch(&mut self, physical: u64, bytes: u64) {
        if !RECORDS {
            return;
        }
        let end = (physical + bytes - 1).min(physical | (PAGE_BYTES - 1));
        for line in physical / LINE_BYTES..=end / LINE_BYTES {
            if line != self.last {
                // SAFETY: as `new` asks for.
                unsafe { self.next.add(self.count).write(line * LINE_BYTES) };
                self.count += 1;
                self.last = line;
            }
        }
    }
}

/// The memory accesses of an instruction, for timing models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Elements of all fields that were moved, masked-off ones too.
    pub(crate) elements: usize,
    pub(crate) width: Width,
    /// Registers of the data.
    pub(crate) registers: u8,
    /// Whether they lie one after the other.
    pub(crate) contiguous: bool,
    /// Their offset within a line.
    pub(crate) offset: u64,
}

/// Executes a load or a `STORE`; `Err` if it was not completed, with the reason in `state.stopped.trouble`.
pub(crate) fn access<const STORE: bool, const RECORDS: bool>(
    state: &mut State,
    word: Word,
    lines: &mut Lines<RECORDS>,
) -> Result<Shape, ()> {
    let Ok(plan) = plan::<STORE>(state, word) else {
        state.stopped.trouble = Trouble::Exception(Exception::illegal(0));
        return Err(());
    };
    let registers = plan.fields as u8 * Group::registers_of(plan.data);
    let start = state.vector.start;
    let contiguous = plan.indices.is_none() && plan.stride == (plan.fields << plan.data.width.0) as u64;
    if !(contiguous && at_once::<STORE, RECORDS>(state, word, &plan, lines)) {
        one_by_one::<STORE, RECORDS>(state, word, &plan, lines)?;
    }
    state.vector.start = 0;
    Ok(Shape {
        elements: plan.elements.saturating_sub(start) * plan.fields,
        width: plan.data.width,
        registers,
        contiguous,
        offset: plan.address % LINE_BYTES,
    })
}

fn plan<const STORE: bool>(state: &State, word: Word) -> Result<Plan, Illegal> {
    let eew = match word.funct3() {
        0 => Width::BYTE,
        other => Width(other - 4),
    };
    let integer = |register: u8| state.x[usize::from(register)];
    let address = integer(word.vs1());
    let fields = word.fields() as usize + 1;
    require(!word.wide())?;
    let simple = |data: Kind, fields: usize, elements: usize, stride: u64| Plan {
        address,
        stride,
        indices: None,
        data,
        fields,
        elements,
        first_only: false,
    };
    let vector = &state.vector;
    if word.addressing() == 0 && word.vs2() == WHOLE {
        return whole::<STORE>(word, fields, eew, simple);
    }
    let kind = vector.kind()?;
    let plan = match (word.addressing(), word.vs2()) {
        (0, MASK) => {
            require(fields == 1 && !word.masked() && eew == Width::BYTE)?;
            simple(SINGLE, 1, vector.length.div_ceil(8), 1)
        }
        (0, 0 | FAULT_ONLY_FIRST) => Plan {
            first_only: word.vs2() == FAULT_ONLY_FIRST,
            ..simple(
                kind.with_width(eew)?,
                fields,
                vector.length,
                (fields << eew.0) as u64,
            )
        },
        (0, _) => return Err(Illegal),
        (2, _) => simple(kind.with_width(eew)?, fields, vector.length, integer(word.vs2())),
        _ => Plan {
            indices: Some(eew),
            ..simple(kind, fields, vector.length, 0)
        },
    };
    require(!(STORE && plan.first_only))?;
    check::<STORE>(word, kind, &plan)?;
    Ok(plan)
}

/// `lumop` and `sumop`.
const WHOLE: u8 = 8;
const MASK: u8 = 11;
const FAULT_ONLY_FIRST: u8 = 16;

/// The type of a single register of bytes.
const SINGLE: Kind = Kind {
    width: Width::BYTE,
    multiplier: 0,
};

/// Whole registers, independent of the current type and length.
fn whole<const STORE: bool>(
    word: Word,
    count: usize,
    eew: Width,
    simple: impl Fn(Kind, usize, usize, u64) -> Plan,
) -> Result<Plan, Illegal> {
    require(count.is_power_of_two() && !word.masked() && (!STORE || eew == Width::BYTE))?;
    let data = Kind {
        width: eew,
        multiplier: count.ilog2() as i32,
    };
    data.group(word.vd())?;
    Ok(simple(
        data,
        1,
        (count * REGISTER_BYTES) >> eew.0,
        eew.bytes() as u64,
    ))
}

/// Checks the registers: fields lie in consecutive groups, eight registers at most.
fn check<const STORE: bool>(word: Word, kind: Kind, plan: &Plan) -> Result<(), Illegal> {
    let registers = Group::registers_of(plan.data);
    require(plan.fields * usize::from(registers) <= 8)?;
    let indices = plan
        .indices
        .map(|width| kind.with_width(width)?.group(word.vs2()))
        .transpose()?;
    for field in 0..plan.fields as u8 {
        let first = word.vd() + field * registers;
        require(first < 32)?;
        let group = plan.data.group(first)?;
        if STORE {
            continue;
        }
        spares_mask(word, group)?;
        require(indices.is_none_or(|indices| {
            let apart = !group.overlaps(indices);
            apart || plan.fields == 1 && group.may_overlap_source(indices)
        }))?;
    }
    Ok(())
}

/// Moves bytes that lie in one page, whose translation is known, in the order of both memory and registers.
fn at_once<const STORE: bool, const RECORDS: bool>(
    state: &mut State,
    word: Word,
    plan: &Plan,
    lines: &mut Lines<RECORDS>,
) -> bool {
    let bytes = plan.elements << plan.data.width.0;
    let plain = plan.fields == 1 && !word.masked() && state.vector.start == 0 && bytes != 0;
    if !plain || plan.address % PAGE_BYTES + bytes as u64 > PAGE_BYTES {
        return false;
    }
    let data = state.data();
    let known = if STORE { &data.stores } else { &data.loads };
    let Some(host) = known.find(plan.address, 1) else {
        return false;
    };
    lines.touch(host.wrapping_sub(state.host_base), bytes as u64);
    let registers = &mut state.vector.bytes_mut(word.vd())[..bytes];
    // SAFETY: a remembered translation lies in guest memory with all of its page; registers lie elsewhere.
    unsafe {
        if STORE {
            std::ptr::copy_nonoverlapping(registers.as_ptr(), host as *mut u8, bytes);
        } else {
            std::ptr::copy_nonoverlapping(host as *const u8, registers.as_mut_ptr(), bytes);
        }
    }
    true
}

fn one_by_one<const STORE: bool, const RECORDS: bool>(
    state: &mut State,
    word: Word,
    plan: &Plan,
    lines: &mut Lines<RECORDS>,
) -> Result<(), ()> {
    let width = plan.data.width;
    let registers = Group::registers_of(plan.data);
    for index in state.vector.start..plan.elements {
        if !state.vector.active(word, index) {
            continue;
        }
        let offset = match plan.indices {
            Some(width) => state.vector.get(word.vs2(), index, width),
            None => plan.stride.wrapping_mul(index as u64),
        };
        for field in 0..plan.fields {
            let address = plan
                .address
                .wrapping_add(offset)
                .wrapping_add((field << width.0) as u64);
            let register = word.vd() + field as u8 * registers;
            let moved = if STORE {
                let value = state.vector.get(register, index, width);
                store(state, address, width, value)
            } else {
                load(state, address, width).map(|(value, physical)| {
                    state.vector.put(register, index, width, value);
                    physical
                })
            };
            match moved {
                Some(physical) => lines.touch(physical, width.bytes() as u64),
                None if plan.first_only && index > 0 => {
                    state.stopped.trouble = Trouble::None;
                    state.vector.length = index;
                    return Ok(());
                }
                None => {
                    state.vector.start = index;
                    refuse_device::<STORE>(state, address);
                    return Err(());
                }
            }
        }
    }
    Ok(())
}

/// Devices are for scalar accesses.
fn refuse_device<const STORE: bool>(state: &mut State, address: u64) {
    if let Trouble::Device(_) = state.stopped.trouble {
        let purpose = if STORE {
            crate::address::Purpose::Store
        } else {
            crate::address::Purpose::Load
        };
        state.stopped.trouble = Trouble::Exception(Exception {
            cause: purpose.access_fault(),
            value: address,
        });
    }
}

/// An element at `address`, and its physical address.
fn load(state: &mut State, address: u64, width: Width) -> Option<(u64, u64)> {
    let bytes = width.bytes();
    let Some(host) = state.data().loads.find(address, bytes as u64) else {
        return access::load(state, address, bytes);
    };
    let mut value = [0; 8];
    // SAFETY: a remembered translation lies in guest memory, and an aligned element in its page.
    unsafe { std::ptr::copy_nonoverlapping(host as *const u8, value.as_mut_ptr(), bytes) };
    Some((u64::from_le_bytes(value), host.wrapping_sub(state.host_base)))
}

/// Stores an element; returns its physical address.
fn store(state: &mut State, address: u64, width: Width, value: u64) -> Option<u64> {
    let bytes = width.bytes();
    let Some(host) = state.data().stores.find(address, bytes as u64) else {
        return access::store(state, address, bytes, value);
    };
    // SAFETY: as in `load`.
    unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), host as *mut u8, bytes) };
    Some(host.wrapping_sub(state.host_base))
}
