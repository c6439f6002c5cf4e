//! Where the cycles of harts go: call stacks of everything that runs, followed from outside.
//!
//! [`Probed`] wraps the timing model of a hart and looks on: it keeps the call stack by the calling convention, and accounts
//! every cycle to it. What runs on the hart cannot tell, and a hart without it pays nothing. When the hart is gone, its
//! [`Collector`] comes out of the [`Session`] that all harts of a machine share, as a [`Profile`].

mod archive;
mod btf;
mod classes;
mod collector;
mod counters;
mod debug;
mod durations;
mod elf;
mod guest;
mod inlined;
mod kallsyms;
mod kernel;
mod known;
mod linux;
mod modules;
mod names;
mod nearest;
mod observation;
mod probe;
mod profile;
mod recorded;
mod samples;
mod session;
mod settings_error;
mod shared;
mod sight;
mod slices;
mod stack;
mod stalls;
mod symbols;
mod thread;
mod trace_file;
mod tracer;
mod tree;
mod trigger;
mod watch;

pub use collector::Collector;
pub use counters::counter_names;
pub use debug::Source;
pub use durations::{Durations, SlowCall};
pub use kernel::KernelError;
pub use names::{Function, Names};
pub use observation::{Observation, Settings};
pub use probe::{Probed, ProbedBlock};
pub use profile::{
    FunctionRecord, HartRecord, NodeRecord, Profile, SliceRecord, ThreadRecord, TrapRecord, TurnRecord,
    UnitRecord,
};
pub use session::Session;
pub use settings_error::SettingsError;
pub use slices::Slice;
pub use symbols::{Symbol, SymbolError, Symbols};
pub use trace_file::{About, TraceFile, TraceRecord};
pub use trigger::{hint, Trigger, TriggerError};
