use crate::{PeerId, ReplicaId, Report, Ticket};

/// What a dispatcher wants to be done. "The message in hand" is the one that it was just told of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The request in hand goes to a replica of this rack.
    Serve {
        /// To whom.
        replica: ReplicaId,
    },
    /// The request in hand goes to another dispatcher, with this rack's loads.
    Redirect {
        /// To whom.
        peer: PeerId,
        /// How often it has been redirected then.
        hops: u8,
        /// This rack's loads; without entries when they are not to be told.
        report: Report,
    },
    /// The request in hand waits with the caller.
    Hold {
        /// Its number.
        ticket: Ticket,
    },
    /// A request that waits goes to a replica.
    Release {
        /// Its number.
        ticket: Ticket,
        /// To whom.
        replica: ReplicaId,
    },
    /// A request that waits has waited too long: it is dropped.
    Discard {
        /// Its number.
        ticket: Ticket,
    },
    /// The response in hand goes on to its client.
    Answer,
    /// A message of the dispatcher's own.
    Gossip {
        /// To whom.
        peer: PeerId,
        /// This rack's loads.
        report: Report,
    },
    /// A silent replica is asked for a sign of life.
    Probe {
        /// Whom.
        replica: ReplicaId,
    },
    /// The message in hand is dropped.
    Drop(DropReason),
}

/// Why a request is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// No service has that number here.
    UnknownService,
    /// No replica of it is alive, here or elsewhere.
    NoReplica,
    /// It already waits here.
    Duplicate,
    /// Too many wait.
    QueueFull,
}
