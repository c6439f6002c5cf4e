use crate::held::Held;
use crate::load::{reciprocal, Load};
use crate::monitor::Monitor;
use crate::peer::View;
use crate::replica::{Health, Replica};
use crate::{Entry, ServiceId};

/// A service as one dispatcher sees it.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) id: ServiceId,
    pub(crate) sticky: bool,
    /// The indices of its replicas here that get requests.
    pub(crate) members: Vec<u16>,
    /// Cores of those.
    pub(crate) cores: u32,
    reciprocal: u32,
    /// Their outstanding requests.
    pub(crate) outstanding: u32,
    pub(crate) monitor: Monitor,
    /// The assumed state of each peer.
    pub(crate) views: Vec<View>,
    /// The moving average of its error, with 8 additional fractional bits.
    pub(crate) error: i64,
    /// Whose turn it is.
    pub(crate) turn: u32,
    pub(crate) held: Held,
}

impl Service {
    pub(crate) fn new(id: ServiceId, sticky: bool, monitor: Monitor, peers: usize) -> Service {
        Service {
            id,
            sticky,
            members: Vec::new(),
            cores: 0,
            reciprocal: 0,
            outstanding: 0,
            monitor,
            views: vec![View::UNKNOWN; peers],
            error: 0,
            turn: 0,
            held: Held::default(),
        }
    }

    /// The load of its replicas here.
    #[inline]
    pub(crate) fn load(&self) -> Load {
        match self.cores {
            0 => Load::UNAVAILABLE,
            _ => Load::scaled(self.outstanding, self.reciprocal),
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        Entry {
            service: self.id,
            cores: self.cores.min(u32::from(u16::MAX)) as u16,
            load: self.load(),
        }
    }

    /// Replicas were added, removed, or have changed their health.
    pub(crate) fn count_again(&mut self, own: usize, replicas: &[Replica]) {
        let is_member = |replica: &Replica| replica.service == own && replica.health == Health::Up;
        self.members.clear();
        (self.cores, self.outstanding) = (0, 0);
        for (replica, index) in replicas.iter().zip(0..).filter(|(replica, _)| is_member(replica)) {
            self.members.push(index);
            self.cores += u32::from(replica.cores);
            self.outstanding += replica.outstanding;
        }
        self.reciprocal = self.cores.checked_sub(1).map_or(0, |_| reciprocal(self.cores));
    }

    /// The least loaded replica here, the first of several, according to the load with one further request.
    #[inline]
    pub(crate) fn least_loaded(&self, replicas: &[Replica]) -> Option<u16> {
        let cost = |member: &&u16| replicas[usize::from(**member)].cost();
        self.members.iter().min_by_key(cost).copied()
    }
}
