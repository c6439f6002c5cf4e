//! Memory of a simulated server: the guest's bytes, and beside them, without data, the timing of caches and DRAM.

mod cache;
mod calendar;
mod contents;
mod direct;
mod directory;
mod dram;
mod fault;
mod guest;
mod hierarchy;
mod host_access;
mod hub;
mod interconnect;
mod level;
mod mapping;
mod misses;
mod named;
mod parameters;
mod port;
mod prefetch;
mod region;
mod route;
mod shared;
mod tiles;
mod watches;
mod words;

pub use cache::{Cache, Lookup, Shape, Victim, LINE_BYTES};
pub use calendar::Calendar;
pub use contents::Contents;
pub use directory::MAXIMUM_SHARERS;
pub use fault::{Access, GuestFault};
pub use guest::{GuestMemory, Protection, ProtectionStamps, PAGE_BYTES};
pub use hierarchy::{AccessKind, Hierarchy, HierarchyCounters, Snoop, WarmLevel};
pub use host_access::HostAccess;
pub use interconnect::Interconnect;
pub use mapping::Mapping;
pub use named::{Named, NamedParameters, Place};
pub use parameters::{
    CoherenceParameters, DramParameters, HierarchyParameters, LevelParameters, ParameterError,
    PortParameters, ProbeParameters,
};
pub use port::{LinkId, RequesterId};
pub use route::{Link, Path, Route, Traffic, UnknownRoute};
pub use shared::{HartPort, LockedPort, Shared, SharedHierarchy};
pub use tiles::{ChipMaker, ChipNetwork, Message, MessageClass, Tiles};
