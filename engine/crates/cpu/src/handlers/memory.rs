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
    state.stopped_at = unsafe { (*operation).index };
    leave::TROUBLE
}

#[inline(always)]
unsafe fn address(state: &State, operation: *const MicroOperation) -> u64 {
    // SAFETY: `operation` is the one that runs.
    unsafe { register(state, (*operation).rs1).wrapping_add((*operation).immediate as u64) }
}

/// Reads a `V` at the operation's address; `None` when that is trouble.
#[inline(always)]
unsafe fn read<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: &mut *mut u64,
) -> Option<V> {
    // SAFETY: a remembered translation lies in guest memory, and the cursor is the block's.
    unsafe {
        let address = address(state, operation);
        if let Some(host) = state.loads.host(address, V::BYTES) {
            *cursor = record::<RECORDS>(*cursor, (host as u64).wrapping_sub(state.host_base));
            return Some(host.cast::<V>().read_unaligned());
        }
        let (value, physical) = access::load(state, address, V::BYTES as usize)?;
        *cursor = record::<RECORDS>(*cursor, physical);
        Some(V::narrow(value))
    }
}

/// Writes `value` at the operation's address, and says whether that went well.
#[inline(always)]
unsafe fn write<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: &mut *mut u64,
    value: u64,
) -> bool {
    // SAFETY: a remembered translation lies in guest memory, and the cursor is the block's.
    unsafe {
        let address = address(state, operation);
        if let Some(host) = state.stores.host(address, V::BYTES) {
            *cursor = record::<RECORDS>(*cursor, (host as u64).wrapping_sub(state.host_base));
            host.cast::<V>().write_unaligned(V::narrow(value));
            return true;
        }
        match access::store(state, address, V::BYTES as usize, value) {
            Some(physical) => {
                *cursor = record::<RECORDS>(*cursor, physical);
                true
            }
            None => false,
        }
    }
}

#[inline(always)]
unsafe fn load<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    mut cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last.
    unsafe {
        let Some(value) = read::<V, RECORDS>(state, operation, &mut cursor) else {
            return trouble(state, operation, cursor);
        };
        set_register(state, (*operation).rd, value.widen());
        next(state, operation, cursor)
    }
}

#[inline(always)]
unsafe fn store<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    mut cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last.
    unsafe {
        let value = register(state, (*operation).rs2);
        if !write::<V, RECORDS>(state, operation, &mut cursor, value) {
            return trouble(state, operation, cursor);
        }
        next(state, operation, cursor)
    }
}

#[inline(always)]
unsafe fn load_float<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    mut cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; there are 32 registers.
    unsafe {
        let Some(value) = read::<V, RECORDS>(state, operation, &mut cursor) else {
            return trouble(state, operation, cursor);
        };
        let boxed = if V::BYTES == 4 { super::float::BOX } else { 0 };
        *state.f.get_unchecked_mut((*operation).rd as usize) = value.widen() | boxed;
        next(state, operation, cursor)
    }
}

#[inline(always)]
unsafe fn store_float<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    mut cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; there are 32 registers.
    unsafe {
        let value = *state.f.get_unchecked((*operation).rs2 as usize);
        if !write::<V, RECORDS>(state, operation, &mut cursor, value) {
            return trouble(state, operation, cursor);
        }
        next(state, operation, cursor)
    }
}

macro_rules! handlers {
    ($($name:ident = $generic:ident $type:ident;)*) => {$(
        pub(crate) unsafe fn $name<const RECORDS: bool>(
            state: &mut State,
            operation: *const MicroOperation,
            cursor: *mut u64,
        ) -> u32 {
            // SAFETY: the same contract.
            unsafe { $generic::<$type, RECORDS>(state, operation, cursor) }
        }
    )*};
}

handlers! {
    lb = load i8;
    lbu = load u8;
    lh = load i16;
    lhu = load u16;
    lw = load i32;
    lwu = load u32;
    ld = load u64;
    sb = store u8;
    sh = store u16;
    sw = store u32;
    sd = store u64;
    flw = load_float u32;
    fld = load_float u64;
    fsw = store_float u32;
    fsd = store_float u64;
}
