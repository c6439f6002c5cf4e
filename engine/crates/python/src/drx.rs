use crate::error::raise;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rackwright_drx::{isa, Machine, Shape};

/// The table of the encoding of DRX, in JSON.
#[pyfunction]
pub fn drx_isa() -> &'static str {
    isa::TABLE
}

/// Runs a program of DRX in the model: its words, what its inputs hold, and the bytes of its output.
///
/// Gives back the output, the number of the status, the instruction at which it ended, the bytes stored, and the
/// instructions obeyed.
#[pyfunction]
#[pyo3(signature = (program, inputs, output_bytes, *, lanes, scratchpad, instructions, loops, limit))]
#[allow(clippy::too_many_arguments)]
pub fn run_drx(
    py: Python<'_>,
    program: Vec<u32>,
    inputs: Vec<PyBackedBytes>,
    output_bytes: usize,
    lanes: usize,
    scratchpad: usize,
    instructions: usize,
    loops: usize,
    limit: u64,
) -> PyResult<(Bound<'_, PyBytes>, u8, usize, u64, u64)> {
    if lanes == 0 || loops == 0 {
        return Err(raise("a unit has lanes and loops"));
    }
    let shape = Shape {
        lanes,
        scratchpad,
        instructions,
        loops,
    };
    let mut output = vec![0; output_bytes];
    let ended = py.detach(|| {
        let inputs = inputs.iter().map(|input| &**input).collect();
        Machine::new(shape, &program, inputs, &mut output).run(limit)
    });
    let output = PyBytes::new(py, &output);
    Ok((
        output,
        ended.status as u8,
        ended.index,
        ended.output_bytes,
        ended.obeyed,
    ))
}
