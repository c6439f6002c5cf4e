/// Has the host bring the line at `place` into its cache; where it can't be asked to, nothing happens.
///
/// `place` need not be valid: nothing is read, and nothing faults.
#[inline]
pub(crate) fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: every x86-64 has the instruction, and it accepts any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
