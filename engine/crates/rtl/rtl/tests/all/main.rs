//! Tests of what the crate offers, in one program: to link one for each file would take longer than to run it.

mod amba;
mod bursts;
mod clocks;
mod host;
mod own_designs;
mod stream;
