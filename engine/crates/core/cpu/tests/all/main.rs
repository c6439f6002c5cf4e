//! Tests of what the crate offers, in one program: to link one for each file would take longer than to run it.

mod differential;
mod generate;
mod generate_vectors;
mod hart;
mod privileged;
mod support;
mod vector;
mod vectors;
