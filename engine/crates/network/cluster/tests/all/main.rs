//! Tests of what the crate offers, in one program: to link one for each file would take longer than to run it.

mod network;
mod own_nodes;
