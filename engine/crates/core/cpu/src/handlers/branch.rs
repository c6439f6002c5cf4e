use super::{next, register, set_register};
use crate::state::{leave, MicroOperation, State};

macro_rules! branches {
    ($($name:ident |$a:ident, $b:ident| $taken:expr;)*) => {$(
        pub(crate) unsafe fn $name(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one may not.
            unsafe {
                let $a = register(state, (*operation).rs1);
                let $b = register(state, (*operation).rs2);
                if $taken {
                    state.cursor = cursor;
                    return u32::from((*operation).exit);
                }
                next(state, operation, cursor)
            }
        }
    )*};
}

branches! {
    beq |a, b| a == b;
    bne |a, b| a != b;
    blt |a, b| (a as i64) < b as i64;
    bge |a, b| a as i64 >= b as i64;
    bltu |a, b| a < b;
    bgeu |a, b| a >= b;
}

/// The end of a block that continues at a known address.
pub(crate) unsafe fn end(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    state.cursor = cursor;
    // SAFETY: `operation` is the one that runs.
    unsafe { u32::from((*operation).exit) }
}

/// `jal`; the immediate is the return address.
pub(crate) unsafe fn jump(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    state.cursor = cursor;
    // SAFETY: `operation` is the one that runs.
    unsafe {
        set_register(state, (*operation).rd, (*operation).immediate as u64);
        u32::from((*operation).exit)
    }
}

/// `jalr`; the immediate is the return address, and `exit` the offset.
pub(crate) unsafe fn jump_register(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    state.cursor = cursor;
    // SAFETY: `operation` is the one that runs.
    unsafe {
        let offset = (*operation).exit as i16 as u64;
        state.pc = register(state, (*operation).rs1).wrapping_add(offset) & !1;
        set_register(state, (*operation).rd, (*operation).immediate as u64);
    }
    leave::INDIRECT
}

/// An instruction for the whole hart.
pub(crate) unsafe fn system(state: &mut State, _: *const MicroOperation, cursor: *mut u64) -> u32 {
    state.cursor = cursor;
    leave::SYSTEM
}
