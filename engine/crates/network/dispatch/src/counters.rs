use serde::Serialize;

/// The events and decisions of a dispatcher.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Counters {
    /// Requests from clients.
    pub requests: u64,
    /// Requests that other dispatchers redirected to here.
    pub taken_over: u64,
    /// Requests sent to replicas of this rack.
    pub served: u64,
    /// Requests redirected to other dispatchers.
    pub redirected: u64,
    /// Requests that waited for a replica to have room.
    pub held: u64,
    /// Requests that were repeated while they were outstanding; they are sent to the same destination and counted once.
    pub repeated: u64,
    /// Requests whose redirection would have exceeded the maximum number.
    pub loops_stopped: u64,
    /// Requests sent to a replica without being counted, because the table of requests was full.
    pub untracked: u64,
    /// Responses that ended a request.
    pub answered: u64,
    /// Responses to requests that are not outstanding: late, duplicate, or never requested.
    pub strays: u64,
    /// Requests that were forgotten because no response arrived.
    pub expired: u64,
    /// Number of times that a doubled load was sent: requests that caused gossip.
    pub doubled: u64,
    /// Number of times that a halved load was sent.
    pub halved: u64,
    /// Messages to peers because a load crossed a power of two, one for each peer.
    pub gossip: u64,
    /// Messages to peers that had received nothing for a while, one for each peer.
    pub truths: u64,
    /// Messages of peers that were believed.
    pub heard: u64,
    /// Messages of peers that were older than the known state.
    pub stale: u64,
    /// Messages of dispatchers that are no peers.
    pub strangers: u64,
    /// Probes sent to replicas.
    pub probes: u64,
    /// Replicas that fell silent with outstanding requests.
    pub failures: u64,
    /// Requests dropped for a service that is unknown here.
    pub unknown_service: u64,
    /// Requests dropped because no replica was alive.
    pub no_replica: u64,
    /// Requests dropped because they already waited.
    pub duplicates: u64,
    /// Requests dropped because too many waited.
    pub queue_full: u64,
    /// Requests that waited until it was too late.
    pub discarded: u64,
}

macro_rules! all {
    ($($name:ident),* $(,)?) => {
        impl Counters {
            /// Every count with its name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            /// Sets every count by its name.
            pub fn fill(&mut self, count: impl Fn(&'static str) -> u64) {
                $(self.$name = count(stringify!($name));)*
            }

            /// The sum of two dispatchers' counters.
            pub fn plus(self, other: Counters) -> Counters {
                Counters { $($name: self.$name + other.$name),* }
            }
        }
    };
}

all!(
    doubled,
    halved,
    requests,
    taken_over,
    served,
    redirected,
    held,
    repeated,
    loops_stopped,
    untracked,
    answered,
    strays,
    expired,
    gossip,
    truths,
    heard,
    stale,
    strangers,
    probes,
    failures,
    unknown_service,
    no_replica,
    duplicates,
    queue_full,
    discarded,
);
