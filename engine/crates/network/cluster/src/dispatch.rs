use crate::topology::Topology;
use crate::{ClusterError, DispatchSpec, NodeKind};
use rackwright_dispatch::{
    Configuration, PeerId, PeerSpec, ReplicaId, ReplicaSpec, ServiceId, ServiceSpec, Times,
};
use rackwright_ethernet::{Place, Rack};
use rackwright_traffic::Peer;
use std::collections::BTreeMap;

/// The rack of a switch that dispatches: the services right below it, and all other such switches as peers.
///
/// # Errors
/// [`ClusterError::Dispatch`] when a service has more cores than are counted, or a time is none.
pub(crate) fn rack(
    topology: &Topology,
    peers: &BTreeMap<usize, Peer>,
    switch: usize,
    spec: &DispatchSpec,
) -> Result<Rack, ClusterError> {
    let racks = (topology.switches())
        .filter(|switch| dispatches(topology, *switch))
        .zip(0..);
    let racks: BTreeMap<usize, PeerId> = racks.map(|(switch, number)| (switch, PeerId(number))).collect();
    let all: BTreeMap<usize, Vec<(usize, ServiceId, u16)>> = racks
        .keys()
        .map(|switch| (*switch, replicas(topology, *switch)))
        .collect();
    let place = |server: usize| Place {
        mac: peers[&server].mac,
        endpoint: peers[&server].endpoint,
    };
    let own = &all[&switch];
    let numbered = || {
        own.iter()
            .zip(0..)
            .map(|(replica, number)| (replica, ReplicaId(number)))
    };
    let mut services: BTreeMap<ServiceId, Vec<ReplicaSpec>> = BTreeMap::new();
    for (_, service, _) in all.values().flatten() {
        services.entry(*service).or_default();
    }
    for ((_, service, cores), id) in numbered() {
        services
            .entry(*service)
            .or_default()
            .push(ReplicaSpec { id, cores: *cores });
    }
    let others = || {
        all.iter()
            .filter(|(rack, replicas)| **rack != switch && !replicas.is_empty())
    };
    let peer_spec = |(rack, replicas): (&usize, &Vec<(usize, ServiceId, u16)>)| {
        let mut services: Vec<ServiceId> = replicas.iter().map(|(_, service, _)| *service).collect();
        services.sort_unstable();
        services.dedup();
        PeerSpec {
            id: racks[rack],
            services,
        }
    };
    let services = services.into_iter().map(|(id, replicas)| ServiceSpec {
        id,
        replicas,
        sticky: false,
    });
    let configuration = Configuration::new(
        racks[&switch],
        services.collect(),
        others().map(peer_spec).collect(),
    );
    Ok(Rack {
        configuration: Configuration {
            seed: topology.description.seed,
            policy: spec.policy,
            gossip_floor: spec.gossip_floor,
            average_shift: spec.average_shift,
            load_delta: spec.load_delta,
            max_redirects: spec.max_redirects,
            times: Times {
                expiry_ns: nanoseconds(spec.expiry_us),
                truth_interval_ns: nanoseconds(spec.truth_interval_us),
                peer_timeout_ns: nanoseconds(spec.peer_timeout_us),
                probe_interval_ns: nanoseconds(spec.probe_interval_us),
            },
            tracked: spec.tracked,
            ..configuration
        },
        replicas: numbered()
            .map(|((server, ..), id)| (id, place(*server)))
            .collect(),
        peers: others()
            .map(|(rack, replicas)| (racks[rack], place(replicas[0].0)))
            .collect(),
    })
}

/// An error of the switch with that name.
pub(crate) fn refused<E: std::fmt::Display>(switch: &str) -> impl Fn(E) -> ClusterError + '_ {
    move |reason| ClusterError::Dispatch {
        switch: switch.to_string(),
        reason: reason.to_string(),
    }
}

/// Invalid times become zero, which no configuration has.
fn nanoseconds(us: f64) -> u64 {
    (us * 1e3) as u64
}

fn dispatches(topology: &Topology, switch: usize) -> bool {
    matches!(&topology.description.nodes[switch].kind, NodeKind::Switch(spec) if spec.dispatch.is_some())
}

/// The services right below a switch: node, service and cores.
fn replicas(topology: &Topology, switch: usize) -> Vec<(usize, ServiceId, u16)> {
    let below = topology.ports[switch].iter().filter_map(|neighbour| {
        let NodeKind::Traffic(spec) = &topology.description.nodes[neighbour.node].kind else {
            return None;
        };
        let service = spec.service.as_ref()?;
        let cores = service.cores.min(u16::MAX.into()) as u16;
        Some((neighbour.node, ServiceId(spec.service_id), cores))
    });
    below.collect()
}
