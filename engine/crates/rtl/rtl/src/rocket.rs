//! The Rocket core itself, in RTL: the Verilog of the PyPI package `pythondata-cpu-rocket`, one core or four.
//!
//! It is the reference for the validation of the `rocket` timing model, and is used by `--cpu rocket-rtl`. It contains
//! the cores, their L1 caches, and the hub that keeps these coherent; requests that leave them go to a [`RocketBus`].

mod build;
mod interface;

use crate::RtlError;
use interface::{Functions, RawBus, VERSION};
use libloading::Library;
use rackwright_time::Cycle;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// First byte of cached memory; everything below, from [`DEVICES_BASE`] on, is devices.
pub const MEMORY_BASE: u64 = 0x8000_0000;
/// First byte of the devices' range. The core's boot ROM jumps to it.
pub const DEVICES_BASE: u64 = 0x1000_0000;

/// What is instantiated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RocketSystem {
    /// One core, with a memory port of 64 bits.
    One,
    /// Four, with one of 128 bits.
    Four,
}

impl RocketSystem {
    /// How many cores there are.
    pub fn cores(self) -> u64 {
        match self {
            RocketSystem::One => 1,
            RocketSystem::Four => 4,
        }
    }
}

/// The memory and devices behind the core's caches. Called once per burst.
pub trait RocketBus {
    /// Fills `data` from `address`; returns the cycle at which its first bytes are back at the core's pins.
    fn read(&mut self, at: Cycle, address: u64, data: &mut [u8]) -> Cycle;
    /// Stores `data` at `address`; returns when the acknowledgement is back.
    fn write(&mut self, at: Cycle, address: u64, data: &[u8]) -> Cycle;
    /// Whether the run has ended; called after each of the other functions.
    fn finished(&self) -> bool;
}

/// The compiled system, ready to be instantiated.
#[derive(Clone)]
pub struct RocketDesign {
    functions: Functions,
    // Keeps the code of `functions` mapped.
    _library: Arc<Library>,
}

impl RocketDesign {
    fn load(path: &Path) -> Result<RocketDesign, RtlError> {
        let failed = |reason: String| RtlError::Load {
            path: path.to_path_buf(),
            reason,
        };
        // SAFETY: the library was compiled from this crate's host; it has no initialisers that
        // depend on the state of this process.
        let library = unsafe { Library::new(path) }.map_err(|error| failed(error.to_string()))?;
        let functions = Functions::of(&library).map_err(|error| failed(error.to_string()))?;
        // SAFETY: the function takes nothing and only returns a constant.
        let found = unsafe { (functions.version)() };
        if found != VERSION {
            return Err(failed(format!(
                "it has interface version {found}, the engine has {VERSION}"
            )));
        }
        Ok(RocketDesign {
            functions,
            _library: Arc::new(library),
        })
    }

    /// A system that has just left reset, at cycle zero.
    pub fn instantiate(&self) -> Rocket {
        // SAFETY: creating takes nothing and has no precondition.
        let core = unsafe { (self.functions.create)() };
        Rocket {
            design: self.clone(),
            core: NonNull::new(core).expect("creating a core either succeeds or aborts"),
            cycle: Cycle::ZERO,
            instructions: 0,
        }
    }
}

/// One system in RTL.
pub struct Rocket {
    design: RocketDesign,
    core: NonNull<c_void>,
    cycle: Cycle,
    instructions: u64,
}

// SAFETY: the core's state belongs to this value alone, and Verilator's runtime is used with one
// context per core.
unsafe impl Send for Rocket {}

impl Rocket {
    /// Simulates until cycle `until`, or until the bus reports the end of the run.
    pub fn run<B: RocketBus>(&mut self, bus: &mut B, until: Cycle) {
        let mut raw = RawBus::new(bus);
        // SAFETY: `core` was created by this design and is not destroyed yet; `raw` points to
        // `bus`, which outlives the call and is used by nothing else during it.
        let state = unsafe { (self.design.functions.run)(self.core.as_ptr(), &mut raw, until.0) };
        self.cycle = Cycle::new(state.cycle);
        self.instructions = state.instructions;
    }

    /// The first cycle not yet simulated, counted from the end of reset.
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Instructions retired so far by all cores, including those of the boot ROM.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }
}

impl Drop for Rocket {
    fn drop(&mut self) {
        // SAFETY: created by this design, destroyed once.
        unsafe { (self.design.functions.destroy)(self.core.as_ptr()) }
    }
}

/// The code that the device range must return at the target of the boot ROM's jump, so that the core continues at
/// `entry` with its hart number still in `a0`.
pub fn boot_code(entry: u64) -> [u8; 24] {
    const AUIPC_T0: u32 = 0x0000_0297;
    const LD_T0_16_T0: u32 = 0x0102_b283;
    const JR_T0: u32 = 0x0002_8067;
    const NOP: u32 = 0x0000_0013;
    let mut code = [0; 24];
    for (index, word) in [AUIPC_T0, LD_T0_16_T0, JR_T0, NOP].iter().enumerate() {
        code[index * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    code[16..].copy_from_slice(&entry.to_le_bytes());
    code
}
