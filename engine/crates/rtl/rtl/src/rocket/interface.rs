//! The Rust side of `rocket/interface.h`; the two agree field by field.

use super::RocketBus;
use libloading::Library;
use rackwright_time::Cycle;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The version of the interface; raised with every change of a struct or function.
pub(super) const VERSION: u32 = 1;

#[repr(C)]
pub(super) struct RawBus {
    context: *mut c_void,
    read: unsafe extern "C" fn(*mut c_void, u64, u64, *mut u8, u32) -> u64,
    write: unsafe extern "C" fn(*mut c_void, u64, u64, *const u8, u32) -> u64,
    finished: unsafe extern "C" fn(*mut c_void) -> u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawState {
    pub cycle: u64,
    pub instructions: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub version: unsafe extern "C" fn() -> u32,
    pub create: unsafe extern "C" fn() -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub run: unsafe extern "C" fn(*mut c_void, *mut RawBus, u64) -> RawState,
}

impl Functions {
    pub(super) fn of(library: &Library) -> Result<Functions, libloading::Error> {
        // SAFETY: the names and types are those of `rocket/interface.h`; the caller compares the version.
        unsafe {
            Ok(Functions {
                version: *library.get(b"rocket_version")?,
                create: *library.get(b"rocket_create")?,
                destroy: *library.get(b"rocket_destroy")?,
                run: *library.get(b"rocket_run")?,
            })
        }
    }
}

impl RawBus {
    pub(super) fn new<B: RocketBus>(bus: &mut B) -> RawBus {
        RawBus {
            context: std::ptr::from_mut(bus).cast(),
            read: read::<B>,
            write: write::<B>,
            finished: finished::<B>,
        }
    }
}

/// Unwinding through the C++ frames in between would be undefined: a panic of the bus ends the process.
fn no_unwinding<T>(call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| std::process::abort())
}

unsafe extern "C" fn read<B: RocketBus>(
    context: *mut c_void,
    cycle: u64,
    address: u64,
    data: *mut u8,
    bytes: u32,
) -> u64 {
    // SAFETY: `RawBus::new` made `context` from a `&mut B` that is in use by nobody else, and the host
    // passes a buffer of `bytes` bytes of its own.
    let (bus, data) = unsafe {
        (
            &mut *context.cast::<B>(),
            std::slice::from_raw_parts_mut(data, bytes as usize),
        )
    };
    no_unwinding(|| bus.read(Cycle::new(cycle), address, data).0)
}

unsafe extern "C" fn write<B: RocketBus>(
    context: *mut c_void,
    cycle: u64,
    address: u64,
    data: *const u8,
    bytes: u32,
) -> u64 {
    // SAFETY: as in `read`.
    let (bus, data) = unsafe {
        (
            &mut *context.cast::<B>(),
            std::slice::from_raw_parts(data, bytes as usize),
        )
    };
    no_unwinding(|| bus.write(Cycle::new(cycle), address, data).0)
}

unsafe extern "C" fn finished<B: RocketBus>(context: *mut c_void) -> u8 {
    // SAFETY: as in `read`.
    let bus = unsafe { &mut *context.cast::<B>() };
    no_unwinding(|| u8::from(bus.finished()))
}
