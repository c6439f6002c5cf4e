use crate::distribution::Sampler;
use crate::{Latencies, ParameterError, Random, ServiceParameters};
use rackwright_ethernet::Datagram;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Clock;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The counters of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServiceCounters {
    /// Requests that came.
    pub requests: u64,
    /// Requests answered.
    pub answered: u64,
    /// Requests for which the queue had no room.
    pub dropped: u64,
    /// Cycles that cores have worked, of all cores together.
    pub busy_cycles: u64,
}

/// Cores behind one queue, first come, first served.
#[derive(Clone, Debug)]
pub struct Service {
    time: Sampler,
    random: Random,
    queue: usize,
    /// From when on waiting times are recorded.
    measure_from: Cycle,
    waiting: VecDeque<(Cycle, Datagram)>,
    /// The cores at work, by when they end.
    working: BinaryHeap<Reverse<(Cycle, usize)>>,
    idle: Vec<usize>,
    /// The current request of each core.
    requests: Vec<Option<Datagram>>,
    counters: ServiceCounters,
    waits: Latencies,
}

impl Service {
    /// A service at rest.
    ///
    /// # Errors
    /// [`ParameterError`].
    pub fn new(
        parameters: &ServiceParameters,
        clock: Clock,
        random: Random,
        measure_from: Cycle,
    ) -> Result<Service, ParameterError> {
        if parameters.cores == 0 {
            return Err(ParameterError::NoCores);
        }
        let cores = parameters.cores as usize;
        Ok(Service {
            time: parameters.time.sampler(clock)?,
            random,
            queue: parameters.queue.map_or(usize::MAX, |limit| limit as usize),
            measure_from,
            waiting: VecDeque::new(),
            working: BinaryHeap::with_capacity(cores),
            idle: (0..cores).rev().collect(),
            requests: vec![None; cores],
            counters: ServiceCounters::default(),
            waits: Latencies::new(),
        })
    }

    /// When the next core is done.
    #[inline]
    pub(crate) fn next_event(&self) -> Cycle {
        self.working
            .peek()
            .map_or(Cycle::NEVER, |Reverse((done, _))| *done)
    }

    /// Takes a request.
    pub(crate) fn take(&mut self, now: Cycle, request: Datagram) {
        self.counters.requests += 1;
        if let Some(core) = self.idle.pop() {
            self.begin(core, now, now, request);
        } else if self.waiting.len() < self.queue {
            self.waiting.push_back((now, request));
        } else {
            self.counters.dropped += 1;
        }
    }

    /// Ends the work of the core that is done at `now`; returns the request it worked on.
    pub(crate) fn complete(&mut self, now: Cycle) -> Datagram {
        let Reverse((_, core)) = self.working.pop().expect("a core is done");
        let request = self.requests[core].take().expect("a core at work has a request");
        self.counters.answered += 1;
        match self.waiting.pop_front() {
            Some((came, next)) => self.begin(core, came, now, next),
            None => self.idle.push(core),
        }
        request
    }

    /// Drops all requests that wait or are being processed; returns their number.
    pub(crate) fn lose(&mut self) -> u64 {
        let lost = self.under_way();
        self.waiting.clear();
        for Reverse((_, core)) in self.working.drain() {
            self.requests[core] = None;
            self.idle.push(core);
        }
        lost
    }

    fn begin(&mut self, core: usize, came: Cycle, now: Cycle, request: Datagram) {
        // Processing takes at least a cycle, so that time advances.
        let time = self.time.draw(&mut self.random).max(Cycles::new(1));
        if came >= self.measure_from {
            self.waits.record(now - came);
        }
        self.counters.busy_cycles += time.0;
        self.requests[core] = Some(request);
        self.working.push(Reverse((now + time, core)));
    }

    /// Requests that wait or are worked on.
    pub fn under_way(&self) -> u64 {
        (self.waiting.len() + self.working.len()) as u64
    }

    /// Its counters.
    pub fn counters(&self) -> ServiceCounters {
        self.counters
    }

    /// The times for which requests have waited for a core.
    pub fn waits(&self) -> &Latencies {
        &self.waits
    }
}
