//! Profiles of harts' cycles: call stacks of all software, followed from outside.
//!
//! [`Probed`] wraps the timing model of a hart and observes it: it tracks the call stack according to the calling
//! convention, and attributes every cycle to it. Observation does not affect the hart's software, and costs nothing if
//! it is not used. When the hart is dropped, its [`Collector`] is passed to the [`Session`] that all harts of a machine
//! share, which creates a [`Profile`].

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
mod sampler;
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
