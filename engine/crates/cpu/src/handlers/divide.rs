use super::{next, record, register, set_register};
use crate::state::{MicroOperation, State};

const fn bits(magnitude: u64) -> u64 {
    (64 - magnitude.leading_zeros()) as u64
}

const fn operand_bits(dividend: u64, divisor: u64) -> u64 {
    bits(dividend) | bits(divisor) << 8
}

macro_rules! divisions {
    ($($name:ident $type:ident as $magnitude:ident |$a:ident, $b:ident| $result:expr;)*) => {$(
        pub(crate) unsafe fn $name<const RECORDS: bool>(
            state: &mut State,
            operation: *const MicroOperation,
            cursor: *mut u64,
        ) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not.
            unsafe {
                let $a = register(state, (*operation).rs1) as $type;
                let $b = register(state, (*operation).rs2) as $type;
                let result: $type = $result;
                let cursor = record::<RECORDS>(cursor, operand_bits($magnitude!($a), $magnitude!($b)));
                set_register(state, (*operation).rd, sign_extend!(result, $type));
                next(state, operation, cursor)
            }
        }
    )*};
}

macro_rules! signed {
    ($value:ident) => {
        u64::from($value.unsigned_abs())
    };
}

macro_rules! unsigned {
    ($value:ident) => {
        u64::from($value)
    };
}

macro_rules! sign_extend {
    ($value:ident, u32) => {
        $value as i32 as u64
    };
    ($value:ident, $type:ident) => {
        $value as u64
    };
}

divisions! {
    div i64 as signed |a, b| if b == 0 { -1 } else { a.wrapping_div(b) };
    divu u64 as unsigned |a, b| a.checked_div(b).unwrap_or(u64::MAX);
    rem i64 as signed |a, b| if b == 0 { a } else { a.wrapping_rem(b) };
    remu u64 as unsigned |a, b| a.checked_rem(b).unwrap_or(a);
    divw i32 as signed |a, b| if b == 0 { -1 } else { a.wrapping_div(b) };
    divuw u32 as unsigned |a, b| a.checked_div(b).unwrap_or(u32::MAX);
    remw i32 as signed |a, b| if b == 0 { a } else { a.wrapping_rem(b) };
    remuw u32 as unsigned |a, b| a.checked_rem(b).unwrap_or(a);
}
