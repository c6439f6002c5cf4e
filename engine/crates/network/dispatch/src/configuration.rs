use crate::{LoadDelta, PeerId, Policy, ReplicaId, ServiceId, MAX_SERVICES};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The configuration of a dispatcher. [`crate::Dispatcher::new`] checks it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Its own number.
    pub own: PeerId,
    /// Which life this is: higher each time it starts, so that peers don't take it for its former self.
    #[serde(default)]
    pub incarnation: u32,
    /// The seed of all randomness.
    #[serde(default)]
    pub seed: u64,
    /// How it chooses.
    #[serde(default = "Configuration::default_policy")]
    pub policy: Policy,
    /// Services that it dispatches, with their replicas in this rack; a service may have none here.
    pub services: Vec<ServiceSpec>,
    /// Other dispatchers, with the services that they have in common with this one.
    #[serde(default)]
    pub peers: Vec<PeerSpec>,
    /// Requests for each core below which changes of load are not sent to others.
    #[serde(default = "Configuration::default_gossip_floor")]
    pub gossip_floor: u32,
    /// The moving average that is the threshold of gossip takes in a new load by one part in two to this power.
    #[serde(default = "Configuration::default_average_shift")]
    pub average_shift: u32,
    /// Minimum difference of loads for a redirection.
    #[serde(default = "Configuration::default_load_delta")]
    pub load_delta: LoadDelta,
    /// Maximum number of redirections of a request.
    #[serde(default = "Configuration::default_max_redirects")]
    pub max_redirects: u8,
    /// How long it waits for others.
    #[serde(default)]
    pub times: Times,
    /// Maximum number of outstanding requests in the rack: a power of two.
    #[serde(default = "Configuration::default_tracked")]
    pub tracked: usize,
    /// Maximum number of waiting requests of each service, if the policy lets them wait.
    #[serde(default = "Configuration::default_held")]
    pub held: usize,
}

/// How long a dispatcher waits for replicas and peers, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Times {
    /// Time without a response after which a request is forgotten (at the earliest after three quarters).
    pub expiry_ns: u64,
    /// A peer to which this dispatcher has sent nothing for this time is sent its loads.
    pub truth_interval_ns: u64,
    /// A peer that has been silent for this time is assumed to be dead until its next message.
    pub peer_timeout_ns: u64,
    /// Interval of probes of a silent replica.
    pub probe_interval_ns: u64,
}

impl Default for Times {
    /// For services that answer in microseconds.
    fn default() -> Times {
        Times {
            expiry_ns: 8_000_000,
            truth_interval_ns: 2_000_000,
            peer_timeout_ns: 7_000_000,
            probe_interval_ns: 1_000_000,
        }
    }
}

impl Times {
    fn check(&self) -> Result<(), ConfigurationError> {
        let times = [
            ("expiry_ns", self.expiry_ns),
            ("truth_interval_ns", self.truth_interval_ns),
            ("peer_timeout_ns", self.peer_timeout_ns),
            ("probe_interval_ns", self.probe_interval_ns),
        ];
        if let Some((name, time)) = times.into_iter().find(|(_, time)| *time < 4) {
            return Err(ConfigurationError::Time(name, time));
        }
        if self.peer_timeout_ns <= self.truth_interval_ns {
            return Err(ConfigurationError::PeerTimeout);
        }
        Ok(())
    }
}

/// A service.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// Its number.
    pub id: ServiceId,
    /// Its replicas in this rack.
    #[serde(default)]
    pub replicas: Vec<ReplicaSpec>,
    /// Whether requests with the same key are sent to the same replica, for any load.
    #[serde(default)]
    pub sticky: bool,
}

/// A replica.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicaSpec {
    /// Its number.
    pub id: ReplicaId,
    /// Number of requests that it processes concurrently.
    #[serde(default = "one")]
    pub cores: u16,
}

/// Another dispatcher.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSpec {
    /// Its number.
    pub id: PeerId,
    /// The services that both have.
    pub services: Vec<ServiceId>,
}

fn one() -> u16 {
    1
}

impl Configuration {
    /// A dispatcher with the usual values: Daronpon with gossip from four requests on, and [`Times::default`].
    pub fn new(own: PeerId, services: Vec<ServiceSpec>, peers: Vec<PeerSpec>) -> Configuration {
        Configuration {
            own,
            incarnation: 0,
            seed: 0,
            policy: Self::default_policy(),
            services,
            peers,
            gossip_floor: Self::default_gossip_floor(),
            average_shift: Self::default_average_shift(),
            load_delta: Self::default_load_delta(),
            max_redirects: Self::default_max_redirects(),
            times: Times::default(),
            tracked: Self::default_tracked(),
            held: Self::default_held(),
        }
    }

    fn default_policy() -> Policy {
        Policy::DARONPON
    }

    /// The text calls four a good floor (Wang 2025, section 2.3.3).
    fn default_gossip_floor() -> u32 {
        4
    }

    fn default_average_shift() -> u32 {
        8
    }

    fn default_load_delta() -> LoadDelta {
        LoadDelta::Adaptive
    }

    fn default_max_redirects() -> u8 {
        1
    }

    fn default_tracked() -> usize {
        1 << 14
    }

    fn default_held() -> usize {
        1 << 12
    }

    pub(crate) fn check(&self) -> Result<(), ConfigurationError> {
        use ConfigurationError as Wrong;
        let mut services = BTreeSet::new();
        let mut replicas = BTreeSet::new();
        for service in &self.services {
            if !services.insert(service.id) {
                return Err(Wrong::ServiceTwice(service.id.0));
            }
            for replica in &service.replicas {
                replica.check()?;
                if !replicas.insert(replica.id) {
                    return Err(Wrong::ReplicaTwice(replica.id.0));
                }
            }
        }
        if services.is_empty() || services.len() > MAX_SERVICES {
            return Err(Wrong::Services(services.len()));
        }
        let mut peers = BTreeSet::from([self.own]);
        for peer in &self.peers {
            if !peers.insert(peer.id) {
                return Err(Wrong::PeerTwice(peer.id.0));
            }
            if let Some(service) = peer.services.iter().find(|service| !services.contains(service)) {
                return Err(Wrong::PeerService(peer.id.0, service.0));
            }
            if peer.services.iter().collect::<BTreeSet<_>>().len() != peer.services.len() {
                return Err(Wrong::PeerServiceTwice(peer.id.0));
            }
        }
        self.check_numbers()
    }

    fn check_numbers(&self) -> Result<(), ConfigurationError> {
        use ConfigurationError as Wrong;
        self.times.check()?;
        if !self.tracked.is_power_of_two() || !(4..=1 << 24).contains(&self.tracked) {
            return Err(Wrong::Tracked(self.tracked));
        }
        if self.gossip_floor > 1 << 16 {
            return Err(Wrong::GossipFloor(self.gossip_floor));
        }
        if self.average_shift > 20 {
            return Err(Wrong::AverageShift(self.average_shift));
        }
        match (self.load_delta, self.policy) {
            (LoadDelta::Fixed(delta), _) if !(0.0..=65_536.0).contains(&delta) => {
                Err(Wrong::LoadDelta(delta))
            }
            (_, Policy::BoundedQueue { bound: 0 }) => Err(Wrong::Bound),
            _ => Ok(()),
        }
    }
}

impl ReplicaSpec {
    pub(crate) fn check(&self) -> Result<(), ConfigurationError> {
        match self.cores {
            1..=1024 => Ok(()),
            cores => Err(ConfigurationError::Cores(self.id.0, cores)),
        }
    }
}

/// An error in the configuration of a dispatcher.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// Too few or too many.
    #[error("a dispatcher has 1 to {MAX_SERVICES} services, not {0}")]
    Services(usize),
    /// Two services have the same number.
    #[error("two services have the number {0}")]
    ServiceTwice(u16),
    /// Two replicas have the same number.
    #[error("two replicas have the number {0}")]
    ReplicaTwice(u16),
    /// Two peers, or a peer and the dispatcher itself, have the same number.
    #[error("two dispatchers have the number {0}")]
    PeerTwice(u16),
    /// A peer's service that is not described.
    #[error("peer {0} has the service {1}, which is not in the list of services")]
    PeerService(u16, u16),
    /// A peer's service named twice.
    #[error("peer {0} has a service twice")]
    PeerServiceTwice(u16),
    /// A replica that cannot work, or too fast to count.
    #[error("replica {0} has 1 to 1024 cores, not {1}")]
    Cores(u16, u16),
    /// Hardly a time.
    #[error("{0} is at least 4, not {1}")]
    Time(&'static str, u64),
    /// Peers that would be taken for dead all the time.
    #[error("peer_timeout_ns must be longer than truth_interval_ns")]
    PeerTimeout,
    /// Not a size for a table.
    #[error("tracked is a power of two from 4 to 16777216, not {0}")]
    Tracked(usize),
    /// No load would ever be sent.
    #[error("gossip_floor is at most 65536, not {0}")]
    GossipFloor(u32),
    /// An average that never moves.
    #[error("average_shift is at most 20, not {0}")]
    AverageShift(u32),
    /// Not a load.
    #[error("a fixed load_delta is 0 to 65536 requests, not {0}")]
    LoadDelta(f64),
    /// No replica would ever get a request.
    #[error("the bound of a bounded queue is at least 1")]
    Bound,
    /// A service to which a replica cannot be added.
    #[error("there is no service {0}")]
    NoService(u16),
    /// Nothing to remove.
    #[error("there is no replica {0}")]
    NoReplica(u16),
    /// More replicas, over time, than numbers for them.
    #[error("more than 65000 replicas have come and gone; start again")]
    TooManyReplicas,
}
