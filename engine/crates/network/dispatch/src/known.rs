use crate::dispatcher::Dispatcher;
use crate::replica::Health;
use crate::{PeerId, ReplicaId, ServiceId};

/// A dispatcher's state of a replica in its rack.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownReplica {
    /// Its number.
    pub id: ReplicaId,
    /// `up`, `failed` or `removed`.
    pub health: &'static str,
    /// Its cores.
    pub cores: u16,
    /// Requests under way.
    pub outstanding: u32,
}

/// Its state, for display. The results for unknown services and peers are empty.
impl Dispatcher {
    /// Outstanding requests of a service in this rack, for each core; none if no replica is alive.
    pub fn load(&self, service: ServiceId) -> Option<f64> {
        let service = &self.services[self.find(service)?];
        (service.cores > 0).then(|| service.load().requests())
    }

    /// The moving average of the load of a service that is the threshold of gossip.
    pub fn average(&self, service: ServiceId) -> Option<f64> {
        let service = &self.services[self.find(service)?];
        Some(service.monitor.average().requests())
    }

    /// Requests of a service that wait here.
    pub fn held(&self, service: ServiceId) -> usize {
        self.find(service).map_or(0, |own| self.services[own].held.len())
    }

    /// The replicas of a service in this rack.
    pub fn replicas(&self, service: ServiceId) -> Vec<KnownReplica> {
        let own = self.find(service);
        let replicas = self
            .replicas
            .iter()
            .filter(|replica| Some(replica.service) == own);
        replicas
            .map(|replica| KnownReplica {
                id: replica.id,
                health: match replica.health {
                    Health::Up => "up",
                    Health::Failed => "failed",
                    Health::Removed => "removed",
                },
                cores: replica.cores,
                outstanding: replica.outstanding,
            })
            .collect()
    }

    /// The peers that are taken for alive at `now`.
    pub fn peers_alive(&self, now: u64) -> Vec<PeerId> {
        let alive = self.peers.iter().filter(|peer| peer.is_alive(now));
        alive.map(|peer| peer.id).collect()
    }

    /// The assumed load of each service that this rack and a peer's have in common; none if no replica is alive.
    pub fn believed(&self, peer: PeerId) -> Vec<(ServiceId, Option<f64>)> {
        let Ok(index) = self.peers.binary_search_by_key(&peer, |peer| peer.id) else {
            return Vec::new();
        };
        let services = self.peers[index].services.iter();
        services
            .map(|own| {
                let service = &self.services[usize::from(*own)];
                let view = service.views[index];
                (service.id, (view.cores > 0).then(|| view.load.requests()))
            })
            .collect()
    }
}
