//! The Rust side of `rocket/interface.h`; the two agree field by field.

use super::{RocketMemory, BOOT_BYTES};
use crate::BEAT_BYTES;
use libloading::Library;
use rackwright_time::Cycle;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The version of the interface; raised with every change of a struct or function.
pub(super) const VERSION: u32 = 4;

/// In place of the cycle of a response that is not known yet.
const UNKNOWN: u64 = u64::MAX;

#[repr(C)]
pub(super) struct RawMemory {
    context: *mut c_void,
    read: unsafe extern "C" fn(*mut c_void, u64, u64, u64, *mut u8, u32) -> u64,
    write: unsafe extern "C" fn(*mut c_void, u64, u64, u64, *const u8, u32) -> u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct RawAccess {
    pub address: u64,
    pub data: u64,
    pub bytes: u32,
    pub store: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct RawState {
    pub cycle: u64,
    pub instructions: u64,
    pub pc: u64,
    pub accesses: u32,
    pub events: u32,
    pub access: RawAccess,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct RawCommand {
    pub cycle: u64,
    pub rs1: u64,
    pub rs2: u64,
    pub core: u32,
    pub instruction: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct RawRequest {
    pub number: u64,
    pub cycle: u64,
    pub address: u64,
    pub bytes: u32,
    pub mask: u32,
    pub write: u32,
    pub reserved: u32,
    pub data: [u8; BEAT_BYTES],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct RawCompletion {
    pub number: u64,
    pub cycle: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub version: unsafe extern "C" fn() -> u32,
    pub create: unsafe extern "C" fn(u64) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub boot: unsafe extern "C" fn(*mut c_void, *const [u8; BOOT_BYTES]),
    pub run: unsafe extern "C" fn(*mut c_void, *mut RawMemory, u64) -> RawState,
    pub complete: unsafe extern "C" fn(*mut c_void, u64, u64),
    pub answer: unsafe extern "C" fn(*mut c_void, u64, u64) -> RawState,
    pub take_command: unsafe extern "C" fn(*mut c_void, *mut RawCommand) -> u32,
    pub take_completion: unsafe extern "C" fn(*mut c_void, *mut RawCompletion) -> u32,
    pub offer: unsafe extern "C" fn(*mut c_void, u32),
    pub set_units: unsafe extern "C" fn(*mut c_void, u32, u32, u32),
    pub respond: unsafe extern "C" fn(*mut c_void, u32, u64, u32, u64),
    pub request: unsafe extern "C" fn(*mut c_void, *const RawRequest),
}

impl Functions {
    pub(super) fn of(library: &Library) -> Result<Functions, libloading::Error> {
        // SAFETY: the names and types are those of `rocket/interface.h`; the caller compares the version.
        unsafe {
            Ok(Functions {
                version: *library.get(b"rocket_version")?,
                create: *library.get(b"rocket_create")?,
                destroy: *library.get(b"rocket_destroy")?,
                boot: *library.get(b"rocket_boot")?,
                run: *library.get(b"rocket_run")?,
                complete: *library.get(b"rocket_complete")?,
                answer: *library.get(b"rocket_answer")?,
                take_command: *library.get(b"rocket_take_command")?,
                take_completion: *library.get(b"rocket_take_completion")?,
                offer: *library.get(b"rocket_offer")?,
                set_units: *library.get(b"rocket_set_units")?,
                respond: *library.get(b"rocket_respond")?,
                request: *library.get(b"rocket_request")?,
            })
        }
    }
}

impl RawMemory {
    pub(super) fn new<M: RocketMemory>(memory: &mut M) -> RawMemory {
        RawMemory {
            context: std::ptr::from_mut(memory).cast(),
            read: read::<M>,
            write: write::<M>,
        }
    }
}

/// Unwinding through the C++ frames in between would be undefined: a panic of the memory ends the process.
fn no_unwinding<T>(call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| std::process::abort())
}

fn raw(response: Option<Cycle>) -> u64 {
    response.map_or(UNKNOWN, |due| due.0)
}

unsafe extern "C" fn read<M: RocketMemory>(
    context: *mut c_void,
    burst: u64,
    cycle: u64,
    address: u64,
    data: *mut u8,
    bytes: u32,
) -> u64 {
    // SAFETY: `RawMemory::new` made `context` from a `&mut M` that nothing else uses, and the host
    // passes a buffer of `bytes` bytes of its own.
    let (memory, data) = unsafe {
        (
            &mut *context.cast::<M>(),
            std::slice::from_raw_parts_mut(data, bytes as usize),
        )
    };
    no_unwinding(|| raw(memory.read(burst, Cycle::new(cycle), address, data)))
}

unsafe extern "C" fn write<M: RocketMemory>(
    context: *mut c_void,
    burst: u64,
    cycle: u64,
    address: u64,
    data: *const u8,
    bytes: u32,
) -> u64 {
    // SAFETY: as in `read`.
    let (memory, data) = unsafe {
        (
            &mut *context.cast::<M>(),
            std::slice::from_raw_parts(data, bytes as usize),
        )
    };
    no_unwinding(|| raw(memory.write(burst, Cycle::new(cycle), address, data)))
}
