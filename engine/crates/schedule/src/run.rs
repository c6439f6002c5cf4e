use crate::exchange::Exchange;
use crate::part::{Pace, Part};
use crate::{Graph, Model, Tapped};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// Nothing is on its way and no model has anything to do: nothing will ever happen again.
    Quiet,
    /// The time given is over.
    TimeOver,
}

impl<M: Model> Graph<M> {
    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Advances to the cycle `until`. Time in which nothing happens costs nothing.
    ///
    /// # Panics
    /// When a model breaks its contract; see [`Model::advance`].
    pub fn run(&mut self, until: Cycle) -> RunOutcome {
        if until <= self.cycle {
            return RunOutcome::TimeOver;
        }
        let pace = Pace {
            until,
            window: self.window(),
            skip_idle: self.skip_idle,
        };
        let starts = self.starts();
        let exchange = Exchange::new(starts.len() - 1);
        let first = self.cycle;
        let mut parts = self.parts(&starts, pace.window);
        let last = parts.pop().expect("a graph has at least one part");
        std::thread::scope(|scope| {
            for mut part in parts {
                let exchange = &exchange;
                scope.spawn(move || part.run(first, pace, exchange));
            }
            let mut part = last;
            part.run(first, pace, &exchange);
        });
        self.cycle = until;
        if self.nodes.iter().all(|node| node.wake == Cycle::NEVER) {
            RunOutcome::Quiet
        } else {
            RunOutcome::TimeOver
        }
    }

    /// The digest over all link traffic and over what happened inside the models.
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        for node in &self.nodes {
            node.ports
                .iter()
                .for_each(|port| digest.number(port.trail.value()));
            node.model.digest(&mut digest);
        }
        digest
    }

    /// What has passed the ports listened to since the last call, ordered by (cycle, model, port).
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

    /// Where the parts of the threads begin, so that each has about the same cost, as measured so far.
    fn starts(&self) -> Vec<usize> {
        let threads = self.threads.min(self.nodes.len()).max(1);
        let total: u64 = self.nodes.iter().map(|node| 1 + node.cost).sum();
        let mut starts = vec![0];
        let mut passed = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            if starts.len() < threads && passed * threads as u64 >= total * starts.len() as u64 {
                starts.push(index);
            }
            passed += 1 + node.cost;
        }
        starts.push(self.nodes.len());
        starts.dedup();
        if starts.len() == 1 {
            starts.push(self.nodes.len());
        }
        starts
    }

    fn parts<'a>(&'a mut self, starts: &'a [usize], window: Cycles) -> Vec<Part<'a, M>> {
        let first = self.cycle;
        let mut rest = self.nodes.as_mut_slice();
        let mut parts = Vec::new();
        for (index, ends) in starts.windows(2).enumerate() {
            let (own, others) = rest.split_at_mut(ends[1] - ends[0]);
            parts.push(Part::new(index, starts, own, first, window));
            rest = others;
        }
        parts
    }
}
