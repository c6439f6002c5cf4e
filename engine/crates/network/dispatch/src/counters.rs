use serde::Serialize;

/// The events and decisions of a dispatcher. Its groups are not visible in JSON, which has one object.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Counters {
    /// The fate of requests.
    #[serde(flatten)]
    pub requests: RequestCounters,
    /// The ends of requests, and replicas that answer none.
    #[serde(flatten)]
    pub answers: AnswerCounters,
    /// Messages between dispatchers.
    #[serde(flatten)]
    pub gossip: GossipCounters,
    /// Requests that were dropped.
    #[serde(flatten)]
    pub drops: DropCounters,
}

/// The fate of requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct RequestCounters {
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
}

/// The ends of requests, and replicas that answer none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct AnswerCounters {
    /// Responses that ended a request.
    pub answered: u64,
    /// Responses to requests that are not outstanding: late, duplicate, or never requested.
    pub strays: u64,
    /// Requests that were forgotten because no response arrived.
    pub expired: u64,
    /// Probes sent to replicas.
    pub probes: u64,
    /// Replicas that fell silent with outstanding requests.
    pub failures: u64,
}

/// Messages between dispatchers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct GossipCounters {
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
}

/// Requests that were dropped.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct DropCounters {
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
    ($($group:ident.$name:ident),* $(,)?) => {
        impl Counters {
            /// Every count with its name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$group.$name)),*].into_iter()
            }

            /// Sets every count by its name.
            pub fn fill(&mut self, count: impl Fn(&'static str) -> u64) {
                $(self.$group.$name = count(stringify!($name));)*
            }

            /// The sum of two dispatchers' counters.
            pub fn plus(mut self, other: Counters) -> Counters {
                $(self.$group.$name += other.$group.$name;)*
                self
            }
        }
    };
}

all!(
    gossip.doubled,
    gossip.halved,
    requests.requests,
    requests.taken_over,
    requests.served,
    requests.redirected,
    requests.held,
    requests.repeated,
    requests.loops_stopped,
    requests.untracked,
    answers.answered,
    answers.strays,
    answers.expired,
    gossip.gossip,
    gossip.truths,
    gossip.heard,
    gossip.stale,
    gossip.strangers,
    answers.probes,
    answers.failures,
    drops.unknown_service,
    drops.no_replica,
    drops.duplicates,
    drops.queue_full,
    drops.discarded,
);
