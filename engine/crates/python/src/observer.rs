use crate::error::raise;
use pyo3::prelude::*;
use rackwright_boot::kernel_offset;
use rackwright_device::Map;
use rackwright_linux::program_base;
use rackwright_trace::{Observation, Profile, Session, Symbols, COUNTERS};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Observes the harts of one run.
#[pyclass(frozen)]
pub struct Observer {
    every: u64,
    session: Mutex<Option<Session>>,
}

#[pymethods]
impl Observer {
    #[new]
    fn new(every: u64) -> Observer {
        Observer {
            every,
            session: Mutex::new(None),
        }
    }

    /// What was seen, as JSON; once, when the run has ended.
    fn profile(&self) -> PyResult<String> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        let session = session.ok_or_else(|| raise("nothing was observed"))?;
        let profile: Profile = session.profile();
        serde_json::to_string(&profile).map_err(raise)
    }

    /// The names of the counters that samples have.
    #[staticmethod]
    fn counters() -> Vec<&'static str> {
        COUNTERS.to_vec()
    }
}

impl Observer {
    /// The observation of a run of a static program.
    pub fn of_program(&self, path: &str, file: &[u8]) -> PyResult<Observation> {
        let fails = |error: &dyn std::fmt::Display| raise(format!("{path}: {error}"));
        let base = program_base(file).map_err(|error| fails(&error))?;
        let symbols = Symbols::of_elf(file, base).map_err(|error| fails(&error))?;
        let name = Path::new(path).file_name().unwrap_or_default();
        Ok(self.begin(Session::of_program(&name.to_string_lossy(), symbols), false))
    }

    /// The observation of a machine that runs this Linux kernel, from the start or from a checkpoint on.
    pub fn of_linux(&self, kernel: &[u8], files: &[u8], resumes: bool) -> PyResult<Observation> {
        let physical = Map::SERVER.memory + kernel_offset(kernel).map_err(raise)?;
        let session = Session::of_linux(kernel, physical, files).map_err(raise)?;
        Ok(self.begin(session, resumes))
    }

    fn begin(&self, session: Session, resumes: bool) -> Observation {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
        Observation {
            session,
            every: self.every,
            resumes,
        }
    }
}
