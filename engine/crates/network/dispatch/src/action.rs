use crate::{PeerId, ReplicaId, Report, Ticket};

/// An action of a dispatcher. "The current message" is that of the event just passed to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The current request is sent to a replica of this rack.
    Serve {
        /// To whom.
        replica: ReplicaId,
    },
    /// The current request is sent to another dispatcher, with this rack's loads.
    Redirect {
        /// To whom.
        peer: PeerId,
        /// Its number of redirections including this one.
        hops: u8,
        /// This rack's loads; without entries if they are not to be sent.
        report: Report,
    },
    /// The current request waits at the caller.
    Hold {
        /// Its number.
        ticket: Ticket,
    },
    /// A waiting request is sent to a replica.
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
    /// The current response is forwarded to its client.
    Answer,
    /// A message of the dispatcher's own.
    Gossip {
        /// To whom.
        peer: PeerId,
        /// This rack's loads.
        report: Report,
    },
    /// A silent replica is sent a probe.
    Probe {
        /// Whom.
        replica: ReplicaId,
    },
    /// The current message is dropped.
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
