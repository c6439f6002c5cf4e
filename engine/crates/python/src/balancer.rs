use crate::error::raise;
use pyo3::prelude::*;
use rackwright_balancer::Settings;
use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

/// A dispatcher on real sockets, at work until it is stopped or dropped.
#[pyclass]
pub struct Balancer {
    balancer: Option<rackwright_balancer::Balancer>,
}

impl Balancer {
    fn running(&self) -> PyResult<&rackwright_balancer::Balancer> {
        self.balancer.as_ref().ok_or_else(|| raise("it was stopped"))
    }
}

#[pymethods]
impl Balancer {
    /// Listens and begins, with settings in JSON.
    #[new]
    fn new(settings: &str) -> PyResult<Balancer> {
        let settings: Settings = serde_json::from_str(settings).map_err(raise)?;
        let balancer = rackwright_balancer::Balancer::start(settings).map_err(raise)?;
        Ok(Balancer {
            balancer: Some(balancer),
        })
    }

    /// The addresses of the services.
    #[getter]
    fn addresses(&self) -> PyResult<Vec<String>> {
        let addresses = self.running()?.addresses();
        Ok(addresses.iter().map(ToString::to_string).collect())
    }

    /// Whether all threads are at work.
    #[getter]
    fn is_well(&self) -> bool {
        (self.balancer.as_ref()).is_some_and(rackwright_balancer::Balancer::is_well)
    }

    /// Its state and counters, in JSON.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        let balancer = self.running()?;
        let status = py.detach(|| balancer.status());
        serde_json::to_string(&status).map_err(raise)
    }

    /// Changes its replicas to those of these settings; returns the numbers of added and removed ones.
    fn reload(&mut self, settings: &str) -> PyResult<(usize, usize)> {
        let settings: Settings = serde_json::from_str(settings).map_err(raise)?;
        let balancer = self.balancer.as_mut().ok_or_else(|| raise("it was stopped"))?;
        balancer.reload(&settings).map_err(raise)
    }

    /// Waits for outstanding requests, and ends; returns whether none was outstanding any more.
    fn stop(&mut self, py: Python<'_>, patience_seconds: f64) -> PyResult<bool> {
        let balancer = self.balancer.take().ok_or_else(|| raise("it was stopped"))?;
        let patience = Duration::try_from_secs_f64(patience_seconds).map_err(raise)?;
        py.detach(|| balancer.stop(patience)).map_err(raise)
    }

    /// Passes the events in a file to a dispatcher without sockets; returns its results, in JSON.
    #[staticmethod]
    fn replay(py: Python<'_>, record: &str) -> PyResult<String> {
        let file = File::open(record).map_err(|error| raise(format!("{record}: {error}")))?;
        let replayed = py
            .detach(|| rackwright_balancer::replay(BufReader::new(file)))
            .map_err(|error| raise(format!("{record}: {error}")))?;
        serde_json::to_string(&replayed).map_err(raise)
    }
}
