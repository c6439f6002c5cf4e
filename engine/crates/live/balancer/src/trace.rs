use crate::ledger::{Ledger, Replayed};
use rackwright_dispatch::{
    Action, Configuration, ConfigurationError, Dispatcher, Entry, Load, PeerId, ReplicaId, ReplicaSpec,
    Report, Request, RequestKey, ServiceId,
};
use serde::{Deserialize, Serialize};
use std::io::BufRead;

/// An event passed to a dispatcher.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A request arrived, from a client, or redirected with these loads.
    Request {
        /// Which service.
        service: u16,
        /// Who asks.
        client: u64,
        /// Which of its requests.
        number: u64,
        /// The key that keeps it with others.
        sticky: Option<u64>,
        /// Number of redirections so far.
        hops: u8,
        /// The loads that it carried.
        report: Option<Loads>,
    },
    /// A replica answered.
    Response {
        /// Who asked.
        client: u64,
        /// Which of its requests.
        number: u64,
    },
    /// Another dispatcher sent its loads.
    Gossip {
        /// These.
        report: Loads,
    },
    /// Time went by.
    Timer,
    /// A replica is known to be dead.
    Down {
        /// Which.
        replica: u16,
    },
    /// A replica has shown that it is alive.
    Up {
        /// Which.
        replica: u16,
    },
    /// A replica was added.
    Add {
        /// To which service.
        service: u16,
        /// Which.
        replica: u16,
        /// Its cores.
        cores: u16,
    },
    /// A replica was removed.
    Remove {
        /// Which.
        replica: u16,
    },
}

impl Event {
    /// The request that it is about.
    pub(crate) fn key(&self) -> Option<RequestKey> {
        match self {
            Event::Request { client, number, .. } | Event::Response { client, number } => Some(RequestKey {
                client: *client,
                number: *number,
            }),
            _ => None,
        }
    }

    /// The peer whose loads it carried.
    pub(crate) fn reporter(&self) -> Option<PeerId> {
        match self {
            Event::Request { report, .. } => report.as_ref().map(|report| PeerId(report.from)),
            Event::Gossip { report } => Some(PeerId(report.from)),
            _ => None,
        }
    }
}

/// A message of another dispatcher.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Loads {
    from: u16,
    incarnation: u32,
    sequence: u32,
    /// Service, cores, load in 256ths of a request.
    entries: Vec<(u16, u16, u32)>,
}

impl Loads {
    pub(crate) fn of(report: &Report) -> Loads {
        let entry = |entry: &Entry| (entry.service.0, entry.cores, entry.load.0);
        Loads {
            from: report.from.0,
            incarnation: report.incarnation,
            sequence: report.sequence,
            entries: report.entries.iter().map(entry).collect(),
        }
    }

    fn report(&self) -> Report {
        Report {
            from: PeerId(self.from),
            incarnation: self.incarnation,
            sequence: self.sequence,
            entries: (self.entries.iter())
                .map(|(service, cores, load)| Entry {
                    service: ServiceId(*service),
                    cores: *cores,
                    load: Load(*load),
                })
                .collect(),
        }
    }
}

/// A line of a record: an event, its time, and the decisions.
#[derive(Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) at: u64,
    #[serde(flatten)]
    pub(crate) event: Event,
    pub(crate) decided: Vec<String>,
}

/// The first line of a record.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) configuration: Configuration,
}

/// Actions as a record has them.
pub(crate) fn spelled(actions: &[Action]) -> Vec<String> {
    actions.iter().map(|action| format!("{action:?}")).collect()
}

/// Passes an event to a dispatcher.
pub(crate) fn tell(
    dispatcher: &mut Dispatcher,
    at: u64,
    event: &Event,
    actions: &mut Vec<Action>,
) -> Result<(), ConfigurationError> {
    match event {
        Event::Request {
            service,
            client,
            number,
            sticky,
            hops,
            report,
        } => {
            let request = Request {
                service: ServiceId(*service),
                key: RequestKey {
                    client: *client,
                    number: *number,
                },
                sticky: *sticky,
                hops: *hops,
            };
            match report {
                Some(loads) => dispatcher.redirected(at, &request, &loads.report(), actions),
                None => dispatcher.request(at, &request, actions),
            }
        }
        Event::Response { client, number } => {
            let (client, number) = (*client, *number);
            dispatcher.response(at, RequestKey { client, number }, actions);
        }
        Event::Gossip { report } => dispatcher.gossip(at, &report.report(), actions),
        Event::Timer => dispatcher.timer(at, actions),
        Event::Down { replica } => dispatcher.replica_down(at, ReplicaId(*replica), actions),
        Event::Up { replica } => dispatcher.replica_up(at, ReplicaId(*replica), actions),
        Event::Add {
            service,
            replica,
            cores,
        } => {
            let (id, cores) = (ReplicaId(*replica), *cores);
            dispatcher.add_replica(at, ServiceId(*service), ReplicaSpec { id, cores }, actions)?;
        }
        Event::Remove { replica } => dispatcher.remove_replica(at, ReplicaId(*replica), actions)?,
    }
    Ok(())
}

/// Passes all events of a record to a new dispatcher, and compares its decisions with the recorded ones, and its counts
/// with those that follow from them.
///
/// # Errors
/// [`ReplayError`] for the first line that is invalid, or differs.
pub fn replay(record: impl BufRead) -> Result<Replayed, ReplayError> {
    let mut lines = record.lines();
    let head = lines.next().ok_or(ReplayError::Line(1))?;
    let Head { configuration } = serde_json::from_str(&head?).map_err(|_| ReplayError::Line(1))?;
    let mut dispatcher = Dispatcher::new(&configuration)?;
    let services = configuration.services.iter().map(|service| service.id);
    let mut ledger = Ledger::new(services.collect());
    let mut actions = Vec::new();
    for (line, number) in lines.zip(2..) {
        let line: Line = serde_json::from_str(&line?).map_err(|_| ReplayError::Line(number))?;
        actions.clear();
        tell(&mut dispatcher, line.at, &line.event, &mut actions)?;
        let decided = spelled(&actions);
        if decided != line.decided {
            return Err(ReplayError::Differs {
                line: number,
                then: line.decided,
                now: decided,
            });
        }
        if !ledger.take(line.at, &line.event, &actions, &dispatcher) {
            return Err(ReplayError::Drifts { line: number });
        }
    }
    Ok(ledger.replayed())
}

/// Why a record was not followed to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Not a line of a record.
    #[error("line {0} is not one of a record")]
    Line(u64),
    /// A decision differs.
    #[error("line {line}: {then:?} was decided, and {now:?} is now")]
    Differs {
        /// Where.
        line: u64,
        /// In the record.
        then: Vec<String>,
        /// By the dispatcher of now.
        now: Vec<String>,
    },
    /// More or fewer requests are counted than are outstanding.
    #[error("line {line}: counts have drifted from what was decided")]
    Drifts {
        /// Where.
        line: u64,
    },
    /// A dispatcher that cannot be.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
}
