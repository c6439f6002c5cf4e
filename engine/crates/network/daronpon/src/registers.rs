//! The register writes that configure the unit (`hardware/src/main/scala/rackwright/daronpon/README.md`).

use crate::DaronponError;
use rackwright_dispatch::{LoadDelta, PeerSpec, Policy};
use rackwright_ethernet::{Place, Rack};
use rackwright_registers::daronpon::{
    epoch, identity, peer_places, peers, policy, replica_places, replicas, services, EPOCH, IDENTITY, KEY,
    LOAD_DELTA, PEERS, PEER_PLACES, PEER_TIMEOUT, POLICY, PROBE_INTERVAL, REPLICAS, REPLICA_PLACES, SERVICES,
    START, TRUTH_INTERVAL,
};

/// Number of epochs for which a request is remembered.
const EPOCHS: u64 = 4;

/// The register writes, in order, that configure a rack and start the unit.
///
/// # Errors
/// [`DaronponError`] with the unsupported feature.
pub(crate) fn writes(rack: &Rack, key: &[u8; 16]) -> Result<Vec<(u32, u64)>, DaronponError> {
    let configuration = &rack.configuration;
    let [low, high] =
        [&key[..8], &key[8..]].map(|half| u64::from_le_bytes(half.try_into().expect("eight bytes")));
    let delta = match configuration.load_delta {
        LoadDelta::Fixed(delta) => (delta * 256.0 + 0.5) as u64,
        LoadDelta::Adaptive => 0,
    };
    let time = |time: u64| {
        if time > epoch::TIME.most() {
            return Err(DaronponError::NotBuilt("times of two years or more"));
        }
        Ok(time)
    };
    let mut writes = vec![
        (
            IDENTITY.offset,
            identity::NUMBER.put(configuration.own.0.into())
                | identity::INCARNATION.put(configuration.incarnation.into()),
        ),
        (KEY.at(0), low),
        (KEY.at(1), high),
        (POLICY.offset, policy_word(rack)?),
        (LOAD_DELTA.offset, delta),
        (EPOCH.offset, time(configuration.times.expiry_ns)? / EPOCHS),
        (
            TRUTH_INTERVAL.offset,
            time(configuration.times.truth_interval_ns)?,
        ),
        (PEER_TIMEOUT.offset, time(configuration.times.peer_timeout_ns)?),
        (
            PROBE_INTERVAL.offset,
            time(configuration.times.probe_interval_ns)?,
        ),
    ];
    let mut entry = 0;
    for (service, index) in configuration.services.iter().zip(0_u32..) {
        if service.sticky {
            return Err(DaronponError::NotBuilt("services with state (`sticky`)"));
        }
        let number = services::NUMBER.put(service.id.0.into());
        writes.push((SERVICES.at(index), number | services::PRESENT.put(1)));
        for replica in &service.replicas {
            let (mac, place) = words(&rack.replicas[&replica.id]);
            let cores = replicas::CORES.put(replica.cores.into());
            let service = replica_places::SERVICE.put(index.into()) | replica_places::PRESENT.put(1);
            writes.push((REPLICAS.at(entry), replicas::MAC.put(mac) | cores));
            writes.push((REPLICA_PLACES.at(entry), place | service));
            entry += 1;
        }
    }
    let mut known: Vec<&PeerSpec> = configuration.peers.iter().collect();
    known.sort_by_key(|peer| peer.id);
    for (peer, index) in known.into_iter().zip(0_u32..) {
        let is_shared = |service| u64::from(peer.services.contains(service));
        let services = configuration.services.iter().zip(0..);
        let mask: u64 = services.map(|(service, bit)| is_shared(&service.id) << bit).sum();
        if mask == 0 {
            return Err(DaronponError::NotBuilt("peers without a service in common"));
        }
        let (mac, place) = words(&rack.peers[&peer.id]);
        let number = peers::NUMBER.put(peer.id.0.into());
        writes.push((PEERS.at(index), peers::MAC.put(mac) | number));
        writes.push((PEER_PLACES.at(index), place | peer_places::SERVICES.put(mask)));
    }
    writes.push((START.offset, 0));
    Ok(writes)
}

fn policy_word(rack: &Rack) -> Result<u64, DaronponError> {
    let configuration = &rack.configuration;
    let (gossip, piggyback, always, local) = match configuration.policy {
        Policy::Daronpon { gossip, piggyback } => (gossip, piggyback, false, false),
        Policy::ShortestQueue => (false, true, true, false),
        Policy::RackLocal => (false, true, false, true),
        Policy::Random | Policy::RoundRobin | Policy::PowerOfTwo | Policy::RackSched => {
            return Err(DaronponError::NotBuilt("policy that draws or takes turns"));
        }
        Policy::BoundedQueue { .. } => return Err(DaronponError::NotBuilt("bounded queue")),
    };
    let adaptive = configuration.load_delta == LoadDelta::Adaptive;
    let flags = [
        (policy::GOSSIP, gossip),
        (policy::PIGGYBACK, piggyback),
        (policy::ALWAYS, always),
        (policy::RACK_LOCAL, local),
        (policy::ADAPTIVE, adaptive),
    ];
    let flags: u64 = flags.into_iter().map(|(bit, on)| bit.put(on.into())).sum();
    Ok(policy::GOSSIP_FLOOR.put(configuration.gossip_floor.into())
        | policy::AVERAGE_SHIFT.put(configuration.average_shift.into())
        | policy::MAX_REDIRECTS.put(configuration.max_redirects.into())
        | flags)
}

/// The hardware address, and Internet address with port.
fn words(place: &Place) -> (u64, u64) {
    let endpoint = place.endpoint;
    (
        place.mac.bits(),
        replica_places::ADDRESS.put(endpoint.address.to_bits().into())
            | replica_places::PORT.put(endpoint.port.into()),
    )
}
