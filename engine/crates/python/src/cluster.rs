use crate::design::Design;
use crate::error::raise;
use pyo3::prelude::*;
use rackwright_cluster::{ClusterError, Description, Designs};
use rackwright_ethernet::Capture;
use rackwright_schedule::RunOutcome;
use rackwright_time::{Cycle, Cycles};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// A cluster built from a description in JSON.
#[pyclass]
pub struct Cluster {
    cluster: rackwright_cluster::Cluster,
    capture: Option<Capture<BufWriter<File>>>,
}

#[pymethods]
impl Cluster {
    #[new]
    #[pyo3(signature = (description, designs = BTreeMap::new()))]
    fn new(
        py: Python<'_>,
        description: &str,
        designs: BTreeMap<String, PyRef<'_, Design>>,
    ) -> PyResult<Cluster> {
        let description: Description = serde_json::from_str(description).map_err(raise)?;
        let designs: Designs = (designs.into_iter())
            .map(|(name, design)| (name, design.design.clone()))
            .collect();
        let cluster = py
            .detach(|| rackwright_cluster::Cluster::with_designs(&description, &designs))
            .map_err(raise)?;
        Ok(Cluster {
            cluster,
            capture: None,
        })
    }

    fn set_threads(&mut self, threads: usize) {
        self.cluster.set_threads(threads);
    }

    fn set_window(&mut self, cycles: u64) -> PyResult<()> {
        self.cluster.set_window(Cycles(cycles)).map_err(raise)
    }

    /// Ends runs when the programs of all these servers have ended.
    fn end_with(&mut self, servers: Vec<String>) -> PyResult<()> {
        self.cluster.end_with(&servers).map_err(raise)
    }

    /// Whether all of them have.
    #[getter]
    fn has_ended(&self) -> bool {
        self.cluster.has_ended()
    }

    fn set_skip_idle(&mut self, skip_idle: bool) {
        self.cluster.set_skip_idle(skip_idle);
    }

    /// Captures ports, written as `tor0.port3`, into a pcapng file.
    fn capture(&mut self, ports: Vec<String>, path: PathBuf) -> PyResult<()> {
        ports
            .iter()
            .try_for_each(|port| self.cluster.capture(port))
            .map_err(raise)?;
        let cannot = |error| raise(format!("{}: {error}", path.display()));
        let file = BufWriter::new(File::create(&path).map_err(cannot)?);
        let capture = Capture::new(file, self.cluster.clock(), &self.cluster.captured());
        self.capture = Some(capture.map_err(raise)?);
        Ok(())
    }

    /// Advances to a cycle; tells whether anything is left to happen after it.
    fn run(&mut self, py: Python<'_>, until: u64) -> PyResult<bool> {
        py.detach(|| self.advance(Cycle(until))).map_err(raise)
    }

    /// Bytes received and sent, and frames dropped, at a port so far.
    fn counters(&self, port: &str) -> PyResult<(u64, u64, u64)> {
        let counters = self.cluster.counters(port).map_err(raise)?;
        Ok((counters.received_bytes, counters.sent_bytes, counters.dropped))
    }

    /// Ends the capture, if there is one.
    fn finish(&mut self) -> PyResult<()> {
        match self.capture.take() {
            Some(capture) => capture.finish().flush().map_err(raise),
            None => Ok(()),
        }
    }

    #[getter]
    fn cycle(&self) -> u64 {
        self.cluster.cycle().0
    }

    /// What has happened so far, in JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| serde_json::to_string(&self.cluster.report()))
            .map_err(raise)
    }
}

impl Cluster {
    fn advance(&mut self, until: Cycle) -> Result<bool, ClusterError> {
        let outcome = self.cluster.run(until);
        if let Some(capture) = &mut self.capture {
            self.cluster.write_capture(capture)?;
        }
        Ok(outcome == RunOutcome::TimeOver)
    }
}
