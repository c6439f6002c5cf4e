//! The host's arithmetic, for the common case in which its result equals the exact one.
//!
//! Once the inexact flag is set, and with rounding to nearest even, an operation whose result is
//! an ordinary number changes no flag; hosts and RISC-V then agree on every bit.

/// Whether `value` is so far inside the range that no other flag than inexact can have been raised.
macro_rules! ordinary {
    ($value:expr, $type:ty) => {
        $value.abs() > <$type>::MIN_POSITIVE && $value.abs() <= <$type>::MAX
    };
}

macro_rules! host {
    ($($name:ident $type:ident ($($operand:ident),*) $bits:ident = $result:expr;)*) => {$(
        /// The result on the host, unless it could raise more than the inexact flag.
        #[inline(always)]
        pub(crate) fn $name($($operand: u64),*) -> Option<u64> {
            $(let $operand = <$type>::from_bits($operand as $bits);)*
            let result: $type = $result;
            ordinary!(result, $type).then(|| u64::from(result.to_bits()))
        }
    )*};
}

host! {
    add_double f64 (a, b) u64 = a + b;
    multiply_double f64 (a, b) u64 = a * b;
    divide_double f64 (a, b) u64 = a / b;
    root_double f64 (a) u64 = a.sqrt();
    fused_double f64 (a, b, c) u64 = a.mul_add(b, c);
    add_single f32 (a, b) u32 = a + b;
    multiply_single f32 (a, b) u32 = a * b;
    divide_single f32 (a, b) u32 = a / b;
    root_single f32 (a) u32 = a.sqrt();
    fused_single f32 (a, b, c) u32 = a.mul_add(b, c);
}
