use super::{next, register, set_register};
use crate::state::{MicroOperation, State};

macro_rules! with_registers {
    ($($name:ident |$a:ident, $b:ident| $result:expr;)*) => {$(
        pub(crate) unsafe fn $name(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not.
            unsafe {
                let $a = register(state, (*operation).rs1);
                let $b = register(state, (*operation).rs2);
                set_register(state, (*operation).rd, $result);
                next(state, operation, cursor)
            }
        }
    )*};
}

macro_rules! with_immediate {
    ($($name:ident |$a:ident, $b:ident| $result:expr;)*) => {$(
        pub(crate) unsafe fn $name(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not.
            unsafe {
                let $a = register(state, (*operation).rs1);
                let $b = (*operation).immediate as u64;
                set_register(state, (*operation).rd, $result);
                next(state, operation, cursor)
            }
        }
    )*};
}

const fn word(value: u64) -> u64 {
    value as i32 as u64
}

with_registers! {
    add |a, b| a.wrapping_add(b);
    sub |a, b| a.wrapping_sub(b);
    sll |a, b| a << (b & 63);
    slt |a, b| u64::from((a as i64) < b as i64);
    sltu |a, b| u64::from(a < b);
    xor |a, b| a ^ b;
    srl |a, b| a >> (b & 63);
    sra |a, b| (a as i64 >> (b & 63)) as u64;
    or |a, b| a | b;
    and |a, b| a & b;
    addw |a, b| word(a.wrapping_add(b));
    subw |a, b| word(a.wrapping_sub(b));
    sllw |a, b| word(a << (b & 31));
    srlw |a, b| word(u64::from(a as u32 >> (b & 31)));
    sraw |a, b| (a as i32 >> (b & 31)) as u64;
}

with_immediate! {
    addi |a, b| a.wrapping_add(b);
    slti |a, b| u64::from((a as i64) < b as i64);
    sltiu |a, b| u64::from(a < b);
    xori |a, b| a ^ b;
    ori |a, b| a | b;
    andi |a, b| a & b;
    slli |a, b| a << (b & 63);
    srli |a, b| a >> (b & 63);
    srai |a, b| (a as i64 >> (b & 63)) as u64;
    addiw |a, b| word(a.wrapping_add(b));
    slliw |a, b| word(a << (b & 31));
    srliw |a, b| word(u64::from(a as u32 >> (b & 31)));
    sraiw |a, b| (a as i32 >> (b & 31)) as u64;
}

/// A constant: `lui`, `auipc`, and `addi` from `x0`.
pub(crate) unsafe fn constant(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: blocks end with an operation that leaves them; this one does not.
    unsafe {
        set_register(state, (*operation).rd, (*operation).immediate as u64);
        next(state, operation, cursor)
    }
}

/// No operation: fences, and integer operations without a destination.
pub(crate) unsafe fn nothing(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: blocks end with an operation that leaves them; this one does not.
    unsafe { next(state, operation, cursor) }
}
