use crate::counters::DatagramCounts;
use crate::shared::{Member, Shared};
use rackwright_dispatch::{Counters, KnownReplica, ServiceId};
use rackwright_xdp::Mode;
use serde::Serialize;
use std::sync::atomic::Ordering;

/// The state and counters of a balancer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    /// The number of its rack.
    pub rack: u16,
    /// Its running time.
    pub seconds: f64,
    /// Whether it takes no more requests.
    pub draining: bool,
    /// Its threads.
    pub threads: usize,
    /// Its services.
    pub services: Vec<ServiceStatus>,
    /// Other dispatchers.
    pub peers: Vec<PeerStatus>,
    /// Its decisions.
    pub decisions: Counters,
    /// Counters of datagrams.
    pub datagrams: DatagramCounts,
    /// AF_XDP, if it was requested.
    pub xdp: Option<XdpStatus>,
}

/// AF_XDP beside the sockets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct XdpStatus {
    /// The interface.
    pub interface: String,
    /// The mode in which frames are taken; absent if there are only sockets.
    pub mode: Option<Mode>,
    /// Queues of the interface that threads have the frames of.
    pub queues: usize,
    /// The network card itself writes to memory of this process; otherwise the kernel copies.
    pub zero_copy: bool,
    /// Frames that no thread took soon enough.
    pub lost: u64,
    /// Why there are sockets alone.
    pub refused: Option<String>,
}

/// A service.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ServiceStatus {
    /// Its number.
    pub id: u16,
    /// Its name.
    pub name: String,
    /// The address for its clients.
    pub listen: String,
    /// Outstanding requests for each core; absent if no replica is alive.
    pub load: Option<f64>,
    /// The moving average of the load.
    pub average: f64,
    /// Requests that wait here.
    pub held: usize,
    /// Its replicas.
    pub replicas: Vec<ReplicaStatus>,
}

/// A replica.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplicaStatus {
    /// Where it listens.
    pub address: String,
    /// `up`, `failed` or `removed`.
    pub health: &'static str,
    /// Its cores.
    pub cores: u16,
    /// Requests under way.
    pub outstanding: u32,
    /// Requests answered.
    pub answered: u64,
    /// Average response time, in microseconds.
    pub mean_us: f64,
}

/// Another dispatcher.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PeerStatus {
    /// The number of its rack.
    pub rack: u16,
    /// Where it is.
    pub address: String,
    /// Whether it was heard lately.
    pub alive: bool,
    /// The assumed loads of its services: name, and outstanding requests for each core if any replica is alive.
    pub loads: Vec<(String, Option<f64>)>,
}

impl Status {
    pub(crate) fn of(shared: &Shared) -> Status {
        let core = shared.core();
        let dispatcher = core.dispatcher();
        let settings = &shared.settings;
        let name = |id: ServiceId| {
            let service = settings.services.iter().find(|service| service.id == id);
            service.map(|service| service.name.clone()).unwrap_or_default()
        };
        let now = shared.now();
        let alive = dispatcher.peers_alive(now);
        let mut peers: Vec<_> = settings.peers.iter().collect();
        peers.sort_by_key(|peer| peer.rack);
        let peers = peers.into_iter().map(|peer| PeerStatus {
            rack: peer.rack.0,
            address: peer.address.to_string(),
            alive: alive.contains(&peer.rack),
            loads: (dispatcher.believed(peer.rack).into_iter())
                .map(|(id, load)| (name(id), load))
                .collect(),
        });
        let services = settings.services.iter().map(|service| ServiceStatus {
            id: service.id.0,
            name: service.name.clone(),
            listen: service.listen.to_string(),
            load: dispatcher.load(service.id),
            average: dispatcher.average(service.id).unwrap_or(0.0),
            held: dispatcher.held(service.id),
            replicas: (dispatcher.replicas(service.id).iter())
                .filter(|replica| replica.health != "removed" || replica.outstanding > 0)
                .filter_map(|replica| replica_status(shared, replica))
                .collect(),
        });
        Status {
            rack: settings.rack.0,
            seconds: now as f64 / 1e9,
            draining: shared.draining.load(Ordering::Relaxed),
            threads: settings.lanes.threads,
            services: services.collect(),
            peers: peers.collect(),
            decisions: dispatcher.counters(),
            datagrams: shared.counters.read(),
            xdp: shared.frames.status(settings),
        }
    }
}

fn replica_status(shared: &Shared, known: &KnownReplica) -> Option<ReplicaStatus> {
    let Member { settings, work, .. } = shared.member(known.id)?;
    let answered = work.answered.load(Ordering::Relaxed);
    let microseconds = work.nanoseconds.load(Ordering::Relaxed) as f64 / 1e3;
    Some(ReplicaStatus {
        address: settings.address.to_string(),
        health: known.health,
        cores: known.cores,
        outstanding: known.outstanding,
        answered,
        mean_us: microseconds / answered.max(1) as f64,
    })
}
