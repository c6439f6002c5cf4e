use crate::collector::Collector;
use crate::counters::UnitEvents;
use crate::guest::Mapped;
use crate::kernel::{task_on, KernelError, KERNEL};
use crate::linux::{module_of, Linux};
use crate::names::called;
use crate::profile::Profile;
use crate::settings_error::SettingsError;
use crate::shared::{Common, Shared, Software};
use crate::sight::Sight;
use crate::symbols::Symbols;
use crate::thread::Thread;
use crate::trace_file::TraceFile;
use crate::trigger::Trigger;
use crate::watch::{Armed, Watch};
use rackwright_cpu::{Privilege, View};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The data from which a profile is created when all harts have been dropped.
#[derive(Default)]
struct Kept {
    finished: Vec<(Collector, Vec<u64>)>,
    watch: Option<Arc<Watch>>,
    trace: Option<Arc<TraceFile>>,
    /// The counters that samples have.
    counters: Vec<String>,
    /// The events of the units beside each hart, and their names.
    units: HashMap<usize, UnitEvents>,
    unit_events: Vec<String>,
}

/// The observation of a machine, from its start until all its harts have been dropped.
#[derive(Clone, Default)]
pub struct Session {
    common: Common,
    kept: Arc<Mutex<Kept>>,
}

impl Session {
    /// Observes a machine that runs a single program, `module`, with these symbols.
    pub fn of_program(module: &str, symbols: Symbols) -> Session {
        let shared = Shared {
            threads: vec![Thread {
                process: module.to_string(),
                process_number: 1,
                name: module.to_string(),
                number: 1,
            }],
            software: Software::Program {
                module: module.to_string(),
                symbols,
            },
            ..Shared::default()
        };
        Session::observing(shared)
    }

    /// Observes a machine that boots the Linux kernel in `kernel`, which is at `physical` in its memory, with `files`
    /// as its initial file system.
    ///
    /// # Errors
    /// [`KernelError`] if the kernel lacks required information.
    pub fn of_linux(kernel: &[u8], physical: u64, files: &[u8]) -> Result<Session, KernelError> {
        let linux = Linux::new(kernel, physical, files)?;
        let shared = Shared {
            threads: vec![Thread {
                process: "boot".to_string(),
                process_number: 0,
                name: "boot".to_string(),
                number: 0,
            }],
            software: Software::Linux(Box::new(linux)),
            ..Shared::default()
        };
        Ok(Session::observing(shared))
    }

    fn observing(shared: Shared) -> Session {
        Session {
            common: Common::of(shared),
            kept: Arc::default(),
        }
    }

    /// The data that its harts share.
    pub(crate) fn common(&self) -> Common {
        self.common.clone()
    }

    /// The records of its harts, to be called when they have been dropped.
    pub fn profile(&self) -> Profile {
        let Kept {
            mut finished,
            watch,
            trace,
            counters,
            units,
            unit_events,
        } = std::mem::take(&mut *self.kept());
        let shared = self.common.lock();
        finished.sort_by_key(|(collector, _)| collector.hart());
        let fired = watch.map_or([0; 2], |watch| watch.fired());
        let trace = trace.map(|file| file.finish());
        let mut profile = Profile::of(&shared.names, &shared.threads, finished, (counters, fired));
        for hart in &mut profile.harts {
            if let Some(events) = units.get(&hart.hart) {
                hart.keep_work(events.work(), &unit_events);
            }
        }
        Profile { trace, ..profile }
    }

    /// Records triggers and counters for the profile.
    pub(crate) fn keep(&self, watch: Arc<Watch>, counters: Vec<String>, unit_events: Vec<String>) {
        let mut kept = self.kept();
        kept.unit_events = unit_events;
        kept.watch = Some(watch);
        kept.counters = counters;
    }

    /// Records the events of the units beside a hart.
    pub(crate) fn keep_units(&self, hart: usize, events: UnitEvents) {
        self.kept().units.insert(hart, events);
    }

    /// Keeps the trace, which is complete when there is a profile.
    pub(crate) fn keep_trace(&self, file: Arc<TraceFile>) {
        self.kept().trace = Some(file);
    }

    /// The addresses at which a trigger may fire.
    pub(crate) fn arm(&self, trigger: &Trigger) -> Result<Armed, SettingsError> {
        let shared = self.common.lock();
        Ok(match trigger {
            Trigger::Cycle(cycle) => Armed::Cycle(*cycle),
            Trigger::Instructions(count) => Armed::Instructions(*count),
            Trigger::Address(address) => Armed::Address(*address),
            Trigger::Word(word) => Armed::Word(*word),
            Trigger::Process(name) if shared.linux().is_none() => {
                return Err(SettingsError::Process { name: name.clone() });
            }
            Trigger::Process(name) => Armed::Process(name.clone()),
            Trigger::Function { file, name } => shared.function(file.as_deref(), name)?,
            Trigger::Counter { .. } | Trigger::Event(_) => Armed::Never,
        })
    }

    /// Whether the function of a file begins at `address`, as the hart of `view` sees it.
    pub(crate) fn is_function(&self, view: View<'_>, address: u64, (file, name): (&str, &str)) -> bool {
        let mut shared = self.common.lock();
        let guest = Mapped::of(view);
        let task = shared.linux().and_then(|linux| linux.task(guest, task_on(view)));
        let sight = Sight {
            guest,
            privilege: Privilege::User,
            memory: task.map_or(0, |task| task.memory),
        };
        let place = shared.place(sight, address, false);
        let (module, found) = shared.names.name(place.function);
        place.entry && module == module_of(file) && called(found, name)
    }

    /// Whether the task on the hart of `view`, or its process, has this name.
    pub(crate) fn runs_process(&self, view: View<'_>, name: &str) -> bool {
        let shared = self.common.lock();
        let task = task_on(view);
        let found = shared.linux().filter(|_| task >= KERNEL);
        let found = found.and_then(|linux| linux.task(Mapped::of(view), task));
        found.is_some_and(|task| task.thread.process == name || task.thread.name == name)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn finish(&self, collector: Collector, samples: Vec<u64>) {
        self.kept().finished.push((collector, samples));
    }
}
