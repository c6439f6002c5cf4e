use crate::dispatcher::{Dispatcher, Request};
use crate::monitor::Crossing;
use crate::peer::View;
use crate::{Action, Load, Policy, Report};

/// The weight of a new error in the average error of assumed loads is two to the power of minus this.
const ERROR_SHIFT: u32 = 4;

impl Dispatcher {
    /// Accepts a peer's report, if it is newer than the known state.
    pub(crate) fn hear(&mut self, now: u64, report: &Report) {
        let Ok(index) = self.peers.binary_search_by_key(&report.from, |peer| peer.id) else {
            self.counters.gossip.strangers += 1;
            return;
        };
        if !self.peers[index].accepts(now, report) {
            self.counters.gossip.stale += 1;
            return;
        }
        self.counters.gossip.heard += 1;
        self.peers[index].alive_until = now.saturating_add(self.rules.peer_timeout);
        for entry in &report.entries {
            let Some(own) = self.find(entry.service) else {
                continue;
            };
            let service = &mut self.services[own];
            let view = &mut service.views[index];
            if view.cores > 0 && entry.cores > 0 {
                let error = i64::from(view.load.0.abs_diff(entry.load.0));
                service.error += (error * 256 - service.error) >> ERROR_SHIFT;
            }
            *view = View {
                load: entry.load,
                cores: entry.cores,
                step: Load::of(1, entry.cores.into()),
            };
        }
    }

    /// The load of a service has changed here: informs the others if it crosses a limit.
    #[inline]
    pub(crate) fn changed(&mut self, now: u64, own: usize, actions: &mut Vec<Action>) {
        let load = self.services[own].load();
        match (self.rules.policy, self.services[own].monitor.crosses(load)) {
            (Policy::Daronpon { gossip: true, .. }, Some(crossing)) => {
                self.counters.gossip.doubled += u64::from(crossing == Crossing::Up);
                self.counters.gossip.halved += u64::from(crossing == Crossing::Down);
                self.broadcast(now, own, actions);
            }
            (Policy::ShortestQueue, _) => self.broadcast(now, own, actions),
            _ => {}
        }
    }

    /// Sends this rack's loads to all live peers that have a service.
    pub(crate) fn broadcast(&mut self, now: u64, own: usize, actions: &mut Vec<Action>) {
        for index in 0..self.peers.len() {
            let peer = &self.peers[index];
            if peer.is_alive(now) && peer.services.contains(&(own as u16)) {
                self.counters.gossip.gossip += 1;
                self.tell(now, index, actions);
            }
        }
    }

    /// Sends this rack's loads to a peer.
    pub(crate) fn tell(&mut self, now: u64, peer: usize, actions: &mut Vec<Action>) {
        let report = self.report(now, peer, true);
        actions.push(Action::Gossip {
            peer: self.peers[peer].id,
            report,
        });
    }

    /// Sends the current request to a peer.
    pub(crate) fn redirect(
        &mut self,
        now: u64,
        own: usize,
        peer: usize,
        request: &Request,
        actions: &mut Vec<Action>,
    ) {
        self.counters.requests.redirected += 1;
        // The peer's assumed load after this request, until its next report.
        let view = &mut self.services[own].views[peer];
        view.load = view.load.plus(view.step);
        let has_loads = !matches!(self.rules.policy, Policy::Daronpon { piggyback: false, .. });
        let report = self.report(now, peer, has_loads);
        actions.push(Action::Redirect {
            peer: self.peers[peer].id,
            hops: request.hops + 1,
            report,
        });
    }

    /// A report for a peer: the loads of the services that both have.
    fn report(&mut self, now: u64, peer: usize, has_loads: bool) -> Report {
        self.sequence = self.sequence.wrapping_add(1);
        let peer = &mut self.peers[peer];
        let entry = |own: &u16| self.services[usize::from(*own)].entry();
        if has_loads {
            peer.truth_at = now.saturating_add(self.rules.truth_interval);
        }
        Report {
            from: self.own,
            incarnation: self.incarnation,
            sequence: self.sequence,
            entries: match has_loads {
                true => peer.services.iter().map(entry).collect(),
                false => Default::default(),
            },
        }
    }
}
