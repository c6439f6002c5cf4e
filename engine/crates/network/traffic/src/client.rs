use crate::arrivals::Schedule;
use crate::distribution::Sampler;
use crate::parameters::check_payload;
use crate::pending::Pending;
use crate::selector::Selector;
use crate::{ClientParameters, Distribution, Latencies, Load, ParameterError, Random};
use rackwright_dispatch::ServiceId;
use rackwright_ethernet::{Endpoint, Kind, Mac, Message};
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A destination of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// The hardware address.
    pub mac: Mac,
    /// The Internet address and port.
    pub endpoint: Endpoint,
    /// What it serves.
    pub service: ServiceId,
}

/// The counters of a client.
///
/// Every request has a response, is lost, or is outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClientCounters {
    /// Requests sent.
    pub requests: u64,
    /// Requests answered in time.
    pub answered: u64,
    /// Requests not answered in time.
    pub lost: u64,
    /// Responses to requests that were abandoned before, or never sent.
    pub late: u64,
}

/// Between when a client was at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClientSpan {
    /// When it sent its first request; zero before.
    pub first_sent: Cycle,
    /// When it sent its latest request.
    pub last_sent: Cycle,
    /// Time of its latest response that was in time.
    pub last_answer: Cycle,
}

/// A client: sends requests to its peers.
#[derive(Clone, Debug)]
pub struct Client {
    pace: Pace,
    peers: Vec<Peer>,
    selector: Selector,
    request_bytes: u16,
    answer_bytes: u16,
    timeout: Cycles,
    remaining: u64,
    random: Random,
    pending: Pending,
    measure_from: Cycle,
    counters: ClientCounters,
    span: ClientSpan,
    latencies: Latencies,
}

/// When it sends.
#[derive(Clone, Debug)]
enum Pace {
    Open(Schedule),
    /// Ends of the current pauses.
    Closed {
        think: Sampler,
        pauses: BinaryHeap<Reverse<Cycle>>,
    },
}

/// A request to be sent.
pub(crate) struct Request {
    pub(crate) peer: Peer,
    pub(crate) payload: u16,
    pub(crate) message: Message,
}

impl Client {
    /// A client before its start. Latencies count for requests sent at `measure_from` or later.
    ///
    /// # Errors
    /// [`ParameterError`].
    pub fn new(
        parameters: &ClientParameters,
        peers: Vec<Peer>,
        clock: Clock,
        mut random: Random,
        measure_from: Cycle,
    ) -> Result<Client, ParameterError> {
        if peers.is_empty() {
            return Err(ParameterError::NoTarget);
        }
        let constant = |us| Distribution::Constant { us }.cycles(clock);
        Ok(Client {
            pace: Pace::new(
                &parameters.load,
                Cycle::ZERO + constant(parameters.start_us)?,
                clock,
                &mut random,
            )?,
            selector: Selector::new(parameters.selection, &peers, &mut random),
            peers,
            request_bytes: check_payload(parameters.request_bytes)?,
            answer_bytes: check_payload(parameters.answer_bytes)?,
            timeout: constant(parameters.timeout_us)?.max(Cycles::new(1)),
            remaining: parameters.requests.unwrap_or(u64::MAX),
            random,
            pending: Pending::default(),
            measure_from,
            counters: ClientCounters::default(),
            span: ClientSpan::default(),
            latencies: Latencies::new(),
        })
    }

    /// When it next sends.
    #[inline]
    pub(crate) fn next_send(&self) -> Cycle {
        match self.remaining {
            0 => Cycle::NEVER,
            _ => self.pace.next(),
        }
    }

    /// The time-out of the oldest outstanding request.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Cycle {
        self.pending.deadline(self.timeout)
    }

    /// Makes the request that is due at `now`.
    pub(crate) fn send(&mut self, now: Cycle) -> Request {
        self.remaining -= 1;
        if self.counters.requests == 0 {
            self.span.first_sent = now;
        }
        self.span.last_sent = now;
        self.counters.requests += 1;
        self.pace.sent(&mut self.random);
        let peer = self.peers[self.selector.choose(self.peers.len(), &mut self.random)];
        Request {
            peer,
            payload: self.request_bytes,
            message: Message {
                kind: Kind::Request,
                service: peer.service,
                argument: self.answer_bytes,
                number: self.pending.add(now),
            },
        }
    }

    /// Processes the response to the request with this number.
    pub(crate) fn answer(&mut self, now: Cycle, from: Mac, message: Message) {
        self.selector.heard(from, message.argument);
        let number = message.number;
        let Some(sent) = self.pending.answer(number) else {
            self.counters.late += 1;
            return;
        };
        self.counters.answered += 1;
        self.span.last_answer = now;
        if sent >= self.measure_from {
            self.latencies.record(now - sent);
        }
        self.pace.ended(now, &mut self.random);
    }

    /// Abandons the oldest outstanding request.
    pub(crate) fn time_out(&mut self, now: Cycle) {
        self.pending.give_up();
        self.counters.lost += 1;
        self.pace.ended(now, &mut self.random);
    }

    /// Its counters.
    pub fn counters(&self) -> ClientCounters {
        self.counters
    }

    /// Between when it was at work.
    pub fn span(&self) -> ClientSpan {
        self.span
    }

    /// Times from request to answer.
    pub fn latencies(&self) -> &Latencies {
        &self.latencies
    }
}

impl Pace {
    fn new(load: &Load, start: Cycle, clock: Clock, random: &mut Random) -> Result<Pace, ParameterError> {
        match load {
            Load::Open { arrivals } => Ok(Pace::Open(Schedule::new(
                arrivals,
                start.0 as f64,
                clock,
                random,
            )?)),
            Load::Closed { outstanding: 0, .. } => Err(ParameterError::NothingOutstanding),
            Load::Closed { outstanding, think } => {
                let think = think.sampler(clock)?;
                let pauses = (0..*outstanding)
                    .map(|_| Reverse(start + think.draw(random)))
                    .collect();
                Ok(Pace::Closed { think, pauses })
            }
        }
    }

    #[inline]
    fn next(&self) -> Cycle {
        match self {
            Pace::Open(schedule) => schedule.next(),
            Pace::Closed { pauses, .. } => pauses.peek().map_or(Cycle::NEVER, |Reverse(end)| *end),
        }
    }

    fn sent(&mut self, random: &mut Random) {
        match self {
            Pace::Open(schedule) => schedule.advance(random),
            Pace::Closed { pauses, .. } => {
                pauses.pop();
            }
        }
    }

    /// A request is no longer outstanding.
    fn ended(&mut self, now: Cycle, random: &mut Random) {
        if let Pace::Closed { think, pauses } = self {
            pauses.push(Reverse(now + think.draw(random)));
        }
    }
}
