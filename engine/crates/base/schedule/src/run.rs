use crate::exchange::Exchange;
use crate::part::{Pace, Part};
use crate::patience::Patience;
use crate::table::Tables;
use crate::{equal_shares, Apart, Graph, Meeting, Model, ModelId, Share, Tapped};
use rackwright_link::{Cycle, Cycles, Portable};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::Digest;
use std::ops::Range;

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// Nothing is in flight, and no model has an event: the simulation cannot continue.
    Quiet,
    /// The given time has elapsed.
    TimeOver,
}

/// Threads keep their shares for at most this number of windows.
const MOST_WINDOWS_SHARED: u64 = 4096;

impl<M: Model> Graph<M> {
    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> Cycle<M::Item> {
        self.cycle
    }

    /// Advances to the cycle `until`. Time without events costs nothing.
    ///
    /// # Panics
    /// When a model breaks its contract; see [`Model::advance`].
    pub fn run(&mut self, until: Cycle<M::Item>) -> RunOutcome {
        if until <= self.cycle {
            return RunOutcome::TimeOver;
        }
        while self.cycle < until {
            let end = self.share_out(until);
            self.run_shares(end);
        }
        self.rest(0..self.nodes.len());
        self.outcome(0..self.nodes.len())
    }

    /// Time of the next assignment of shares, before the cycle `until`: soon at first, when the costs of models have
    /// just been measured, then more and more rarely.
    fn share_out(&mut self, until: Cycle<M::Item>) -> Cycle<M::Item> {
        if self.threads == 1 {
            return until;
        }
        let windows = self.windows_shared;
        self.windows_shared = (4 * windows).min(MOST_WINDOWS_SHARED);
        self.nodes.iter_mut().for_each(|node| node.cost.age());
        let span = self.window().0.saturating_mul(windows);
        let wakes = self.nodes.iter().map(|node| node.wake);
        // There are no events before the first of them.
        let first = wakes
            .fold(Cycle::<M::Item>::NEVER, Cycle::<M::Item>::min)
            .max(self.cycle);
        Cycle::<M::Item>::new(first.0.saturating_add(span)).min(until)
    }

    fn run_shares(&mut self, until: Cycle<M::Item>) {
        let (pace, first) = (self.pace(until), self.cycle);
        let starts = equal_shares(&self.costs(), self.threads);
        let threads = starts.len() - 1;
        let patience = Patience::on_this_host(threads);
        let exchange = Exchange::new(threads, patience);
        let tables = Tables::new(threads, patience);
        let mut parts = self.parts(&starts, &tables, pace.window);
        let last = parts.pop().expect("a graph has at least one part");
        let run = |index: usize, mut part: Part<'_, '_, M>| {
            let _failure = Failure {
                thread: index,
                exchange: &exchange,
                tables: &tables,
            };
            let (_, met) = part.run(first, pace, &mut exchange.seat(index));
            met.expect("threads of one process meet");
        };
        std::thread::scope(|scope| {
            let (run, others) = (&run, parts.len());
            for (index, part) in parts.into_iter().enumerate() {
                scope.spawn(move || run(index, part));
            }
            run(others, last);
        });
        self.cycle = until;
    }

    /// Advances the models of one share to the cycle `until`, meeting the other processes after every
    /// window. The outcome is that of the share.
    ///
    /// # Errors
    /// [`Apart`] if synchronisation with another process fails; [`Graph::cycle`] then returns the cycle reached.
    ///
    /// # Panics
    /// When a model breaks its contract; see [`Model::advance`].
    pub fn run_share(
        &mut self,
        until: Cycle<M::Item>,
        share: &Share,
        meeting: &mut impl Meeting<M::Item>,
    ) -> Result<RunOutcome, Apart> {
        if until <= self.cycle {
            return Ok(RunOutcome::TimeOver);
        }
        let (pace, first) = (self.pace(until), self.cycle);
        let own = &mut self.nodes[share.models()];
        let mut part = Part::new(share.rank, &share.starts, own, None, first, pace.window);
        let (reached, met) = part.run(first, pace, meeting);
        self.cycle = reached;
        met?;
        self.rest(share.models());
        Ok(self.outcome(share.models()))
    }

    /// Passes the time since the last visits of models.
    fn rest(&mut self, models: Range<usize>) {
        for node in &mut self.nodes[models] {
            node.model.rest(self.cycle);
            node.wake = node.model.next_event().min(node.inbox.next());
        }
    }

    /// Estimated nanoseconds that each model has taken recently.
    pub fn costs(&self) -> Vec<u64> {
        self.nodes.iter().map(|node| node.cost.total()).collect()
    }

    fn pace(&self, until: Cycle<M::Item>) -> Pace<M::Item> {
        Pace {
            until,
            window: self.window(),
            skip_idle: self.skip_idle,
        }
    }

    fn outcome(&self, models: Range<usize>) -> RunOutcome {
        match self.nodes[models]
            .iter()
            .all(|node| node.wake == Cycle::<M::Item>::NEVER)
        {
            true => RunOutcome::Quiet,
            false => RunOutcome::TimeOver,
        }
    }

    /// The digest of the items that left a model's ports, and of the model's internal events.
    pub fn model_digest(&self, id: ModelId) -> Digest {
        let node = &self.nodes[id.0];
        let mut digest = Digest::new();
        (node.ports.iter()).for_each(|port| digest.number(port.trail.value()));
        node.model.digest(&mut digest);
        digest
    }

    /// The digest over the digests of all models.
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        (0..self.nodes.len()).for_each(|node| digest.digest(&self.model_digest(ModelId(node))));
        digest
    }

    /// The items recorded at ports since the last call, ordered by (cycle, model, port).
    pub fn take_tapped(&mut self) -> Vec<Tapped<M::Item>> {
        let mut all = Vec::new();
        for node in &mut self.nodes {
            if let Some(tap) = &mut node.tap {
                tap.take_before(self.cycle, &mut all);
            }
        }
        all.sort_by_key(|tapped| (tapped.cycle, tapped.model, tapped.port, tapped.direction));
        all
    }

    fn parts<'t, 'a>(
        &'a mut self,
        starts: &'a [usize],
        tables: &'t Tables<'a, M>,
        window: Cycles<M::Item>,
    ) -> Vec<Part<'t, 'a, M>> {
        let first = self.cycle;
        let tables = (starts.len() > 2).then_some(tables);
        let mut rest = self.nodes.as_mut_slice();
        let mut parts = Vec::new();
        for (index, ends) in starts.windows(2).enumerate() {
            let (own, others) = rest.split_at_mut(ends[1] - ends[0]);
            parts.push(Part::new(index, starts, own, tables, first, window));
            rest = others;
        }
        parts
    }
}

/// The state of all models and of the items between them; a graph that is restored was built from the same models.
impl<M: Model + State> State for Graph<M>
where
    M::Item: Portable,
{
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.cycle.pass(by)?;
        by.each(self.nodes.iter_mut())
    }
}

/// Frees the threads that wait for one that panics.
struct Failure<'t, 'a, M: Model> {
    thread: usize,
    exchange: &'t Exchange<M::Item>,
    tables: &'t Tables<'a, M>,
}

impl<M: Model> Drop for Failure<'_, '_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.exchange.fail(self.thread);
            self.tables.fail();
        }
    }
}
