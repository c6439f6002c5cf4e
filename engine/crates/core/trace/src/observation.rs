use crate::counters::{shared, UnitEvents};
use crate::probe::Probed;
use crate::sampler::Sampling;
use crate::session::Session;
use crate::settings_error::SettingsError;
use crate::trace_file::TraceFile;
use crate::trigger::Trigger;
use crate::watch::{Armed, Watch};
use rackwright_cpu::Timing;
use rackwright_memory::SharedHierarchy;
use rackwright_stats::UnitObserver;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The settings of an observation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Cycles between two samples of the counters.
    pub every: u64,
    /// Maximum number of samples of each hart; beyond it, every second one is dropped.
    pub samples: usize,
    /// The recorded counters; if there are none, all of them.
    pub counters: Vec<String>,
    /// The harts that are observed; if there are none, all of them.
    pub harts: Vec<usize>,
    /// The trigger that starts the observation; without it, the observation starts with the run.
    pub from: Option<Trigger>,
    /// What ends it.
    pub to: Option<Trigger>,
}

/// The observation of the harts of a machine.
#[derive(Clone)]
pub struct Observation {
    session: Session,
    settings: Settings,
    /// All counters, and the positions of the recorded ones.
    names: Vec<String>,
    chosen: Vec<usize>,
    watch: Arc<Watch>,
    units: usize,
    events: Arc<Mutex<HashMap<usize, UnitEvents>>>,
    resumes: bool,
    trace: Option<Arc<TraceFile>>,
}

impl Observation {
    /// The observation of a machine with these counters ([`crate::counter_names`]), the last `units` of which are
    /// events of units. If it `resumes` from a checkpoint, the time before was not observed.
    ///
    /// # Errors
    /// [`SettingsError`] when a counter or a function does not exist.
    pub fn new(
        session: Session,
        settings: Settings,
        (names, units): (Vec<String>, usize),
        resumes: bool,
    ) -> Result<Observation, SettingsError> {
        let place = |name: &String| {
            let found = names.iter().position(|known| known == name);
            found.ok_or_else(|| SettingsError::unknown("counter", name, names.iter().map(String::as_str)))
        };
        let mut chosen = settings
            .counters
            .iter()
            .map(place)
            .collect::<Result<Vec<usize>, _>>()?;
        if chosen.is_empty() {
            chosen = (0..names.len()).collect();
        }
        let arm = |trigger: &Trigger| match trigger {
            Trigger::Counter { name, value } => place(name).map(|index| Armed::Counter(index, *value)),
            Trigger::Event(name) => place(name).map(Armed::Event),
            other => session.arm(other),
        };
        let from = settings.from.as_ref().map(arm).transpose()?;
        let to = settings.to.as_ref().map(arm).transpose()?;
        let watch = Watch::new(from, to);
        let kept = chosen.iter().map(|index| names[*index].clone()).collect();
        session.keep(watch.clone(), kept, names[names.len() - units..].to_vec());
        Ok(Observation {
            session,
            settings,
            names,
            chosen,
            watch,
            units,
            events: Arc::default(),
            resumes,
            trace: None,
        })
    }

    /// The same, with a trace of the observed harts' execution in `file`.
    #[must_use]
    pub fn traced(self, file: TraceFile) -> Observation {
        let file = Arc::new(file);
        self.session.keep_trace(file.clone());
        Observation {
            trace: Some(file),
            ..self
        }
    }

    /// The observer of the units beside hart number `hart`.
    pub fn units(&self, hart: usize) -> Arc<dyn UnitObserver> {
        Arc::new(self.events(hart))
    }

    fn events(&self, hart: usize) -> UnitEvents {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let made = UnitEvents::new(self.units);
            self.session.keep_units(hart, made.clone());
            made
        };
        events.entry(hart).or_insert_with(new).clone()
    }

    /// Hart number `hart` with the model `timing`, observed; `hierarchy` is the part that it shares with others.
    pub fn probe<T: Timing>(&self, timing: T, hart: usize, hierarchy: &SharedHierarchy) -> Probed<T> {
        let hierarchy = hierarchy.clone();
        let units = self.events(hart);
        let read = move |values: &mut Vec<u64>| {
            let counters = hierarchy.lock().counters();
            values.extend(shared(&counters));
            values.extend(units.read());
        };
        let sampling = Sampling {
            every: self.settings.every.max(1),
            most: self.settings.samples,
            chosen: self.chosen.clone(),
            counters: self.names.len(),
            read: Box::new(read),
        };
        let harts = &self.settings.harts;
        let session = self.session.clone();
        let observed = harts.is_empty() || harts.contains(&hart);
        Probed::new(
            timing,
            (hart, observed),
            session,
            (self.watch.clone(), self.trace.clone()),
            sampling,
            self.resumes,
        )
    }
}
