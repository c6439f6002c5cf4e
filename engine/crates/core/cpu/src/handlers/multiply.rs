use super::{next, record, register, set_register};
use crate::state::{MicroOperation, State};

macro_rules! multiplications {
    ($($name:ident |$a:ident, $b:ident| $result:expr;)*) => {$(
        pub(crate) unsafe fn $name<const RECORDS: bool>(
            state: &mut State,
            operation: *const MicroOperation,
            cursor: *mut u64,
        ) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not.
            unsafe {
                let $a = register(state, (*operation).rs1);
                let $b = register(state, (*operation).rs2);
                let cursor = record::<RECORDS>(cursor, $a);
                set_register(state, (*operation).rd, $result);
                next(state, operation, cursor)
            }
        }
    )*};
}

multiplications! {
    mul |a, b| a.wrapping_mul(b);
    mulh |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64;
    mulhsu |a, b| ((i128::from(a as i64) * i128::from(b)) >> 64) as u64;
    mulhu |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    mulw |a, b| a.wrapping_mul(b) as i32 as u64;
}
