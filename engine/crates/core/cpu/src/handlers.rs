//! The execution of each instruction, as functions that are called one after the other.
//!
//! A handler receives the state, its own operation and the place for the next recorded value, executes the operation,
//! and calls the handler of the following operation in tail position. A block has at most [`crate::block::MAXIMUM`]
//! operations, which bounds the stack if the compiler does not reuse frames.

pub(crate) mod atomic;
pub(crate) mod branch;
pub(crate) mod divide;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod memory;
pub(crate) mod multiply;
pub(crate) mod prefetch;
pub(crate) mod vector;

use crate::state::{MicroOperation, State};

/// Runs the operation after `operation`.
///
/// # Safety
/// `operation` is not the last of its block.
#[inline(always)]
unsafe fn next(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        let following = operation.add(1);
        ((*following).handler)(state, following, cursor)
    }
}

/// Notes `value` for the timing model.
///
/// # Safety
/// When `RECORDS`, `cursor` points into a buffer with room for every operation of a block.
#[inline(always)]
unsafe fn record<const RECORDS: bool>(cursor: *mut u64, value: u64) -> *mut u64 {
    if !RECORDS {
        return cursor;
    }
    // SAFETY: the caller's.
    unsafe {
        cursor.write(value);
        cursor.add(1)
    }
}

#[inline(always)]
fn register(state: &State, number: u8) -> u64 {
    debug_assert!(number < 32);
    // SAFETY: the decoder makes register numbers below 32, and there are 33.
    unsafe { *state.x.get_unchecked(number as usize) }
}

#[inline(always)]
fn set_register(state: &mut State, number: u8, value: u64) {
    debug_assert!(number != 0 && number < 33);
    // SAFETY: the lowering makes numbers of 1 to 32, and there are 33 registers.
    unsafe { *state.x.get_unchecked_mut(number as usize) = value };
}
