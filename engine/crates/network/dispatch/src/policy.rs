use serde::{Deserialize, Serialize};

/// The method by which a dispatcher chooses. All policies exclude replicas and peers that are known to be dead.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The least loaded rack, as far as it is known, and in it the least loaded replica (Wang 2025, section 2.3). The
    /// two ways in which racks inform each other can be switched off.
    Daronpon {
        /// Whether a rack informs the others when its load crosses a power of two.
        gossip: bool,
        /// Whether redirected requests carry the loads of the rack that redirects them.
        piggyback: bool,
    },
    /// The same, with a message to all peers at every change of load: the best possible information, at a message for
    /// each request, each response and each peer.
    ShortestQueue,
    /// The least loaded replica of the rack at which the request arrived.
    RackLocal,
    /// Any replica of any rack, in proportion to cores.
    Random,
    /// One after another, in proportion to cores.
    RoundRobin,
    /// The less loaded of two that are drawn as for `Random`.
    PowerOfTwo,
    /// The least loaded replica of the rack, but each core has at most `bound` requests at a time; further ones wait
    /// here (join-bounded-shortest-queue of R2P2).
    BoundedQueue {
        /// Requests for each core at once.
        bound: u16,
    },
    /// The less loaded of two replicas of the rack (the upper of RackSched's two levels; the lower one is
    /// the server's own).
    RackSched,
}

impl Policy {
    /// Daronpon with all its features.
    pub const DARONPON: Policy = Policy::Daronpon {
        gossip: true,
        piggyback: true,
    };
}
