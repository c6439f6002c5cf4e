//! Properties of all Linux kernels: their addresses, and the identity of a hart's current task.

use rackwright_cpu::{Privilege, View};

/// The register with a thread's pointer, by the calling convention.
pub(crate) const THREAD_POINTER: u8 = 4;

/// Addresses from here on are the kernel's.
pub(crate) const KERNEL: u64 = 1 << 63;

/// Why a kernel can't be observed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KernelError {
    /// There are no symbols in it.
    #[error("the kernel has no symbols in itself (CONFIG_KALLSYMS), or in another format than Linux 6.12")]
    Symbols,
    /// There are no types in it.
    #[error("the kernel does not say where {0} is (CONFIG_DEBUG_INFO_BTF)")]
    Types(&'static str),
}

macro_rules! offsets {
    ($($name:ident: $structure:literal $($member:literal)*;)*) => {
        /// Bytes from the start of a structure to a member.
        struct Offsets { $($name: u64,)* }

        impl Offsets {
            fn of(types: &Types<'_>) -> Result<Offsets, KernelError> {
                Ok(Offsets { $($name: types
                    .offset($structure, &[$($member),*])
                    .ok_or(KernelError::Types(concat!($structure, $(".", $member),*)))?,)* })
            }
        }
    };
}

pub(crate) use offsets;

/// The address of a kernel's description of the current task on a hart: in its thread pointer, which it saves while a
/// program runs.
pub(crate) fn task_on(view: View<'_>) -> u64 {
    match view.privilege() {
        Privilege::User => view.supervisor_scratch(),
        _ => view.register(THREAD_POINTER),
    }
}
