//! Tests of what the crate offers, in one program: to link one for each file would take longer than to run it.

mod boom_validation;
mod rocket_validation;
mod support;
