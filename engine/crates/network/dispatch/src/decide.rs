use crate::dispatcher::{Dispatcher, Request};
use crate::load::{Load, LoadDelta};
use crate::peer::Peer;
use crate::service::Service;
use crate::Policy;

/// The destination of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// To the replica with that index.
    Here(u16),
    /// To the peer with that index.
    Elsewhere(usize),
    /// Nowhere yet.
    Wait,
    /// Nobody is alive.
    Nobody,
}

impl Dispatcher {
    /// Chooses for a request that is not outstanding; it is not counted yet.
    #[inline]
    pub(crate) fn decide(&mut self, now: u64, own: usize, request: &Request) -> Choice {
        let may_leave = request.hops < self.rules.max_redirects;
        let service = &self.services[own];
        if let (true, Some(key)) = (service.sticky, request.sticky) {
            return self.decide_by_key(now, own, key, may_leave);
        }
        match self.rules.policy {
            Policy::Daronpon { .. } | Policy::ShortestQueue => self.decide_by_load(now, own, may_leave),
            Policy::RackLocal => self.decide_here(now, own, may_leave),
            Policy::Random | Policy::RoundRobin | Policy::PowerOfTwo if may_leave => {
                self.decide_any(now, own)
            }
            Policy::Random | Policy::RoundRobin | Policy::PowerOfTwo => self.decide_here(now, own, false),
            Policy::BoundedQueue { bound } => match service.least_loaded(&self.replicas) {
                Some(replica) if self.has_room(replica, bound) => Choice::Here(replica),
                Some(_) => Choice::Wait,
                None => self.decide_here(now, own, may_leave),
            },
            Policy::RackSched => match service.members.len() {
                0..=2 => self.decide_here(now, own, may_leave),
                several => {
                    let one = self.random.below(several);
                    let other = (one + 1 + self.random.below(several - 1)) % several;
                    let members = &self.services[own].members;
                    let (one, other) = (members[one], members[other]);
                    let cost = |replica: u16| self.replicas[usize::from(replica)].cost();
                    Choice::Here(if cost(other) < cost(one) { other } else { one })
                }
            },
        }
    }

    #[inline]
    pub(crate) fn has_room(&self, replica: u16, bound: u16) -> bool {
        let replica = &self.replicas[usize::from(replica)];
        replica.outstanding < u32::from(bound) * u32::from(replica.cores)
    }

    /// Admitted if this rack is the least loaded one, as far as others are known (section 2.3.2), or has an idle core:
    /// then a redirection has no advantage.
    #[inline]
    fn decide_by_load(&mut self, now: u64, own: usize, may_leave: bool) -> Choice {
        let service = &self.services[own];
        if let Some(replica) = service.least_loaded(&self.replicas) {
            if self.replicas[usize::from(replica)].cost() <= Load::ONE {
                return Choice::Here(replica);
            }
        }
        let best = least_loaded(now, self.own.0, &self.peers, service);
        let local = service.load();
        let delta = match self.rules.load_delta {
            LoadDelta::Fixed(_) => self.rules.fixed_delta,
            LoadDelta::Adaptive => Load((service.error >> 8) as u32),
        };
        match (best, service.least_loaded(&self.replicas)) {
            (Some((peer, load)), None) if may_leave && load < Load::UNAVAILABLE => Choice::Elsewhere(peer),
            (_, None) => Choice::Nobody,
            (Some((peer, load)), Some(_)) if may_leave && local > load.plus(delta) => Choice::Elsewhere(peer),
            (Some((_, load)), Some(replica)) => {
                self.counters.requests.loops_stopped += u64::from(!may_leave && local > load.plus(delta));
                Choice::Here(replica)
            }
            (None, Some(replica)) => Choice::Here(replica),
        }
    }

    /// In this rack, for any load; elsewhere only if no replica is alive here.
    fn decide_here(&self, now: u64, own: usize, may_leave: bool) -> Choice {
        let service = &self.services[own];
        match service.least_loaded(&self.replicas) {
            Some(replica) => Choice::Here(replica),
            None if may_leave => {
                let peer = least_loaded(now, self.own.0, &self.peers, service);
                peer.map_or(Choice::Nobody, |(peer, _)| Choice::Elsewhere(peer))
            }
            None => Choice::Nobody,
        }
    }

    /// Weighted by cores: first those of this rack, then those of each live peer.
    fn decide_any(&mut self, now: u64, own: usize) -> Choice {
        let service = &self.services[own];
        let alive = |(peer, _): &(&Peer, _)| peer.is_alive(now);
        let elsewhere = self.peers.iter().zip(&service.views).filter(alive);
        let total = service.cores + elsewhere.map(|(_, view)| u32::from(view.cores)).sum::<u32>();
        if total == 0 {
            return Choice::Nobody;
        }
        match self.rules.policy {
            Policy::RoundRobin => {
                let turn = self.services[own].turn % total;
                self.services[own].turn = turn + 1;
                self.at_core(now, own, turn)
            }
            Policy::PowerOfTwo => {
                let places = [(); 2].map(|()| self.random.below(total as usize) as u32);
                let [one, other] = places.map(|place| self.at_core(now, own, place));
                match self.cost_of(own, other) < self.cost_of(own, one) {
                    true => other,
                    false => one,
                }
            }
            _ => {
                let place = self.random.below(total as usize) as u32;
                self.at_core(now, own, place)
            }
        }
    }

    fn at_core(&self, now: u64, own: usize, mut place: u32) -> Choice {
        let service = &self.services[own];
        for member in &service.members {
            let cores = u32::from(self.replicas[usize::from(*member)].cores);
            if place < cores {
                return Choice::Here(*member);
            }
            place -= cores;
        }
        for (index, (peer, view)) in self.peers.iter().zip(&service.views).enumerate() {
            if peer.is_alive(now) {
                if place < u32::from(view.cores) {
                    return Choice::Elsewhere(index);
                }
                place -= u32::from(view.cores);
            }
        }
        Choice::Nobody
    }

    fn cost_of(&self, own: usize, choice: Choice) -> Load {
        match choice {
            Choice::Here(replica) => self.replicas[usize::from(replica)].cost(),
            Choice::Elsewhere(peer) => {
                let view = &self.services[own].views[peer];
                view.load.plus(view.step)
            }
            Choice::Wait | Choice::Nobody => Load::UNAVAILABLE,
        }
    }

    /// The rack, and in it the replica, that a key belongs to, by highest random weight: when one dies, only its
    /// own keys move.
    fn decide_by_key(&self, now: u64, own: usize, key: u64, may_leave: bool) -> Choice {
        let service = &self.services[own];
        let here = service
            .members
            .iter()
            .max_by_key(|member| weight(key, self.replicas[usize::from(**member)].id.0));
        let elsewhere = (self.peers.iter().zip(&service.views).enumerate())
            .filter(|(_, (peer, view))| may_leave && peer.is_alive(now) && view.cores > 0)
            .map(|(index, (peer, _))| (weight(!key, peer.id.0), index))
            .max();
        match (here, elsewhere) {
            (Some(replica), Some((theirs, _))) if weight(!key, self.own.0) >= theirs => {
                Choice::Here(*replica)
            }
            (_, Some((_, peer))) => Choice::Elsewhere(peer),
            (Some(replica), None) => Choice::Here(*replica),
            (None, None) => Choice::Nobody,
        }
    }
}

/// The peer with the lowest load and that load. Of several the first after the own number, so that not all
/// dispatchers take the same one.
#[inline]
fn least_loaded(now: u64, own: u16, peers: &[Peer], service: &Service) -> Option<(usize, Load)> {
    let first = peers.partition_point(|peer| peer.id.0 < own);
    let mut best: Option<(usize, Load)> = None;
    for index in (first..peers.len()).chain(0..first) {
        let view = service.views[index];
        let is_better = best.is_none_or(|(_, load)| view.load < load);
        if view.cores > 0 && is_better && peers[index].is_alive(now) {
            best = Some((index, view.load));
        }
    }
    best
}

/// A pseudo-random number, the finaliser of SplitMix64.
fn weight(key: u64, candidate: u16) -> u64 {
    let mut mixed = key ^ u64::from(candidate).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
