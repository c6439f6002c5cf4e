use crate::message::{Message, Operation, Status};
use crate::pages::Pages;
use rackwright_ethernet::{Frame, Mac, Outage, OutputPort, PortParameters};
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};

/// The parameters of a blade.
#[derive(Clone, PartialEq, Debug)]
pub struct BladeParameters {
    /// Its hardware address.
    pub mac: Mac,
    /// From the last flit of a request to the first flit of its answer; one request at a time.
    pub service: Cycles,
    /// Pages that it has room for.
    pub capacity: usize,
    /// When it is down. It has lost all pages when it restarts.
    pub outages: Vec<Outage>,
}

/// The counters of a blade.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BladeCounters {
    /// Fetches answered with a page.
    pub fetched: u64,
    /// Stores answered as done.
    pub stored: u64,
    /// Requests with any other response.
    pub refused: u64,
    /// Frames that were no requests for it.
    pub ignored: u64,
    /// Frames that arrived while it was down.
    pub dead: u64,
    /// Cycles in which it worked on requests.
    pub busy_cycles: u64,
}

/// A memory blade as a model of a network: pages, one server in front of them, one port.
pub struct Blade {
    parameters: BladeParameters,
    pages: Pages,
    output: OutputPort,
    counters: BladeCounters,
    /// Time at which it has completed all requests so far.
    free: Cycle,
    /// Number of outages that have started.
    begun: usize,
}

impl Blade {
    /// An empty blade.
    pub fn new(mut parameters: BladeParameters, port: PortParameters) -> Blade {
        parameters.outages.sort_by_key(|outage| outage.from);
        Blade {
            pages: Pages::new(parameters.capacity),
            parameters,
            output: OutputPort::new(port),
            counters: BladeCounters::default(),
            free: Cycle::ZERO,
            begun: 0,
        }
    }

    /// Its port.
    pub fn output_port(&self) -> &OutputPort {
        &self.output
    }

    /// What has happened.
    pub fn counters(&self) -> BladeCounters {
        self.counters
    }

    /// Number of its pages.
    pub fn pages(&self) -> usize {
        self.pages.count()
    }

    /// Whether it is down; pages are dropped as soon as an outage is detected.
    fn is_down(&mut self, now: Cycle) -> bool {
        let outages = &self.parameters.outages;
        while outages.get(self.begun).is_some_and(|outage| outage.from <= now) {
            self.begun += 1;
            self.pages.restart();
        }
        outages[..self.begun]
            .last()
            .is_some_and(|outage| outage.covers(now))
    }

    fn receive(&mut self, now: Cycle, frame: &Frame, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        self.output.count_received(frame.length());
        if self.is_down(now) {
            self.counters.dead += 1;
            return;
        }
        let Some((client, answer)) = self.answer(frame) else {
            self.counters.ignored += 1;
            return;
        };
        match (answer.operation, answer.status) {
            (Operation::Fetched, Status::Done) => self.counters.fetched += 1,
            (Operation::Stored, Status::Done) => self.counters.stored += 1,
            _ => self.counters.refused += 1,
        }
        self.free = self.free.max(now) + self.parameters.service;
        self.counters.busy_cycles += self.parameters.service.0;
        let bytes = answer.to_frame(client, self.parameters.mac);
        if self.output.offer(self.free, bytes.len()) {
            let frame = Frame::raw(&bytes).expect("a message has bytes");
            self.output.enqueue(self.free, frame, until, 0, outbox);
        }
    }

    fn answer(&mut self, frame: &Frame) -> Option<(Mac, Message)> {
        let Frame::Raw(bytes) = frame else { return None };
        let (destination, client, request) = Message::parse(bytes).ok()?;
        if destination != self.parameters.mac {
            return None;
        }
        Some((client, self.pages.serve(client, &request)?))
    }
}

impl Model for Blade {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn next_event(&self) -> Cycle {
        self.output.next_departure()
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        while arrivals.peek() < until {
            let (_, arrival) = arrivals.next().expect("an arrival is due");
            self.receive(arrival.cycle, &arrival.item, until, outbox);
        }
    }

    fn digest(&self, digest: &mut Digest) {
        let BladeCounters {
            fetched,
            stored,
            refused,
            ignored,
            dead,
            busy_cycles,
        } = self.counters;
        for count in [fetched, stored, refused, ignored, dead, busy_cycles] {
            digest.number(count);
        }
        digest.number(self.pages.count() as u64);
        digest.contents(self.pages.contents());
    }
}
