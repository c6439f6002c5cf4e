use crate::collector::Collector;
use crate::names::{Names, Place};
use crate::profile::Profile;
use crate::symbols::Symbols;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A thread of the software, as it is told apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Thread {
    pub(crate) process: String,
    pub(crate) process_number: u64,
    pub(crate) name: String,
    pub(crate) number: u64,
}

/// What the harts of a machine have in common while they are observed.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) names: Names,
    pub(crate) threads: Vec<Thread>,
    module: String,
    symbols: Symbols,
    finished: Vec<Collector>,
}

impl Shared {
    pub(crate) fn place(&mut self, address: u64) -> Place {
        let Shared {
            names,
            module,
            symbols,
            ..
        } = self;
        names.place(module, symbols, address)
    }
}

/// The observation of a machine, from its start until all its harts are gone.
#[derive(Clone, Default)]
pub struct Session {
    shared: Arc<Mutex<Shared>>,
}

impl Session {
    /// Observes a machine on which nothing runs but one program, `module`, with these symbols.
    pub fn of_program(module: &str, symbols: Symbols) -> Session {
        let shared = Shared {
            threads: vec![Thread {
                process: module.to_string(),
                process_number: 1,
                name: module.to_string(),
                number: 1,
            }],
            module: module.to_string(),
            symbols,
            ..Shared::default()
        };
        Session {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    /// What its harts have left, to be called when they are gone.
    pub fn profile(&self) -> Profile {
        let mut shared = self.lock();
        let mut finished = std::mem::take(&mut shared.finished);
        finished.sort_by_key(Collector::hart);
        Profile::of(&shared.names, &shared.threads, &finished)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn finish(&self, collector: Collector) {
        self.lock().finished.push(collector);
    }
}
