use crate::design::Design;
use crate::error::raise;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rackwright_noc::{measure, Load, Model, Network, Rtl, Shape};

/// Sends random packets through a mesh: the one in RTL of `design`, or the model. Returns the numbers of counted and
/// arrived packets, their latencies, the flits per tile and cycle, and the digest of all arrivals.
#[pyfunction]
#[pyo3(signature = (*, width, height, routing, depth, stages, rate, flits, seed, warm_up, measured, patience, design = None))]
#[allow(clippy::too_many_arguments)]
pub fn measure_mesh<'py>(
    py: Python<'py>,
    width: usize,
    height: usize,
    routing: &str,
    depth: usize,
    stages: usize,
    rate: f64,
    flits: usize,
    seed: u64,
    warm_up: u64,
    measured: u64,
    patience: u64,
    design: Option<&Design>,
) -> PyResult<Bound<'py, PyDict>> {
    let shape = Shape {
        width,
        height,
        rows_first: routing == "xy",
        depth,
        stages,
    };
    let load = Load {
        rate,
        flits,
        seed,
        warm_up,
        measured,
        patience,
    };
    let run = || {
        let mut network: Box<dyn Network> = match design {
            Some(design) => Box::new(Rtl::mesh(&design.design)?),
            None => Box::new(Model::new(shape)?),
        };
        measure(network.as_mut(), load)
    };
    let found = py.detach(run).map_err(raise)?;
    let record = PyDict::new(py);
    record.set_item("packets", found.packets)?;
    record.set_item("arrived", found.arrived)?;
    record.set_item("mean_latency", found.mean_latency)?;
    record.set_item("accepted", found.accepted)?;
    record.set_item("digest", format!("{:032x}", found.digest))?;
    Ok(record)
}
