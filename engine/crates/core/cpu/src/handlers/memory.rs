use super::{next, record, register, set_register};
use crate::access;
use crate::state::{leave, MicroOperation, State};

/// A type that loads and stores move.
pub(crate) trait Value: Copy {
    const BYTES: u64;
    /// As a register holds it.
    fn widen(self) -> u64;
    fn narrow(register: u64) -> Self;
}

macro_rules! values {
    ($($type:ident)*) => {$(
        impl Value for $type {
            const BYTES: u64 = std::mem::size_of::<$type>() as u64;
            #[inline(always)]
            fn widen(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn narrow(register: u64) -> $type {
                register as $type
            }
        }
    )*};
}

values! { i8 u8 i16 u16 i32 u32 i64 u64 }

/// Notes which instruction was not executed.
#[inline(always)]
pub(super) unsafe fn trouble(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    state.cursor = cursor;
    // SAFETY: `operation` is the one that runs.
    state.stopped.at = unsafe { (*operation).index };
    leave::TROUBLE
}

#[inline(always)]
pub(super) unsafe fn address(state: &State, operation: *const MicroOperation) -> u64 {
    // SAFETY: `operation` is the one that runs.
    unsafe { register(state, (*operation).rs1).wrapping_add((*operation).immediate as u64) }
}

/// The register file that a load writes and a store reads.
trait Destination {
    /// Writes the value to the operation's register.
    unsafe fn put<V: Value>(state: &mut State, operation: *const MicroOperation, value: V);
    /// The value of the operation's register.
    unsafe fn get(state: &State, operation: *const MicroOperation) -> u64;
}

struct Integer;
struct Float;

impl Destination for Integer {
    #[inline(always)]
    unsafe fn put<V: Value>(state: &mut State, operation: *const MicroOperation, value: V) {
        // SAFETY: `operation` is the one that runs.
        set_register(state, unsafe { (*operation).rd }, value.widen());
    }

    #[inline(always)]
    unsafe fn get(state: &State, operation: *const MicroOperation) -> u64 {
        // SAFETY: `operation` is the one that runs.
        register(state, unsafe { (*operation).rs2 })
    }
}

impl Destination for Float {
    #[inline(always)]
    unsafe fn put<V: Value>(state: &mut State, operation: *const MicroOperation, value: V) {
        let boxed = if V::BYTES == 4 { super::float::BOX } else { 0 };
        // SAFETY: `operation` is the one that runs; there are 32 registers.
        unsafe { *state.f.get_unchecked_mut((*operation).rd as usize) = value.widen() | boxed };
    }

    #[inline(always)]
    unsafe fn get(state: &State, operation: *const MicroOperation) -> u64 {
        // SAFETY: `operation` is the one that runs; there are 32 registers.
        unsafe { *state.f.get_unchecked((*operation).rs2 as usize) }
    }
}

#[inline(always)]
unsafe fn load<V: Value, D: Destination, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; a remembered translation lies in guest memory.
    unsafe {
        let address = address(state, operation);
        let Some(host) = state.data().loads.find(address, V::BYTES) else {
            return load_slowly::<V, D, RECORDS>(state, operation, cursor);
        };
        let cursor = record::<RECORDS>(cursor, host.wrapping_sub(state.host_base));
        D::put(state, operation, (host as *const V).read_unaligned());
        next(state, operation, cursor)
    }
}

/// Separate, and with the same arguments, so that the common path needs no stack frame.
#[cold]
#[inline(never)]
unsafe fn load_slowly<V: Value, D: Destination, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last.
    unsafe {
        let address = address(state, operation);
        let Some((value, physical)) = access::load(state, address, V::BYTES as usize) else {
            return trouble(state, operation, cursor);
        };
        let cursor = record::<RECORDS>(cursor, physical);
        D::put(state, operation, V::narrow(value));
        next(state, operation, cursor)
    }
}

#[inline(always)]
unsafe fn store<V: Value, D: Destination, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; a remembered translation lies in guest memory.
    unsafe {
        let address = address(state, operation);
        let Some(host) = state.data().stores.find(address, V::BYTES) else {
            return store_slowly::<V, D, RECORDS>(state, operation, cursor);
        };
        let cursor = record::<RECORDS>(cursor, host.wrapping_sub(state.host_base));
        (host as *mut V).write_unaligned(V::narrow(D::get(state, operation)));
        next(state, operation, cursor)
    }
}

#[cold]
#[inline(never)]
unsafe fn store_slowly<V: Value, D: Destination, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last.
    unsafe {
        let address = address(state, operation);
        let value = D::get(state, operation);
        let Some(physical) = access::store(state, address, V::BYTES as usize, value) else {
            return trouble(state, operation, cursor);
        };
        let cursor = record::<RECORDS>(cursor, physical);
        next(state, operation, cursor)
    }
}

macro_rules! handlers {
    ($($name:ident = $generic:ident $type:ident $file:ident;)*) => {$(
        pub(crate) unsafe fn $name<const RECORDS: bool>(
            state: &mut State,
            operation: *const MicroOperation,
            cursor: *mut u64,
        ) -> u32 {
            // SAFETY: the same contract.
            unsafe { $generic::<$type, $file, RECORDS>(state, operation, cursor) }
        }
    )*};
}

handlers! {
    lb = load i8 Integer;
    lbu = load u8 Integer;
    lh = load i16 Integer;
    lhu = load u16 Integer;
    lw = load i32 Integer;
    lwu = load u32 Integer;
    ld = load u64 Integer;
    sb = store u8 Integer;
    sh = store u16 Integer;
    sw = store u32 Integer;
    sd = store u64 Integer;
    flw = load u32 Float;
    fld = load u64 Float;
    fsw = store u32 Float;
    fsd = store u64 Float;
}
