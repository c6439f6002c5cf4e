//! The state that the handlers of instructions use.

use crate::address::AddressSpace;
use crate::cause::Exception;
use crate::device::DeviceAccess;
use crate::protection::Regions;
use crate::translations::DataContext;
use crate::vector::Vector;
use rackwright_memory::GuestMemory;
use serde::{Deserialize, Serialize};

/// Integer registers, and a place for writes to `x0`.
pub(crate) const INTEGER_REGISTERS: usize = 33;
/// The destination of writes to `x0`.
pub(crate) const SINK: u8 = 32;

/// The execution of an operation. Also runs the operations after it, up to the end of the block, and returns how the
/// block was left: the number of an exit of the block, or one of [`leave`].
pub(crate) type Handler = unsafe fn(&mut State, *const MicroOperation, *mut u64) -> u32;

/// Ways to leave a block other than by one of its exits.
pub(crate) mod leave {
    /// To the address in `state.pc`.
    pub(crate) const INDIRECT: u32 = u32::MAX;
    /// `state.stopped` has the reason, and the instruction that was not executed.
    pub(crate) const TROUBLE: u32 = u32::MAX - 1;
    /// The block's only instruction is for the whole hart.
    pub(crate) const SYSTEM: u32 = u32::MAX - 2;
}

/// An instruction (or several), prepared for execution.
#[derive(Clone, Copy)]
pub(crate) struct MicroOperation {
    pub(crate) handler: Handler,
    pub(crate) immediate: i64,
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    pub(crate) rs3: u8,
    /// Rounding mode as encoded.
    pub(crate) rounding: u8,
    /// Which instruction of the block this is.
    pub(crate) index: u8,
    /// The exit that is taken.
    pub(crate) exit: u16,
}

/// Why an instruction was not executed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    None,
    Exception(Exception),
    Device(DeviceAccess),
    /// None: the instruction requests the remote page whose entry is at this address, and has been executed.
    Prefetch(u64),
}

/// A reservation made by a load-reserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Reservation {
    pub(crate) address: u64,
    pub(crate) value: u64,
    /// The value of [`GuestMemory::writes`] for its line.
    pub(crate) writes: u32,
}

/// The control register of floating point, and what follows from it.
#[derive(Clone, Copy, Default)]
pub(crate) struct FloatControl {
    /// Accrued exceptions.
    pub(crate) flags: u8,
    /// The dynamic rounding mode.
    pub(crate) mode: u8,
    /// Nearest-even is the dynamic mode and the inexact flag is set: the host's arithmetic will do.
    pub(crate) by_host: bool,
}

impl FloatControl {
    /// To be called whenever the flags or the mode have changed.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        self.by_host = self.mode == 0 && self.flags & crate::float::flag::INEXACT != 0;
    }
}

/// Why a block was left before its end.
pub(crate) struct Stopped {
    /// The instruction that was not executed.
    pub(crate) at: u8,
    pub(crate) trouble: Trouble,
}

/// The state that instructions use: registers, translations, and the exit of a block.
pub struct State {
    pub(crate) x: [u64; INTEGER_REGISTERS],
    pub(crate) f: [u64; 32],
    pub(crate) pc: u64,
    pub(crate) float: FloatControl,
    pub(crate) stopped: Stopped,
    pub(crate) reservation: Option<Reservation>,
    /// The place for the next recorded value.
    pub(crate) cursor: *mut u64,
    pub(crate) host_base: u64,
    pub(crate) memory: *mut GuestMemory,
    pub(crate) space: AddressSpace,
    /// The protection of physical memory.
    pub(crate) regions: Regions,
    /// Translations of the current context; set as soon as there is one, and valid as long as the hart.
    pub(crate) data: *mut DataContext,
    /// The value of `sscratch` when the context was last entered, for observers.
    pub(crate) supervisor_scratch: u64,
    /// Whether remote pages are requested before they fault.
    pub(crate) asks_for_remote_pages: bool,
    /// The vector registers.
    pub(crate) vector: Vector,
}

impl State {
    pub(crate) fn new() -> Box<State> {
        Box::new(State {
            x: [0; INTEGER_REGISTERS],
            f: [0; 32],
            pc: 0,
            float: FloatControl::default(),
            stopped: Stopped {
                at: 0,
                trouble: Trouble::None,
            },
            reservation: None,
            cursor: std::ptr::null_mut(),
            host_base: 0,
            memory: std::ptr::null_mut(),
            space: AddressSpace::default(),
            regions: Regions::default(),
            data: std::ptr::null_mut(),
            supervisor_scratch: 0,
            asks_for_remote_pages: false,
            vector: Vector::new(),
        })
    }

    /// The value of integer register `number`, 0 to 31.
    #[inline]
    pub fn register(&self, number: u8) -> u64 {
        self.x[usize::from(number & 31)]
    }

    /// Sets integer register `number`, 0 to 31; `x0` stays zero.
    #[inline]
    pub fn write_register(&mut self, number: u8, value: u64) {
        if number & 31 != 0 {
            self.x[usize::from(number & 31)] = value;
        }
    }

    /// Address of the next instruction.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Sets the address of the next instruction.
    #[inline]
    pub fn set_pc(&mut self, pc: u64) {
        self.pc = pc;
    }

    /// The translations of loads and stores.
    #[inline(always)]
    pub(crate) fn data(&mut self) -> &mut DataContext {
        // SAFETY: a hart sets the pointer when it is made, to what it owns itself.
        unsafe { &mut *self.data }
    }
}
