use crate::dispatcher::Dispatcher;
use crate::outstanding::EPOCHS;
use crate::replica::Health;
use crate::Action;

impl Dispatcher {
    /// The latest time for the next call of [`Dispatcher::timer`]. Other events may move it.
    pub fn next_timer(&self) -> u64 {
        let truth = self
            .peers
            .iter()
            .map(|peer| peer.truth_at)
            .min()
            .unwrap_or(u64::MAX);
        let is_silent = |health| health == Health::Failed;
        let probe = match self.replicas.iter().any(|replica| is_silent(replica.health)) {
            true => self.probe_at,
            false => u64::MAX,
        };
        self.epochs.end.min(truth).min(probe)
    }

    /// Handles the events that are due by `now`.
    pub fn timer(&mut self, now: u64, actions: &mut Vec<Action>) {
        let now = self.settle(now, actions);
        for index in 0..self.peers.len() {
            if self.peers[index].truth_at <= now {
                self.counters.gossip.truths += 1;
                self.tell(now, index, actions);
            }
        }
        if self.probe_at <= now {
            self.probe_at = now.saturating_add(self.rules.probe_interval);
            for replica in &self.replicas {
                if replica.health == Health::Failed {
                    self.counters.answers.probes += 1;
                    actions.push(Action::Probe { replica: replica.id });
                }
            }
        }
    }

    /// Brings time forward to an event; returns its time.
    #[inline]
    pub(crate) fn settle(&mut self, now: u64, actions: &mut Vec<Action>) -> u64 {
        self.now = self.now.max(now);
        if self.now >= self.epochs.end {
            self.end_epochs(actions);
        }
        self.now
    }

    #[cold]
    fn end_epochs(&mut self, actions: &mut Vec<Action>) {
        let ended = (self.now - self.epochs.end) / self.epochs.length_ns + 1;
        // After this number of epochs, no requests are left to forget.
        for _ in 0..ended.min(EPOCHS.into()) {
            self.epochs.current = self.epochs.current.wrapping_add(1);
            self.end_epoch(actions);
        }
        let passed_over = ended.saturating_sub(EPOCHS.into());
        self.epochs.current = self.epochs.current.wrapping_add(passed_over as u32);
        self.epochs.end = self
            .epochs
            .end
            .saturating_add(ended.saturating_mul(self.epochs.length_ns));
    }

    /// Forgets requests that are too old and detects silent replicas.
    fn end_epoch(&mut self, actions: &mut Vec<Action>) {
        for index in 0..self.replicas.len() {
            let replica = &mut self.replicas[index];
            let service = replica.service;
            let is_silent = replica.health == Health::Up && replica.is_silent(self.epochs.current);
            let forgotten = replica.forget(self.epochs.current);
            self.counters.answers.expired += u64::from(forgotten);
            if is_silent {
                replica.health = Health::Failed;
                self.counters.answers.failures += 1;
                self.probe_at = self.now;
                self.count_again(service);
                self.broadcast(self.now, service, actions);
            } else if replica.health == Health::Up && forgotten > 0 {
                self.services[service].outstanding -= forgotten;
                self.changed(self.now, service, actions);
            }
        }
        for own in 0..self.services.len() {
            let is_old =
                |waiting: crate::held::Waiting| self.epochs.current.wrapping_sub(waiting.epoch) >= EPOCHS;
            while let Some(waiting) = self.services[own].held.first().filter(|waiting| is_old(*waiting)) {
                self.services[own].held.pop();
                self.counters.drops.discarded += 1;
                actions.push(Action::Discard {
                    ticket: waiting.ticket,
                });
            }
            self.release(self.now, own, actions);
        }
    }
}
