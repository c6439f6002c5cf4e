use crate::design::Design;
use crate::error::raise;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rackwright_noc::{measure, replay, Load, Model, Network, NocError, Rtl, Shape};
use std::sync::PoisonError;

fn shape(width: usize, height: usize, routing: &str, depth: usize, stages: usize) -> Shape {
    Shape {
        width,
        height,
        rows_first: routing == "xy",
        depth,
        stages,
    }
}

/// The mesh in RTL of `design`, or else its model.
fn network(shape: Shape, design: Option<&Design>) -> Result<Box<dyn Network>, NocError> {
    Ok(match design {
        Some(design) => Box::new(Rtl::mesh(&design.design)?),
        None => Box::new(Model::new(shape)?),
    })
}

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
    let shape = shape(width, height, routing, depth, stages);
    let load = Load {
        rate,
        flits,
        seed,
        warm_up,
        measured,
        patience,
    };
    let run = || measure(network(shape, design)?.as_mut(), load);
    let found = py.detach(run).map_err(raise)?;
    let record = PyDict::new(py);
    record.set_item("packets", found.packets)?;
    record.set_item("arrived", found.arrived)?;
    record.set_item("mean_latency", found.mean_latency)?;
    record.set_item("accepted", found.accepted)?;
    record.set_item("digest", format!("{:032x}", found.digest))?;
    Ok(record)
}

/// The mesh between the tiles of a server, which times the messages of its runs; with `record` it keeps them.
#[pyclass(frozen)]
pub struct ChipMesh {
    pub(crate) mesh: rackwright_noc::ChipMesh,
}

#[pymethods]
impl ChipMesh {
    #[new]
    #[pyo3(signature = (*, width, height, routing, depth, stages, flit_bytes, networks, memory, harts, units, record = false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        width: usize,
        height: usize,
        routing: &str,
        depth: usize,
        stages: usize,
        flit_bytes: u64,
        networks: [usize; 3],
        memory: usize,
        harts: Vec<usize>,
        units: Vec<usize>,
        record: bool,
    ) -> PyResult<ChipMesh> {
        let shape = shape(width, height, routing, depth, stages);
        Ok(ChipMesh {
            mesh: rackwright_noc::ChipMesh {
                shape: shape.checked().map_err(raise)?,
                flit_bytes,
                networks,
                memory,
                harts,
                units,
                recording: record.then(Default::default),
            },
        })
    }

    /// Sends the recorded messages through the mesh in RTL of `design`, which has one network, or else through its model
    /// cycle by cycle. Returns the number of messages, their mean latencies in the run and there, the mean difference, the
    /// number of messages that met no other, that of those with equal latencies, and the digest of all arrivals.
    #[pyo3(signature = (design = None))]
    fn replay<'py>(&self, py: Python<'py>, design: Option<&Design>) -> PyResult<Bound<'py, PyDict>> {
        let recording = self.mesh.recording.clone().unwrap_or_default();
        let sent = recording.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let shape = self.mesh.shape;
        let found = py
            .detach(|| replay(shape, &sent, || network(shape, design)))
            .map_err(raise)?;
        let record = PyDict::new(py);
        record.set_item("messages", found.messages)?;
        record.set_item("run_latency", found.model_latency)?;
        record.set_item("latency", found.latency)?;
        record.set_item("difference", found.difference)?;
        record.set_item("alone", found.alone)?;
        record.set_item("alone_equal", found.alone_equal)?;
        record.set_item("digest", format!("{:032x}", found.digest))?;
        Ok(record)
    }
}
