use crate::load::{reciprocal, Load};
use crate::outstanding::EPOCHS;
use crate::{ReplicaId, ReplicaSpec};

/// Whether a replica gets requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Health {
    Up,
    /// Silent with outstanding requests.
    Failed,
    /// It was removed; responses to outstanding requests are still accepted.
    Removed,
}

/// A replica in this rack.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub(crate) id: ReplicaId,
    /// The index of its service.
    pub(crate) service: usize,
    pub(crate) cores: u16,
    pub(crate) health: Health,
    /// Outstanding requests, in total and by the epoch in which they were sent to it.
    pub(crate) outstanding: u32,
    by_epoch: [u32; EPOCHS as usize],
    /// The epoch of its latest response.
    heard: u32,
    reciprocal: u32,
}

impl Replica {
    pub(crate) fn new(spec: ReplicaSpec, service: usize, epoch: u32) -> Replica {
        Replica {
            id: spec.id,
            service,
            cores: spec.cores,
            health: Health::Up,
            outstanding: 0,
            by_epoch: [0; EPOCHS as usize],
            heard: epoch,
            reciprocal: reciprocal(u32::from(spec.cores)),
        }
    }

    /// Its load with one further request: the load that this request would find.
    #[inline]
    pub(crate) fn cost(&self) -> Load {
        Load::scaled(self.outstanding + 1, self.reciprocal)
    }

    #[inline]
    pub(crate) fn begin(&mut self, epoch: u32) {
        self.outstanding += 1;
        self.by_epoch[(epoch % EPOCHS) as usize] += 1;
    }

    /// Ends a request that began in the epoch `begun`.
    #[inline]
    pub(crate) fn end(&mut self, begun: u32, now: u32) {
        self.outstanding -= 1;
        self.by_epoch[(begun % EPOCHS) as usize] -= 1;
        self.heard = now;
    }

    /// The epoch of its latest response.
    pub(crate) fn last_heard(&self) -> u32 {
        self.heard
    }

    /// It has shown that it is alive.
    pub(crate) fn heard(&mut self, now: u32) {
        self.heard = now;
    }

    /// Forgets the remaining requests of the epoch that `epoch` replaces; returns their number.
    pub(crate) fn forget(&mut self, epoch: u32) -> u32 {
        let left = std::mem::take(&mut self.by_epoch[(epoch % EPOCHS) as usize]);
        self.outstanding -= left;
        left
    }

    /// Whether it has sent nothing for a whole epoch although it had requests all the time.
    pub(crate) fn is_silent(&self, epoch: u32) -> bool {
        let waiting = self.by_epoch[(epoch.wrapping_sub(2) % EPOCHS) as usize]
            + self.by_epoch[(epoch.wrapping_sub(3) % EPOCHS) as usize];
        waiting > 0 && epoch.wrapping_sub(self.heard) >= 2
    }
}
