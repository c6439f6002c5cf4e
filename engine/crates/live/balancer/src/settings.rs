use crate::Framing;
use rackwright_dispatch::{
    Configuration, ConfigurationError, LoadDelta, PeerId, PeerSpec, Policy, ReplicaId, ReplicaSpec,
    ServiceId, ServiceSpec, Times,
};
use rackwright_xdp::{Mode, XdpError};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The settings of a balancer. `rw dispatch` makes it from a file in YAML.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of its rack, by which other dispatchers identify it.
    pub rack: PeerId,
    /// Higher each time it starts, so that others know it from its former self.
    pub incarnation: u32,
    /// Of its random choices.
    pub seed: u64,
    /// How it chooses.
    pub policy: Policy,
    /// How it receives and sends.
    pub lanes: LaneSettings,
    /// The key that authenticates messages among dispatchers; required if there are others.
    pub key: Option<[u8; 16]>,
    /// The address for messages of other dispatchers.
    pub peer_listen: Option<SocketAddr>,
    /// The other dispatchers.
    pub peers: Vec<PeerSettings>,
    /// The services.
    pub services: Vec<ServiceSettings>,
    /// Requests for each core below which no load is sent to others.
    pub gossip_floor: u32,
    /// Minimum difference of loads for a redirection to another rack.
    pub load_delta: LoadDelta,
    /// Maximum number of redirections of a request.
    pub max_redirects: u8,
    /// How long it waits.
    pub times: TimeSettings,
    /// How much it keeps.
    pub limits: Limits,
    /// A file in which every event and decision is recorded, for [`crate::replay`].
    pub record: Option<PathBuf>,
}

/// How much a balancer keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Maximum number of outstanding requests that are counted: a power of two.
    pub tracked: usize,
    /// Maximum number of waiting requests of a service, with a policy that lets them wait.
    pub held: usize,
}

/// The threads that receive and send, and by what.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneSettings {
    /// Their number.
    pub threads: usize,
    /// Threads do not sleep while nothing arrives: the shortest latency, for a processor each.
    pub busy_poll: bool,
    /// AF_XDP in addition to the sockets, if it is requested.
    pub xdp: Option<XdpSettings>,
}

/// How long a balancer waits for replicas, clients and other dispatchers, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSettings {
    /// Time after which a request without a response does not count any more.
    pub expiry_us: u64,
    /// Time for which a response still finds its client.
    pub answer_timeout_us: u64,
    /// Time without a message after which another dispatcher is sent the loads.
    pub truth_interval_us: u64,
    /// Time without a message from another dispatcher after which it is assumed to be dead.
    pub peer_timeout_us: u64,
    /// Interval of probes of a silent replica.
    pub probe_interval_us: u64,
}

impl TimeSettings {
    /// Those of the dispatcher.
    fn of_dispatcher(&self) -> Times {
        let nanoseconds = |us: u64| us.saturating_mul(1000);
        Times {
            expiry_ns: nanoseconds(self.expiry_us),
            truth_interval_ns: nanoseconds(self.truth_interval_us),
            peer_timeout_ns: nanoseconds(self.peer_timeout_us),
            probe_interval_ns: nanoseconds(self.probe_interval_us),
        }
    }
}

/// An interface whose frames are taken before the kernel's network stack.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XdpSettings {
    /// The name of the interface.
    pub interface: String,
    /// The mode in which frames are taken; the best available one if none is given.
    pub mode: Option<Mode>,
    /// Without AF_XDP there is no balancer, instead of one with sockets only.
    pub required: bool,
}

/// A service.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSettings {
    /// Its number, the same for all dispatchers.
    pub id: ServiceId,
    /// For people.
    pub name: String,
    /// The address for its clients.
    pub listen: SocketAddr,
    /// The method by which its requests are identified.
    pub framing: Framing,
    /// A request to which every replica responds, used as a probe.
    pub probe: Option<Vec<u8>>,
    /// The common property of requests that go to the same replica, if there is one.
    pub sticky: Option<StickyBy>,
    /// Its replicas in this rack.
    pub replicas: Vec<ReplicaSettings>,
}

/// The property that keeps requests together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StickyBy {
    /// Their client's address.
    Client,
    /// The second word of the request: memcached's key.
    Key,
}

/// A replica.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicaSettings {
    /// Where it listens.
    pub address: SocketAddr,
    /// Number of requests that it processes concurrently.
    pub cores: u16,
}

/// Another dispatcher.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSettings {
    /// The number of its rack.
    pub rack: PeerId,
    /// Its `peer_listen`.
    pub address: SocketAddr,
    /// The services that both have.
    pub services: Vec<ServiceId>,
}

impl Settings {
    /// The configuration of the dispatcher. Replicas have the numbers of their turn.
    pub(crate) fn configuration(&self) -> Configuration {
        let mut numbers = 0_u16..;
        let mut specs = |service: &ServiceSettings| ServiceSpec {
            id: service.id,
            sticky: service.sticky.is_some(),
            replicas: (service.replicas.iter().zip(&mut numbers))
                .map(|(replica, number)| ReplicaSpec {
                    id: ReplicaId(number),
                    cores: replica.cores,
                })
                .collect(),
        };
        let services = self.services.iter().map(&mut specs).collect();
        let peers = self.peers.iter().map(|peer| PeerSpec {
            id: peer.rack,
            services: peer.services.clone(),
        });
        Configuration {
            incarnation: self.incarnation,
            seed: self.seed,
            policy: self.policy,
            gossip_floor: self.gossip_floor,
            load_delta: self.load_delta,
            max_redirects: self.max_redirects,
            times: self.times.of_dispatcher(),
            tracked: self.limits.tracked,
            held: self.limits.held,
            ..Configuration::new(self.rack, services, peers.collect())
        }
    }

    /// Checks settings that the dispatcher does not check.
    pub(crate) fn check(&self) -> Result<(), BalancerError> {
        if !(1..=64).contains(&self.lanes.threads) {
            return Err(BalancerError::Threads(self.lanes.threads));
        }
        if !self.peers.is_empty() && (self.key.is_none() || self.peer_listen.is_none()) {
            return Err(BalancerError::NoKey);
        }
        match self
            .services
            .iter()
            .find(|service| !service.framing.is_possible())
        {
            Some(service) => Err(BalancerError::Framing(service.name.clone())),
            None => Ok(()),
        }
    }
}

/// Why there is no balancer, or none like that.
#[derive(Debug, thiserror::Error)]
pub enum BalancerError {
    /// The dispatcher refuses.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// Not a number of threads.
    #[error("a balancer has 1 to 64 threads, not {0}")]
    Threads(usize),
    /// Messages of strangers could not be distinguished from those of peers.
    #[error("peers need a key and an address at which they are heard")]
    NoKey,
    /// Not a place for a number.
    #[error("service {0}: a number in requests has 2, 4 or 8 bytes, near their beginning")]
    Framing(String),
    /// A socket that cannot be created.
    #[error("{address}: {error}")]
    Socket {
        /// Whose.
        address: SocketAddr,
        /// The error of the kernel.
        error: std::io::Error,
    },
    /// AF_XDP that is required and cannot be had.
    #[error("xdp: {0}")]
    Xdp(#[from] XdpError),
    /// A file that cannot be written.
    #[error("{path}: {error}")]
    Record {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// More than replicas was changed.
    #[error("only replicas of services can change while it runs; {0} changed: stop it and start it again")]
    Restart(&'static str),
    /// The kernel refuses another operation.
    #[error(transparent)]
    Kernel(#[from] std::io::Error),
    /// A thread ended before it was told to stop.
    #[error("a thread has ended: {0}")]
    Thread(String),
}
