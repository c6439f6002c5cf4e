//! The Rust side of `host/interface.h`; the two agree field by field.

use rackwright_contract::{Flit, FLIT_BYTES};
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::unit::Cycle;
use std::ffi::{c_char, c_void};

/// The version of the interface; raised with every change of a struct or function.
pub(crate) const VERSION: u32 = 5;

/// Bytes of the widest beat.
pub const BEAT_BYTES: usize = 32;

/// The kinds of requests for a beat.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Its bytes.
    Read = 0,
    /// The request's bytes are written.
    Write = 1,
    /// The beat is returned as soon as its bytes differ from those of the request; only for ports that may watch.
    Watch = 2,
    /// The beat is returned, and its first word becomes the request's second one if it equals the request's first one;
    /// only for ports that may watch.
    Swap = 3,
}

/// A unit's memory request for one beat.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryRequest {
    /// When it left the unit.
    pub cycle: Cycle,
    /// Address of the beat's first byte; a multiple of the port's width.
    pub address: u64,
    /// For all but reads: bit i selects byte i. A swap selects the first word.
    pub mask: u32,
    /// Returned with the answer.
    pub tag: u16,
    /// Number of the memory port, in the manifest's order.
    pub port: u8,
    /// The kind of request.
    pub kind: RequestKind,
    /// For all but reads: the bytes, as many as the width of the port.
    pub data: [u8; BEAT_BYTES],
}

impl MemoryRequest {
    /// Whether it may write: a write, or a swap.
    pub fn is_write(&self) -> bool {
        matches!(self.kind, RequestKind::Write | RequestKind::Swap)
    }
}

/// The answer to a [`MemoryRequest`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryResponse {
    /// First cycle in which the unit may see it.
    pub due: Cycle,
    /// The request's tag.
    pub tag: u16,
    /// The request's port.
    pub port: u8,
    /// Whether the access was not allowed.
    pub fault: bool,
    /// For reads: the bytes.
    pub data: [u8; BEAT_BYTES],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawCommand {
    pub due: u64,
    pub rs1: u64,
    pub rs2: u64,
    pub opcode: u8,
    pub funct: u8,
    pub rd: u8,
    pub xd: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawCommandResponse {
    pub cycle: u64,
    pub data: u64,
    pub rd: u32,
}

/// A read or write of a unit's register, to be offered from cycle `due` on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RegisterAccess {
    /// First cycle in which the unit may see it.
    pub due: u64,
    /// What to write.
    pub data: u64,
    /// Byte address within the unit's registers.
    pub address: u32,
    /// 1 for a write, 0 for a read. A write by AXI4-Lite or APB has a bit for each byte of `data` that is written.
    pub write: u8,
}

/// A unit's answer to a [`RegisterAccess`], in order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RegisterAnswer {
    /// When it came.
    pub cycle: u64,
    /// The data of a read; undefined for a write.
    pub data: u64,
}

/// Up to eight bytes of a frame that leaves a unit or arrives at it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamFlit {
    /// Arriving: the first cycle in which the unit may see it; leaving: when it left.
    pub cycle: u64,
    /// The bytes, the first in the low bits.
    pub data: u64,
    /// Number of the stream port, in the manifest's order.
    pub port: u8,
    /// A bit for each valid byte, from the first on without a gap.
    pub keep: u8,
    /// 1 at the end of a frame.
    pub last: u8,
}

impl StreamFlit {
    /// A flit for or from the stream port `port` in a cycle.
    pub fn new(port: u8, cycle: Cycle, flit: Flit<'_>) -> StreamFlit {
        let mut data = [0; FLIT_BYTES];
        data[..flit.bytes.len()].copy_from_slice(flit.bytes);
        StreamFlit {
            cycle: cycle.0,
            data: u64::from_le_bytes(data),
            port,
            keep: ((1_u32 << flit.bytes.len()) - 1) as u8,
            last: u8::from(flit.last),
        }
    }
}

/// A change of a unit's interrupt line.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptChange {
    /// When it changed.
    pub cycle: u64,
    /// 1 while the line is active.
    pub level: u32,
}

/// `RackwrightStep`, whose members are grouped here in their order.
#[repr(C)]
pub(crate) struct RawStep {
    pub cycle: u64,
    pub evaluated: u64,
    pub commands_accepted: u64,
    pub last_accept: u64,
    pub idle_broken: u64,
    pub stopped_at: u64,
    pub complaint: *const c_char,
    pub outputs: RawOutputs,
    pub counts: RawCounts,
    pub idle: u32,
}

/// What has left the unit, valid until the next step.
#[repr(C)]
pub(crate) struct RawOutputs {
    pub requests: *const MemoryRequest,
    pub command_responses: *const RawCommandResponse,
    pub register_answers: *const RegisterAnswer,
    pub flits: *const StreamFlit,
    pub interrupts: *const InterruptChange,
}

/// The numbers of [`RawOutputs`].
#[repr(C)]
pub(crate) struct RawCounts {
    pub requests: u32,
    pub command_responses: u32,
    pub register_answers: u32,
    pub flits: u32,
    pub interrupts: u32,
}

/// Parameters of an instance of a unit.
#[repr(C)]
pub(crate) struct RawSetup {
    pub wave_path: *const c_char,
    pub folder: *const c_char,
    pub arguments: *const *const c_char,
    pub argument_count: u32,
}

/// The functions of a compiled design.
pub(crate) struct Functions {
    pub create: unsafe extern "C" fn(*const RawSetup) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub clocking: unsafe extern "C" fn(*mut c_void, u32),
    pub command: unsafe extern "C" fn(*mut c_void, *const RawCommand),
    pub register_access: unsafe extern "C" fn(*mut c_void, *const RegisterAccess),
    pub flit: unsafe extern "C" fn(*mut c_void, *const StreamFlit),
    pub respond: unsafe extern "C" fn(*mut c_void, *const MemoryResponse),
    pub step: unsafe extern "C" fn(*mut c_void, u64, *mut RawStep),
    pub record: unsafe extern "C" fn(*mut c_void, u32),
    pub recorded: unsafe extern "C" fn(*const c_void) -> u64,
    pub replay: unsafe extern "C" fn(*const c_void),
    /// Only of designs that were compiled for checkpoints.
    pub state: Option<StateFunctions>,
    pub event: unsafe extern "C" fn(*const c_void, u32) -> u64,
}

/// The functions of a design whose state can be saved: those of `host/state.h`.
#[derive(Clone, Copy)]
pub(crate) struct StateFunctions {
    pub save: unsafe extern "C" fn(*mut c_void, *mut *const u8, *mut u64),
    pub restore: unsafe extern "C" fn(*mut c_void, *const u8, u64) -> u32,
}

state!(RegisterAnswer { cycle, data });
state!(StreamFlit {
    cycle,
    data,
    port,
    keep,
    last
});
state!(InterruptChange { cycle, level });
state!(RegisterAccess {
    due,
    data,
    address,
    write
});

impl State for RequestKind {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let all = [
            RequestKind::Read,
            RequestKind::Write,
            RequestKind::Watch,
            RequestKind::Swap,
        ];
        by.one_of(self, &all)
    }
}

state!(MemoryRequest {
    cycle,
    address,
    mask,
    tag,
    port,
    kind,
    data
});

impl MemoryRequest {
    /// One to be read into.
    pub fn blank() -> MemoryRequest {
        MemoryRequest {
            cycle: Cycle::ZERO,
            address: 0,
            mask: 0,
            tag: 0,
            port: 0,
            kind: RequestKind::Read,
            data: [0; BEAT_BYTES],
        }
    }
}
