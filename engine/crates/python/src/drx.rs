use crate::design::Design;
use crate::error::raise;
use pyo3::prelude::*;
use rackwright_drx::{design, isa, Shape};

/// The table of the encoding of DRX, in JSON.
#[pyfunction]
pub fn drx_isa() -> &'static str {
    isa::TABLE
}

/// The model of DRX with these parameters of the hardware, as a design with the behaviour of the compiled one.
#[pyfunction]
#[pyo3(signature = (*, lanes, scratchpad_kib, banks, instruction_kib, loop_depth, port_bytes = 32, outstanding = 64, command_queue = 4))]
#[allow(clippy::too_many_arguments)]
pub fn drx_model(
    lanes: usize,
    scratchpad_kib: usize,
    banks: usize,
    instruction_kib: usize,
    loop_depth: usize,
    port_bytes: usize,
    outstanding: usize,
    command_queue: usize,
) -> PyResult<Design> {
    let shape = Shape {
        lanes,
        scratchpad_kib,
        banks,
        instruction_kib,
        loop_depth,
        port_bytes,
        outstanding,
        command_queue,
    };
    let design = design(shape).map_err(raise)?;
    Ok(Design { design })
}
