use super::memory::trouble;
use super::{next, register, set_register};
use crate::cause::Exception;
use crate::float::{self, fast, Double, Format, Integer, Rounding, Single};
use crate::state::{MicroOperation, State, Trouble};

/// The upper half of a register that holds a single.
pub(crate) const BOX: u64 = 0xffff_ffff << 32;

/// The single-precision number in a register; other contents count as a NaN.
#[inline(always)]
pub(crate) fn unboxed(register: u64) -> u64 {
    if register >= BOX {
        register & !BOX
    } else {
        Single::NAN
    }
}

/// The representation of a format in a register.
trait Boxed: Format {
    fn open(register: u64) -> u64;
    fn close(bits: u64) -> u64;
}

impl Boxed for Single {
    #[inline(always)]
    fn open(register: u64) -> u64 {
        unboxed(register)
    }

    #[inline(always)]
    fn close(bits: u64) -> u64 {
        bits | BOX
    }
}

impl Boxed for Double {
    #[inline(always)]
    fn open(register: u64) -> u64 {
        register
    }

    #[inline(always)]
    fn close(bits: u64) -> u64 {
        bits
    }
}

#[inline(always)]
fn get<F: Boxed>(state: &State, number: u8) -> u64 {
    debug_assert!(number < 32);
    // SAFETY: register numbers are below 32.
    F::open(unsafe { *state.f.get_unchecked(number as usize) })
}

#[inline(always)]
fn set<F: Boxed>(state: &mut State, number: u8, bits: u64) {
    debug_assert!(number < 32);
    // SAFETY: register numbers are below 32.
    unsafe { *state.f.get_unchecked_mut(number as usize) = F::close(bits) };
}

/// Sets the flags of an operation.
pub(crate) fn raise(state: &mut State, flags: u8) {
    state.float.flags |= flags;
    state.float.refresh();
}

/// The rounding mode of an operation; `None`, with the trouble noted, when it is reserved.
#[inline(always)]
fn rounding(state: &mut State, code: u8) -> Option<Rounding> {
    let mode = Rounding::from_code(if code == 7 { state.float.mode } else { code });
    if mode.is_none() {
        state.stopped.trouble = Trouble::Exception(Exception::illegal(0));
    }
    mode
}

/// The host may do it, as far as the rounding mode and the flags go.
#[inline(always)]
unsafe fn on_host(state: &State, operation: *const MicroOperation) -> bool {
    // SAFETY: `operation` is the one that runs.
    state.float.by_host && matches!(unsafe { (*operation).rounding }, 0 | 7)
}

/// An operation that rounds: on the host if it may and can, else exactly.
macro_rules! rounded {
    ($($name:ident $format:ident ($($source:ident)*) |$($operand:ident),*| $host:expr, $exact:expr;)*) => {$(
        pub(crate) unsafe fn $name(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not unless in trouble.
            unsafe {
                if on_host(state, operation) {
                    $(let $operand = get::<$format>(state, (*operation).$source);)*
                    if let Some(result) = $host {
                        set::<$format>(state, (*operation).rd, result);
                        return next(state, operation, cursor);
                    }
                }
                exact::$name(state, operation, cursor)
            }
        }
    )*
    /// The same for all cases, separately and with the same arguments, so that the common path needs no stack frame.
    mod exact { use super::*; $(
        #[cold]
        #[inline(never)]
        pub(super) unsafe fn $name(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not unless in trouble.
            unsafe {
                $(let $operand = get::<$format>(state, (*operation).$source);)*
                let Some(mode) = rounding(state, (*operation).rounding) else {
                    return trouble(state, operation, cursor);
                };
                let mut flags = 0;
                let exact: fn($(rounded!(@bits $operand),)* Rounding, &mut u8) -> u64 = $exact;
                let result = exact($($operand,)* mode, &mut flags);
                raise(state, flags);
                set::<$format>(state, (*operation).rd, result);
                next(state, operation, cursor)
            }
        }
    )*}};
    (@bits $operand:ident) => { u64 };
}

const fn negated<F: Format>(bits: u64) -> u64 {
    bits ^ F::SIGN
}

rounded! {
    fadd_s Single (rs1 rs2) |a, b| fast::add_single(a, b), float::add::<Single>;
    fadd_d Double (rs1 rs2) |a, b| fast::add_double(a, b), float::add::<Double>;
    fsub_s Single (rs1 rs2) |a, b| fast::add_single(a, negated::<Single>(b)),
        float::subtract::<Single>;
    fsub_d Double (rs1 rs2) |a, b| fast::add_double(a, negated::<Double>(b)),
        float::subtract::<Double>;
    fmul_s Single (rs1 rs2) |a, b| fast::multiply_single(a, b), float::multiply::<Single>;
    fmul_d Double (rs1 rs2) |a, b| fast::multiply_double(a, b), float::multiply::<Double>;
    fdiv_s Single (rs1 rs2) |a, b| fast::divide_single(a, b), float::divide::<Single>;
    fdiv_d Double (rs1 rs2) |a, b| fast::divide_double(a, b), float::divide::<Double>;
    fsqrt_s Single (rs1) |a| fast::root_single(a), float::square_root::<Single>;
    fsqrt_d Double (rs1) |a| fast::root_double(a), float::square_root::<Double>;
    fmadd_s Single (rs1 rs2 rs3) |a, b, c| fast::fused_single(a, b, c), float::multiply_add::<Single>;
    fmadd_d Double (rs1 rs2 rs3) |a, b, c| fast::fused_double(a, b, c), float::multiply_add::<Double>;
    fmsub_s Single (rs1 rs2 rs3) |a, b, c| fast::fused_single(a, b, negated::<Single>(c)),
        |a, b, c, mode, flags| float::multiply_add::<Single>(a, b, negated::<Single>(c), mode, flags);
    fmsub_d Double (rs1 rs2 rs3) |a, b, c| fast::fused_double(a, b, negated::<Double>(c)),
        |a, b, c, mode, flags| float::multiply_add::<Double>(a, b, negated::<Double>(c), mode, flags);
    fnmsub_s Single (rs1 rs2 rs3) |a, b, c| fast::fused_single(negated::<Single>(a), b, c),
        |a, b, c, mode, flags| float::multiply_add::<Single>(negated::<Single>(a), b, c, mode, flags);
    fnmsub_d Double (rs1 rs2 rs3) |a, b, c| fast::fused_double(negated::<Double>(a), b, c),
        |a, b, c, mode, flags| float::multiply_add::<Double>(negated::<Double>(a), b, c, mode, flags);
    fnmadd_s Single (rs1 rs2 rs3)
        |a, b, c| fast::fused_single(negated::<Single>(a), b, negated::<Single>(c)),
        |a, b, c, mode, flags|
            float::multiply_add::<Single>(negated::<Single>(a), b, negated::<Single>(c), mode, flags);
    fnmadd_d Double (rs1 rs2 rs3)
        |a, b, c| fast::fused_double(negated::<Double>(a), b, negated::<Double>(c)),
        |a, b, c, mode, flags|
            float::multiply_add::<Double>(negated::<Double>(a), b, negated::<Double>(c), mode, flags);
}

/// Operations that never leave the block.
macro_rules! handlers {
    ($($name:ident |$state:ident, $operation:ident| $body:block)*) => {$(
        pub(crate) unsafe fn $name($state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not.
            unsafe {
                let $operation = &*operation;
                $body
                next($state, operation, cursor)
            }
        }
    )*};
}

macro_rules! comparisons {
    ($($name:ident $format:ident $function:ident;)*) => {
        handlers! {$(
            $name |state, operation| {
                let mut flags = 0;
                let a = get::<$format>(state, operation.rs1);
                let b = get::<$format>(state, operation.rs2);
                let result = float::$function::<$format>(a, b, &mut flags);
                set_register(state, operation.rd, u64::from(result));
                if flags != 0 {
                    raise(state, flags);
                }
            }
        )*}
    };
}

comparisons! {
    feq_s Single equal;
    flt_s Single less;
    fle_s Single less_or_equal;
    feq_d Double equal;
    flt_d Double less;
    fle_d Double less_or_equal;
}

macro_rules! selections {
    ($($name:ident $format:ident |$a:ident, $b:ident, $flags:ident| $result:expr;)*) => {
        handlers! {$(
            $name |state, operation| {
                let mut gathered = 0;
                let $flags = &mut gathered;
                let $a = get::<$format>(state, operation.rs1);
                let $b = get::<$format>(state, operation.rs2);
                let result = $result;
                set::<$format>(state, operation.rd, result);
                if gathered != 0 {
                    raise(state, gathered);
                }
            }
        )*}
    };
}

selections! {
    fmin_s Single |a, b, flags| float::minimum::<Single>(a, b, flags);
    fmax_s Single |a, b, flags| float::maximum::<Single>(a, b, flags);
    fmin_d Double |a, b, flags| float::minimum::<Double>(a, b, flags);
    fmax_d Double |a, b, flags| float::maximum::<Double>(a, b, flags);
    fsgnj_s Single |a, b, _flags| a & !Single::SIGN | b & Single::SIGN;
    fsgnjn_s Single |a, b, _flags| a & !Single::SIGN | !b & Single::SIGN;
    fsgnjx_s Single |a, b, _flags| a ^ b & Single::SIGN;
    fsgnj_d Double |a, b, _flags| a & !Double::SIGN | b & Double::SIGN;
    fsgnjn_d Double |a, b, _flags| a & !Double::SIGN | !b & Double::SIGN;
    fsgnjx_d Double |a, b, _flags| a ^ b & Double::SIGN;
}

handlers! {
    fclass_s |state, operation| {
        let class = float::classify::<Single>(get::<Single>(state, operation.rs1));
        set_register(state, operation.rd, class);
    }
    fclass_d |state, operation| {
        let class = float::classify::<Double>(get::<Double>(state, operation.rs1));
        set_register(state, operation.rd, class);
    }
    fmv_x_w |state, operation| {
        let bits = get::<Double>(state, operation.rs1);
        set_register(state, operation.rd, bits as i32 as u64);
    }
    fmv_x_d |state, operation| {
        let bits = get::<Double>(state, operation.rs1);
        set_register(state, operation.rd, bits);
    }
    fmv_w_x |state, operation| {
        let bits = register(state, operation.rs1) & !BOX;
        set::<Single>(state, operation.rd, bits);
    }
    fmv_d_x |state, operation| {
        let bits = register(state, operation.rs1);
        set::<Double>(state, operation.rd, bits);
    }
}

macro_rules! to_integer {
    ($($name:ident $format:ident $integer:ident;)*) => {$(
        pub(crate) unsafe fn $name(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not unless in trouble.
            unsafe {
                let Some(mode) = rounding(state, (*operation).rounding) else {
                    return trouble(state, operation, cursor);
                };
                let mut flags = 0;
                let bits = get::<$format>(state, (*operation).rs1);
                let result = float::to_integer::<$format>(bits, Integer::$integer, mode, &mut flags);
                raise(state, flags);
                set_register(state, (*operation).rd, result);
                next(state, operation, cursor)
            }
        }
    )*};
}

to_integer! {
    fcvt_w_s Single Word;
    fcvt_wu_s Single WordUnsigned;
    fcvt_l_s Single Long;
    fcvt_lu_s Single LongUnsigned;
    fcvt_w_d Double Word;
    fcvt_wu_d Double WordUnsigned;
    fcvt_l_d Double Long;
    fcvt_lu_d Double LongUnsigned;
}

macro_rules! from_other {
    ($($name:ident $format:ident |$state:ident, $source:ident, $mode:ident, $flags:ident| $result:expr;)*) => {$(
        pub(crate) unsafe fn $name($state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
            // SAFETY: blocks end with an operation that leaves them; this one does not unless in trouble.
            unsafe {
                let Some($mode) = rounding($state, (*operation).rounding) else {
                    return trouble($state, operation, cursor);
                };
                let mut gathered = 0;
                let $flags = &mut gathered;
                let $source = (*operation).rs1;
                let result = $result;
                raise($state, gathered);
                set::<$format>($state, (*operation).rd, result);
                next($state, operation, cursor)
            }
        }
    )*};
}

macro_rules! from_integer {
    ($format:ident $integer:ident $state:ident $source:ident $mode:ident $flags:ident) => {
        float::from_integer::<$format>(register($state, $source), Integer::$integer, $mode, $flags)
    };
}

from_other! {
    fcvt_s_w Single |state, source, mode, flags| from_integer!(Single Word state source mode flags);
    fcvt_s_wu Single |state, source, mode, flags| from_integer!(Single WordUnsigned state source mode flags);
    fcvt_s_l Single |state, source, mode, flags| from_integer!(Single Long state source mode flags);
    fcvt_s_lu Single |state, source, mode, flags| from_integer!(Single LongUnsigned state source mode flags);
    fcvt_d_w Double |state, source, mode, flags| from_integer!(Double Word state source mode flags);
    fcvt_d_wu Double |state, source, mode, flags| from_integer!(Double WordUnsigned state source mode flags);
    fcvt_d_l Double |state, source, mode, flags| from_integer!(Double Long state source mode flags);
    fcvt_d_lu Double |state, source, mode, flags| from_integer!(Double LongUnsigned state source mode flags);
    fcvt_s_d Single |state, source, mode, flags|
        float::resize::<Double, Single>(get::<Double>(state, source), mode, flags);
    fcvt_d_s Double |state, source, mode, flags|
        float::resize::<Single, Double>(get::<Single>(state, source), mode, flags);
}
