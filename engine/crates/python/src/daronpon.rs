use crate::design::Design;
use crate::error::raise;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Passes the same frames to the dispatcher in RTL and the policy crate and compares their outputs; returns the counts.
/// Raises `EngineError` with the first frame after which they differ.
#[pyfunction]
pub fn exercise_daronpon<'py>(
    py: Python<'py>,
    design: &Design,
    seed: u64,
    frames: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let run = || rackwright_daronpon::exercise(&design.design, seed, frames);
    let exercise = py.detach(run).map_err(raise)?.map_err(raise)?;
    let counts = PyDict::new(py);
    for (name, count) in exercise.counters.named() {
        counts.set_item(name, count)?;
    }
    counts.set_item("malformed", exercise.dropped.malformed)?;
    counts.set_item("forged", exercise.dropped.forged)?;
    counts.set_item("sent", exercise.sent)?;
    Ok(counts)
}

/// Cycles for each frame of 64 bytes of back-to-back frames.
#[pyfunction]
pub fn pace_daronpon(py: Python<'_>, design: &Design, frames: usize) -> PyResult<f64> {
    py.detach(|| rackwright_daronpon::pace(&design.design, frames))
        .map_err(raise)
}
