use crate::dispatcher::Dispatcher;
use crate::replica::Health;
use serde::Serialize;

/// What a dispatcher knows, for people.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    /// Services, in the order of the configuration.
    pub services: Vec<ServiceStatus>,
    /// Peers, in the order of their numbers.
    pub peers: Vec<PeerStatus>,
}

/// A service.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ServiceStatus {
    /// Its number.
    pub id: u16,
    /// Requests under way for each core; absent when no replica is alive.
    pub load: Option<f64>,
    /// The moving average that is the threshold of gossip.
    pub average: f64,
    /// Requests that wait here.
    pub held: usize,
    /// Its replicas in this rack.
    pub replicas: Vec<ReplicaStatus>,
}

/// A replica in this rack.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplicaStatus {
    /// Its number.
    pub id: u16,
    /// `up`, `failed` or `removed`.
    pub health: &'static str,
    /// Its cores.
    pub cores: u16,
    /// Requests under way.
    pub outstanding: u32,
}

/// A peer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PeerStatus {
    /// Its number.
    pub id: u16,
    /// Whether it was heard lately.
    pub alive: bool,
    /// For each service that both have: its number and what is believed of its load there, if replicas are alive.
    pub loads: Vec<(u16, Option<f64>)>,
}

impl Dispatcher {
    /// What it knows.
    pub fn status(&self) -> Status {
        Status {
            services: (0..self.services.len())
                .map(|own| self.service_status(own))
                .collect(),
            peers: (0..self.peers.len())
                .map(|index| self.peer_status(index))
                .collect(),
        }
    }

    fn service_status(&self, own: usize) -> ServiceStatus {
        let service = &self.services[own];
        let replicas = self.replicas.iter().filter(|replica| replica.service == own);
        ServiceStatus {
            id: service.id.0,
            load: (service.cores > 0).then(|| service.load().requests()),
            average: service.monitor.average().requests(),
            held: service.held.len(),
            replicas: replicas
                .map(|replica| ReplicaStatus {
                    id: replica.id.0,
                    health: match replica.health {
                        Health::Up => "up",
                        Health::Failed => "failed",
                        Health::Removed => "removed",
                    },
                    cores: replica.cores,
                    outstanding: replica.outstanding,
                })
                .collect(),
        }
    }

    fn peer_status(&self, index: usize) -> PeerStatus {
        let peer = &self.peers[index];
        let believed = |own: &u16| {
            let service = &self.services[usize::from(*own)];
            let view = service.views[index];
            (service.id.0, (view.cores > 0).then(|| view.load.requests()))
        };
        PeerStatus {
            id: peer.id.0,
            alive: peer.is_alive(self.now),
            loads: peer.services.iter().map(believed).collect(),
        }
    }
}
