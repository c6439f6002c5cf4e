//! The Rocket core itself, in RTL: the Verilog of the PyPI package `pythondata-cpu-rocket`, one core or four.
//!
//! It is the reference for the validation of the `rocket` timing model, and is used by `--cpu rocket-rtl`. It contains
//! the cores, their L1 caches, the hub that keeps these coherent, and interrupt controllers. What misses in the caches
//! goes to a [`RocketMemory`]; accesses of devices end a run.

mod boot;
mod build;
mod events;
mod interface;
mod rocc;

use crate::RtlError;
pub use boot::BOOT_BYTES;
pub use events::{RocketCommand, RocketRequest};
use interface::{Functions, RawMemory, RawState, VERSION};
use libloading::Library;
use rackwright_time::{Cycle, Cycles};
use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// What is instantiated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RocketSystem {
    /// One core, with a memory port of 64 bits.
    One,
    /// Four, with one of 128 bits.
    Four,
}

impl RocketSystem {
    /// The smallest system that has `harts` cores; `None` if there is none.
    pub fn of(harts: usize) -> Option<RocketSystem> {
        [RocketSystem::One, RocketSystem::Four]
            .into_iter()
            .find(|system| (1..=system.cores()).contains(&harts))
    }

    /// How many cores there are.
    pub fn cores(self) -> usize {
        match self {
            RocketSystem::One => 1,
            RocketSystem::Four => 4,
        }
    }
}

/// The memory behind the cores' caches. Called once per burst, or once for each range that a burst writes. A response
/// that is not known yet is `None`; [`Rocket::complete`] follows with the number of the burst.
pub trait RocketMemory {
    /// Fills `data` from `address`; returns the cycle at which its first bytes are back at the cores' pins.
    fn read(&mut self, burst: u64, at: Cycle, address: u64, data: &mut [u8]) -> Option<Cycle>;
    /// Stores `data` at `address`; returns when the acknowledgement is back.
    fn write(&mut self, burst: u64, at: Cycle, address: u64, data: &[u8]) -> Option<Cycle>;
}

/// A load or store of a device, which has no response yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RocketAccess {
    /// When it left the cores.
    pub at: Cycle,
    /// Physical address.
    pub address: u64,
    /// Bytes accessed, at most 8.
    pub bytes: u8,
    /// The written data, in the low bytes; `None` for a read.
    pub write: Option<u64>,
}

/// The compiled system, ready to be instantiated.
#[derive(Clone)]
pub struct RocketDesign {
    system: RocketSystem,
    functions: Functions,
    // Keeps the code of `functions` mapped.
    _library: Arc<Library>,
}

impl RocketDesign {
    fn load(system: RocketSystem, path: &Path) -> Result<RocketDesign, RtlError> {
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
            system,
            functions,
            _library: Arc::new(library),
        })
    }

    /// How many cores there are.
    pub fn cores(&self) -> usize {
        self.system.cores()
    }

    /// A system that has just left reset, at cycle zero. Its devices take `latency`.
    pub fn instantiate(&self, latency: Cycles) -> Rocket {
        // SAFETY: creating takes a number and has no precondition.
        let core = unsafe { (self.functions.create)(latency.0) };
        Rocket {
            design: self.clone(),
            core: NonNull::new(core).expect("creating a core either succeeds or aborts"),
            state: RawState::default(),
        }
    }
}

/// One system in RTL.
pub struct Rocket {
    design: RocketDesign,
    core: NonNull<c_void>,
    state: RawState,
}

// SAFETY: the core's state belongs to this value alone, and Verilator's runtime is used with one
// context per core.
unsafe impl Send for Rocket {}

impl Rocket {
    /// To be called before the first run: the first `harts` cores start at `entry`, those after the first when their
    /// software interrupt is raised. The cores after the harts do nothing.
    ///
    /// # Panics
    /// When there are fewer cores.
    pub fn start_at(&mut self, entry: u64, harts: usize) {
        let cores = self.design.cores();
        assert!((1..=cores).contains(&harts), "{harts} harts on {cores} cores");
        self.boot(&match cores {
            1 => boot::together(entry),
            _ => boot::in_turn(entry, harts),
        });
    }

    /// To be called before the first run: all cores start at `entry` together.
    pub fn start_all_at(&mut self, entry: u64) {
        self.boot(&boot::together(entry));
    }

    fn boot(&mut self, code: &[u8; BOOT_BYTES]) {
        // SAFETY: `core` was created by this design; the function copies the code, whose size is that of the interface.
        unsafe { (self.design.functions.boot)(self.core.as_ptr(), code) };
    }

    /// Simulates until cycle `until`, or until the end of a cycle in which devices are accessed, a command leaves a
    /// core, or a request is complete.
    pub fn run<M: RocketMemory>(&mut self, memory: &mut M, until: Cycle) {
        let mut raw = RawMemory::new(memory);
        // SAFETY: `core` was created by this design and is not destroyed yet; `raw` points to
        // `memory`, which outlives the call and is used by nothing else during it.
        self.state = unsafe { (self.design.functions.run)(self.core.as_ptr(), &mut raw, until.0) };
    }

    /// The response to a call of the memory that has returned `None` for `burst` is back at the cores' pins in cycle
    /// `due`, which is not simulated yet.
    pub fn complete(&mut self, burst: u64, due: Cycle) {
        // SAFETY: as in `run`.
        unsafe { (self.design.functions.complete)(self.core.as_ptr(), burst, due.0) };
    }

    /// The first access that has no response yet. No further cycle is simulated until all of them have one.
    pub fn access(&self) -> Option<RocketAccess> {
        let RawState {
            cycle,
            accesses,
            access,
            ..
        } = self.state;
        (accesses != 0).then(|| RocketAccess {
            at: Cycle::new(cycle - 1),
            address: access.address,
            bytes: access.bytes as u8,
            write: (access.store != 0).then_some(access.data),
        })
    }

    /// Ends the first access: its response, with `data`, is at the cores' pins in cycle `due`.
    ///
    /// # Panics
    /// When there is none.
    pub fn answer(&mut self, due: Cycle, data: u64) {
        assert!(self.state.accesses != 0, "an access is waited for");
        // SAFETY: as in `run`.
        self.state = unsafe { (self.design.functions.answer)(self.core.as_ptr(), due.0, data) };
    }

    /// The first cycle not yet simulated, counted from the end of reset.
    pub fn cycle(&self) -> Cycle {
        Cycle::new(self.state.cycle)
    }

    /// Instructions retired so far by all cores, including those of the boot ROM.
    pub fn instructions(&self) -> u64 {
        self.state.instructions
    }

    /// Address of the latest instruction in the last stage of the first core.
    pub fn pc(&self) -> u64 {
        self.state.pc
    }
}

impl Drop for Rocket {
    fn drop(&mut self) {
        // SAFETY: created by this design, destroyed once.
        unsafe { (self.design.functions.destroy)(self.core.as_ptr()) }
    }
}
