use crate::error::raise;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rackwright_boot::{kernel_offset, program_base};
use rackwright_device::Map;
use rackwright_rtl::Design;
use rackwright_server::CpuModel;
use rackwright_time::Clock;
use rackwright_trace::{
    counter_names, About, Observation, Profile, Session, Settings, Symbols, TraceFile, Trigger,
};
use rackwright_unit::names;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The observation of harts with this clock.
#[derive(Serialize)]
struct Seen {
    clock_hz: u64,
    #[serde(flatten)]
    profile: Profile,
}

/// Observes the harts of one run.
#[pyclass(frozen)]
pub struct Observer {
    settings: Settings,
    /// The path of the trace, if one is requested.
    trace: Option<PathBuf>,
    session: Mutex<Option<(Session, About)>>,
    samples: Mutex<Vec<Vec<u64>>>,
}

#[pymethods]
impl Observer {
    #[new]
    #[pyo3(signature = (every, samples = usize::MAX, counters = Vec::new(), harts = Vec::new(), begin = None, end = None, trace = None))]
    #[allow(clippy::too_many_arguments)] // What a run is observed for, by name.
    fn new(
        every: u64,
        samples: usize,
        counters: Vec<String>,
        harts: Vec<usize>,
        begin: Option<&str>,
        end: Option<&str>,
        trace: Option<PathBuf>,
    ) -> PyResult<Observer> {
        let trigger = |text: Option<&str>| text.map(str::parse::<Trigger>).transpose().map_err(raise);
        Ok(Observer {
            settings: Settings {
                every,
                samples,
                counters,
                harts,
                from: trigger(begin)?,
                to: trigger(end)?,
            },
            trace,
            session: Mutex::new(None),
            samples: Mutex::default(),
        })
    }

    /// The profile, as JSON; once, when the run has ended.
    fn profile(&self) -> PyResult<String> {
        let session = taken(&self.session).take();
        let (session, about) = session.ok_or_else(|| raise("nothing was observed"))?;
        let mut profile: Profile = session.profile();
        *taken(&self.samples) = std::mem::take(&mut profile.samples);
        let clock_hz = about.clock_hz;
        serde_json::to_string(&Seen { clock_hz, profile }).map_err(raise)
    }

    /// The samples of the counters of each hart, once the profile was created: 64-bit numbers, sample by sample.
    fn samples<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let bytes = |values: &Vec<u64>| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        taken(&self.samples).iter().map(bytes).collect()
    }
}

fn taken<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer {
    /// The observation of a run of a static program, on harts of this model and clock with these units.
    pub fn of_program(
        &self,
        (path, file): (&str, &[u8]),
        (cpu, clock): (CpuModel, Clock),
        units: &[&Design],
    ) -> PyResult<Observation> {
        let fails = |error: &dyn std::fmt::Display| raise(format!("{path}: {error}"));
        let base = program_base(file).map_err(|error| fails(&error))?;
        let symbols = Symbols::of_elf(file, base).map_err(|error| fails(&error))?;
        let name = Path::new(path).file_name().unwrap_or_default();
        let session = Session::of_program(&name.to_string_lossy(), symbols);
        let units = events(units);
        let counters = (counter_names(cpu.accounts(), &units), units.len());
        let about = about(&name.to_string_lossy(), cpu, clock);
        self.begin(session, counters, false, about)
    }

    /// The observation of a machine with these units that runs this Linux kernel, from the start or from a checkpoint on.
    pub fn of_linux(
        &self,
        (kernel, files): (&[u8], &[u8]),
        (cpu, clock): (CpuModel, Clock),
        units: &[&Design],
        resumes: bool,
    ) -> PyResult<Observation> {
        let physical = Map::SERVER.memory + kernel_offset(kernel).map_err(raise)?;
        let session = Session::of_linux(kernel, physical, files).map_err(raise)?;
        let units = events(units);
        let counters = (counter_names(cpu.accounts(), &units), units.len());
        let about = about("linux", cpu, clock);
        self.begin(session, counters, resumes, about)
    }

    fn begin(
        &self,
        session: Session,
        counters: (Vec<String>, usize),
        resumes: bool,
        about: About,
    ) -> PyResult<Observation> {
        *taken(&self.session) = Some((session.clone(), about.clone()));
        let observation =
            Observation::new(session, self.settings.clone(), counters, resumes).map_err(raise)?;
        let Some(path) = &self.trace else {
            return Ok(observation);
        };
        let file = TraceFile::create(path, &about);
        let file = file.map_err(|error| raise(format!("{}: {error}", path.display())))?;
        Ok(observation.traced(file))
    }
}

/// The description of the software on harts of this model and clock.
fn about(software: &str, cpu: CpuModel, clock: Clock) -> About {
    About {
        software: software.to_string(),
        cpu: cpu.name().to_string(),
        clock_hz: clock.hertz(),
    }
}

/// The names of the events of units.
fn events(units: &[&Design]) -> Vec<String> {
    let names = names(units.iter().map(|unit| &*unit.manifest));
    let events = units.iter().zip(names).flat_map(|(unit, name)| {
        let events = unit.manifest.events();
        events.map(move |event| format!("{name}.{event}"))
    });
    events.collect()
}
