use super::memory::{trouble, Value};
use super::{next, record, register, set_register};
use crate::access;
use crate::address::Purpose;
use crate::state::{MicroOperation, Reservation, State};
use crate::timing::FAILED_STORE;

/// The host address of the atomic access, and its physical address; `None` if there is trouble.
#[inline(always)]
unsafe fn target<V: Value>(
    state: &mut State,
    operation: *const MicroOperation,
    purpose: Purpose,
) -> Option<(*mut V, u64)> {
    // SAFETY: `operation` is the one that runs; an address that was found lies in guest memory.
    unsafe {
        let address = register(state, (*operation).rs1);
        let buffer = if purpose == Purpose::Store {
            &state.data().stores
        } else {
            &state.data().loads
        };
        if let Some(host) = buffer.find(address, V::BYTES) {
            return Some((host as *mut V, host.wrapping_sub(state.host_base)));
        }
        let physical = access::atomic(state, address, V::BYTES as usize, purpose)?;
        Some(((state.host_base + physical) as *mut V, physical))
    }
}

#[inline(always)]
unsafe fn modify<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
    change: impl Fn(V, V) -> V,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; the target lies in guest memory.
    unsafe {
        let Some((host, physical)) = target::<V>(state, operation, Purpose::Store) else {
            return trouble(state, operation, cursor);
        };
        let cursor = record::<RECORDS>(cursor, physical);
        let old = host.read();
        host.write(change(old, V::narrow(register(state, (*operation).rs2))));
        set_register(state, (*operation).rd, old.widen());
        next(state, operation, cursor)
    }
}

#[inline(always)]
unsafe fn load_reserved<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; the target lies in guest memory.
    unsafe {
        let Some((host, physical)) = target::<V>(state, operation, Purpose::Load) else {
            return trouble(state, operation, cursor);
        };
        let cursor = record::<RECORDS>(cursor, physical);
        let value = host.read().widen();
        state.reservation = Some(Reservation {
            address: physical,
            value,
            writes: (*state.memory).writes(physical),
        });
        set_register(state, (*operation).rd, value);
        next(state, operation, cursor)
    }
}

#[inline(always)]
unsafe fn store_conditional<V: Value, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; the target lies in guest memory.
    unsafe {
        let Some((host, physical)) = target::<V>(state, operation, Purpose::Store) else {
            return trouble(state, operation, cursor);
        };
        // Other agents may have written since, which the count shows. The hart itself may have, which the value shows,
        // as in QEMU. A word may be stored to a reserved doubleword.
        let succeeds = state.reservation.take().is_some_and(|reserved| {
            reserved.address == physical
                && reserved.writes == (*state.memory).writes(physical)
                && V::narrow(reserved.value).widen() == host.read().widen()
        });
        let failed = if succeeds { 0 } else { FAILED_STORE };
        let cursor = record::<RECORDS>(cursor, physical | failed);
        if succeeds {
            host.write(V::narrow(register(state, (*operation).rs2)));
        }
        set_register(state, (*operation).rd, u64::from(!succeeds));
        next(state, operation, cursor)
    }
}

macro_rules! handlers {
    ($($name:ident = $generic:ident $type:ident $($change:expr)?;)*) => {$(
        pub(crate) unsafe fn $name<const RECORDS: bool>(
            state: &mut State,
            operation: *const MicroOperation,
            cursor: *mut u64,
        ) -> u32 {
            // SAFETY: the same contract.
            unsafe { $generic::<$type, RECORDS>(state, operation, cursor $(, $change)?) }
        }
    )*};
}

handlers! {
    lr_w = load_reserved i32;
    lr_d = load_reserved i64;
    sc_w = store_conditional i32;
    sc_d = store_conditional i64;
    amoswap_w = modify i32 |_, new| new;
    amoswap_d = modify i64 |_, new| new;
    amoadd_w = modify i32 i32::wrapping_add;
    amoadd_d = modify i64 i64::wrapping_add;
    amoxor_w = modify i32 |old, new| old ^ new;
    amoxor_d = modify i64 |old, new| old ^ new;
    amoand_w = modify i32 |old, new| old & new;
    amoand_d = modify i64 |old, new| old & new;
    amoor_w = modify i32 |old, new| old | new;
    amoor_d = modify i64 |old, new| old | new;
    amomin_w = modify i32 i32::min;
    amomin_d = modify i64 i64::min;
    amomax_w = modify i32 i32::max;
    amomax_d = modify i64 i64::max;
    amominu_w = modify i32 |old, new| (old as u32).min(new as u32) as i32;
    amominu_d = modify i64 |old, new| (old as u64).min(new as u64) as i64;
    amomaxu_w = modify i32 |old, new| (old as u32).max(new as u32) as i32;
    amomaxu_d = modify i64 |old, new| (old as u64).max(new as u64) as i64;
}
