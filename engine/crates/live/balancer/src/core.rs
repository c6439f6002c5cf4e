use crate::hand::{Hand, Origin};
use crate::trace::{spelled, Event, Head, Line, Loads};
use crate::trials::Trials;
use crate::{BalancerError, Settings};
use rackwright_dispatch::{
    Action, ConfigurationError, Dispatcher, ReplicaId, ReplicaSpec, Report, Request, RequestKey, ServiceId,
    Ticket,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};

/// State shared by all threads: the dispatcher, waiting requests, and replicas to be tried.
pub(crate) struct Core {
    dispatcher: Dispatcher,
    held: BTreeMap<Ticket, Held>,
    trials: Trials,
    record: Option<BufWriter<File>>,
}

/// A request that waits.
pub(crate) struct Held {
    service: usize,
    origin: Origin,
    request: Request,
    bytes: Vec<u8>,
}

impl Held {
    pub(crate) fn hand(&self) -> Hand<'_> {
        Hand {
            service: self.service,
            origin: self.origin,
            request: self.request,
            bytes: &self.bytes,
        }
    }
}

impl Core {
    pub(crate) fn new(settings: &Settings) -> Result<Core, BalancerError> {
        let configuration = settings.configuration();
        let dispatcher = Dispatcher::new(&configuration)?;
        let begin = |path: &std::path::PathBuf| {
            let cannot = |error| BalancerError::Record {
                path: path.clone(),
                error,
            };
            let mut file = BufWriter::new(File::create(path).map_err(cannot)?);
            let head = serde_json::to_string(&Head { configuration }).expect("it is plain data");
            writeln!(file, "{head}").map_err(cannot)?;
            Ok::<_, BalancerError>(file)
        };
        let record = settings.record.as_ref().map(begin).transpose()?;
        Ok(Core {
            dispatcher,
            held: BTreeMap::new(),
            trials: Trials::default(),
            record,
        })
    }

    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    pub(crate) fn request(
        &mut self,
        at: u64,
        request: &Request,
        report: Option<&Report>,
        actions: &mut Vec<Action>,
    ) {
        let before = actions.len();
        match report {
            Some(report) => self.dispatcher.redirected(at, request, report, actions),
            None => self.dispatcher.request(at, request, actions),
        }
        self.note(at, &actions[before..], || Event::Request {
            service: request.service.0,
            client: request.key.client,
            number: request.key.number,
            sticky: request.sticky,
            hops: request.hops,
            report: report.map(Loads::of),
        });
    }

    pub(crate) fn response(&mut self, at: u64, key: RequestKey, actions: &mut Vec<Action>) {
        let before = actions.len();
        self.dispatcher.response(at, key, actions);
        self.note(at, &actions[before..], || Event::Response {
            client: key.client,
            number: key.number,
        });
    }

    pub(crate) fn gossip(&mut self, at: u64, report: &Report, actions: &mut Vec<Action>) {
        let before = actions.len();
        self.dispatcher.gossip(at, report, actions);
        self.note(at, &actions[before..], || Event::Gossip {
            report: Loads::of(report),
        });
    }

    /// Handles timer events that are due.
    pub(crate) fn timer(&mut self, at: u64, actions: &mut Vec<Action>) {
        if self.dispatcher.next_timer() > at {
            return;
        }
        let before = actions.len();
        self.dispatcher.timer(at, actions);
        self.note(at, &actions[before..], || Event::Timer);
    }

    pub(crate) fn down(&mut self, at: u64, replica: ReplicaId, actions: &mut Vec<Action>) {
        let before = actions.len();
        self.dispatcher.replica_down(at, replica, actions);
        self.note(at, &actions[before..], || Event::Down { replica: replica.0 });
    }

    pub(crate) fn up(&mut self, at: u64, replica: ReplicaId, actions: &mut Vec<Action>) {
        let before = actions.len();
        self.trials.end(replica);
        self.dispatcher.replica_up(at, replica, actions);
        self.note(at, &actions[before..], || Event::Up { replica: replica.0 });
    }

    pub(crate) fn add(
        &mut self,
        at: u64,
        service: ServiceId,
        replica: ReplicaSpec,
        actions: &mut Vec<Action>,
    ) -> Result<(), ConfigurationError> {
        let before = actions.len();
        self.dispatcher.add_replica(at, service, replica, actions)?;
        self.note(at, &actions[before..], || Event::Add {
            service: service.0,
            replica: replica.id.0,
            cores: replica.cores,
        });
        Ok(())
    }

    pub(crate) fn remove(
        &mut self,
        at: u64,
        replica: ReplicaId,
        actions: &mut Vec<Action>,
    ) -> Result<(), ConfigurationError> {
        let before = actions.len();
        self.dispatcher.remove_replica(at, replica, actions)?;
        self.note(at, &actions[before..], || Event::Remove { replica: replica.0 });
        Ok(())
    }

    /// Registers a failed replica for trials with requests of clients, the first one now, further ones at intervals of
    /// at least `wait` nanoseconds.
    pub(crate) fn begin_trials(&mut self, at: u64, replica: ReplicaId, service: ServiceId, wait: u64) {
        self.trials.begin(at, replica, service, wait);
    }

    /// The replica that gets a copy of a request that another replica has received.
    #[inline]
    pub(crate) fn on_trial(&mut self, at: u64, service: ServiceId) -> Option<ReplicaId> {
        let replica = self.trials.due(at, service)?;
        self.still_failed(replica, service)
    }

    /// The replica that gets a request if no replica is alive.
    pub(crate) fn last_resort(&mut self, at: u64, service: ServiceId) -> Option<ReplicaId> {
        let replica = self.trials.last_resort(at, service)?;
        self.still_failed(replica, service)
    }

    /// A late response may have shown the dispatcher that a replica is alive, and others are removed.
    fn still_failed(&mut self, replica: ReplicaId, service: ServiceId) -> Option<ReplicaId> {
        let known = self.dispatcher.replicas(service);
        if known
            .iter()
            .any(|known| known.id == replica && known.health == "failed")
        {
            return Some(replica);
        }
        self.trials.end(replica);
        None
    }

    /// Keeps a request that waits.
    pub(crate) fn hold(&mut self, ticket: Ticket, hand: &Hand<'_>) {
        let held = Held {
            service: hand.service,
            origin: hand.origin,
            request: hand.request,
            bytes: hand.bytes.to_vec(),
        };
        self.held.insert(ticket, held);
    }

    /// Removes and returns a waiting request.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<Held> {
        self.held.remove(&ticket)
    }

    /// Number of waiting requests.
    pub(crate) fn waiting(&self) -> usize {
        self.held.len()
    }

    /// Writes the rest of the record.
    pub(crate) fn finish(&mut self) -> std::io::Result<()> {
        self.record.as_mut().map_or(Ok(()), Write::flush)
    }

    #[inline]
    fn note(&mut self, at: u64, decided: &[Action], event: impl FnOnce() -> Event) {
        if let Some(record) = &mut self.record {
            let line = Line {
                at,
                event: event(),
                decided: spelled(decided),
            };
            let line = serde_json::to_string(&line).expect("it is plain data");
            // A full disk ends the record, not the service.
            if writeln!(record, "{line}").is_err() {
                self.record = None;
            }
        }
    }
}
