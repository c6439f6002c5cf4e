use super::{next, record, register, set_register};
use crate::state::{MicroOperation, State};
use crate::timing::DivideOperands;

/// Magnitude of an operand, and whether it is negative.
type Operand = (u64, bool);

const fn operands(dividend: Operand, divisor: Operand, remainder: bool) -> u64 {
    let negative_result = if remainder {
        dividend.1
    } else {
        dividend.1 != divisor.1 && divisor.0 != 0
    };
    DivideOperands {
        dividend_bits: 64 - dividend.0.leading_zeros(),
        divisor_bits: 64 - divisor.0.leading_zeros(),
        negative_operand: dividend.1 || divisor.1,
        negative_result,
    }
    .pack()
}

macro_rules! divisions {
    ($($name:ident $type:ident as $operand:ident, remainder $remainder:literal |$a:ident, $b:ident| $result:expr;)*) => {$(
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
                let cursor = record::<RECORDS>(cursor, operands($operand!($a), $operand!($b), $remainder));
                set_register(state, (*operation).rd, sign_extend!(result, $type));
                next(state, operation, cursor)
            }
        }
    )*};
}

macro_rules! signed {
    ($value:ident) => {
        (u64::from($value.unsigned_abs()), $value < 0)
    };
}

macro_rules! unsigned {
    ($value:ident) => {
        (u64::from($value), false)
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
    div i64 as signed, remainder false |a, b| if b == 0 { -1 } else { a.wrapping_div(b) };
    divu u64 as unsigned, remainder false |a, b| a.checked_div(b).unwrap_or(u64::MAX);
    rem i64 as signed, remainder true |a, b| if b == 0 { a } else { a.wrapping_rem(b) };
    remu u64 as unsigned, remainder true |a, b| a.checked_rem(b).unwrap_or(a);
    divw i32 as signed, remainder false |a, b| if b == 0 { -1 } else { a.wrapping_div(b) };
    divuw u32 as unsigned, remainder false |a, b| a.checked_div(b).unwrap_or(u32::MAX);
    remw i32 as signed, remainder true |a, b| if b == 0 { a } else { a.wrapping_rem(b) };
    remuw u32 as unsigned, remainder true |a, b| a.checked_rem(b).unwrap_or(a);
}
