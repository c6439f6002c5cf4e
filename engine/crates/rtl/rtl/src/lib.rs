//! Hosts Verilated hardware units.
//!
//! A [`Manifest`] and its Verilog are compiled into a shared library ([`Toolchain`], cached by content in [`Cache`]),
//! and an [`Instance`] of its [`Design`] is stepped by many cycles per call. The unit's memory requests are returned as
//! [`MemoryRequest`]s with their cycles, so that the caller can respond to a whole window in one call. A design may
//! also be a [`UnitModel`] that has the same behaviour at its pins as the RTL.

mod attach;
mod binding;
mod cache;
mod clocks;
mod compiled;
mod design;
mod environment;
mod error;
mod instance;
mod interface;
mod manifest;
mod model;
mod pins;
mod registers;
pub mod rocket;
mod runtime;
mod sources;
mod verilator;

pub use attach::Attach;
pub use cache::Cache;
pub use clocks::{ClockPins, Level};
pub use design::Design;
pub use error::RtlError;
pub use instance::{Broken, CommandResponse, Instance, Step};
pub use interface::{
    InterruptChange, MemoryRequest, MemoryResponse, RegisterAccess, RegisterAnswer, RequestKind, StreamFlit,
    BEAT_BYTES,
};
pub use manifest::{
    BusRegisters, Direction, ForSoftware, Manifest, Moves, Naming, Port, Transfers, UnitCommand, MOST_FUNCT,
};
pub use model::{ModelPins, UnitModel};
pub use registers::{Access, RegisterField, UnitRegister};
pub use verilator::{BuildOptions, Toolchain, Waves};
