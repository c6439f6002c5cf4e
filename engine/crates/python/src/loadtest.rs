use crate::error::raise;
use pyo3::prelude::*;
use rackwright_loadtest::{LoadError, Plan, Progress, Report, ServicePlan};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval at which a wait checks for signals of the interpreter.
const NAP: Duration = Duration::from_millis(20);

/// A load in progress; it ends early when it is dropped.
#[pyclass]
pub struct Loadtest {
    progress: Arc<Progress>,
    thread: Option<JoinHandle<Result<Report, LoadError>>>,
}

#[pymethods]
impl Loadtest {
    /// Begins with a plan in JSON.
    #[new]
    fn new(plan: &str) -> PyResult<Loadtest> {
        let plan: Plan = serde_json::from_str(plan).map_err(raise)?;
        plan.check().map_err(raise)?;
        let progress = Arc::<Progress>::default();
        let watched = progress.clone();
        let thread = std::thread::spawn(move || rackwright_loadtest::run(&plan, &watched));
        Ok(Loadtest {
            progress,
            thread: Some(thread),
        })
    }

    /// Requests sent so far.
    #[getter]
    fn sent(&self) -> u64 {
        self.progress.sent.load(Ordering::Relaxed)
    }

    /// Ends it: no further requests are sent, and no responses awaited.
    fn stop(&self) {
        self.progress.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end, but at most `seconds` seconds; returns whether it has ended.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let ended = || self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        let naps = (seconds / NAP.as_secs_f64()).ceil() as u64;
        for _ in 0..naps {
            if ended() {
                break;
            }
            py.detach(|| std::thread::sleep(NAP));
            py.check_signals()?;
        }
        Ok(ended())
    }

    /// Its results, in JSON, once.
    fn report(&mut self, py: Python<'_>) -> PyResult<String> {
        let thread = self
            .thread
            .take()
            .ok_or_else(|| raise("the report was taken before"))?;
        let report = py
            .detach(|| thread.join())
            .map_err(|_| raise("the load panicked"))?
            .map_err(raise)?;
        serde_json::to_string(&report).map_err(raise)
    }
}

impl Drop for Loadtest {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Services that take the requested time, until this is stopped or dropped.
#[pyclass]
pub struct WorkService {
    service: Option<rackwright_loadtest::Service>,
}

#[pymethods]
impl WorkService {
    /// Begins with a plan in JSON.
    #[new]
    fn new(plan: &str) -> PyResult<WorkService> {
        let plan: ServicePlan = serde_json::from_str(plan).map_err(raise)?;
        let service = rackwright_loadtest::Service::start(&plan).map_err(raise)?;
        Ok(WorkService {
            service: Some(service),
        })
    }

    /// Where they listen.
    #[getter]
    fn addresses(&self) -> Vec<String> {
        let service = self.service.iter();
        let addresses = service.flat_map(|service| service.addresses());
        addresses.map(ToString::to_string).collect()
    }

    /// Requests answered, and datagrams that were none, so far.
    #[getter]
    fn counts(&self) -> (u64, u64) {
        let counts = |service: &rackwright_loadtest::Service| (service.answered(), service.malformed());
        self.service.as_ref().map_or((0, 0), counts)
    }

    /// Whether all workers are at work.
    #[getter]
    fn is_well(&self) -> bool {
        (self.service.as_ref()).is_some_and(rackwright_loadtest::Service::is_well)
    }

    /// Ends them.
    fn stop(&mut self, py: Python<'_>) {
        let service = self.service.take();
        py.detach(|| drop(service));
    }
}
