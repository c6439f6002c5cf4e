//! The register map: `hardware/src/main/scala/rackwright/daronpon/README.md`.

use crate::DaronponError;
use rackwright_dispatch::{LoadDelta, PeerSpec, Policy};
use rackwright_ethernet::{Place, Rack};

const IDENTITY: u32 = 0x00;
const KEY: u32 = 0x08;
const POLICY: u32 = 0x18;
const LOAD_DELTA: u32 = 0x20;
const EPOCH: u32 = 0x28;
const TRUTH_INTERVAL: u32 = 0x30;
const PEER_TIMEOUT: u32 = 0x38;
const PROBE_INTERVAL: u32 = 0x40;
const START: u32 = 0x48;
const SERVICES: u32 = 0x100;
const REPLICAS: u32 = 0x400;
const PEERS: u32 = 0x800;
const PRESENT: u64 = 1 << 63;

/// Where the time of the next tick is read.
pub(crate) const NEXT_TIMER: u32 = 0x50;
/// For how many epochs a request is remembered.
const EPOCHS: u64 = 4;
/// Times have so many bits.
const TIME_BITS: u32 = 56;

/// What is written to which register, in order, to make a rack known and start.
///
/// # Errors
/// [`DaronponError`] names what the unit does not do.
pub(crate) fn writes(rack: &Rack, key: &[u8; 16]) -> Result<Vec<(u32, u64)>, DaronponError> {
    let configuration = &rack.configuration;
    let [low, high] =
        [&key[..8], &key[8..]].map(|half| u64::from_le_bytes(half.try_into().expect("eight bytes")));
    let delta = match configuration.load_delta {
        LoadDelta::Fixed(delta) => (delta * 256.0 + 0.5) as u64,
        LoadDelta::Adaptive => 0,
    };
    let time = |time: u64| match time >> TIME_BITS {
        0 => Ok(time),
        _ => Err(DaronponError::NotBuilt("times of two years or more")),
    };
    let mut writes = vec![
        (
            IDENTITY,
            u64::from(configuration.own.0) | u64::from(configuration.incarnation) << 16,
        ),
        (KEY, low),
        (KEY + 8, high),
        (POLICY, policy(rack)?),
        (LOAD_DELTA, delta),
        (EPOCH, time(configuration.expiry_ns)? / EPOCHS),
        (TRUTH_INTERVAL, time(configuration.truth_interval_ns)?),
        (PEER_TIMEOUT, time(configuration.peer_timeout_ns)?),
        (PROBE_INTERVAL, time(configuration.probe_interval_ns)?),
    ];
    let mut replicas = 0;
    for (service, index) in configuration.services.iter().zip(0_u32..) {
        if service.sticky {
            return Err(DaronponError::NotBuilt("services with state (`sticky`)"));
        }
        writes.push((SERVICES + 8 * index, u64::from(service.id.0) | PRESENT));
        for replica in &service.replicas {
            let (mac, place) = words(&rack.replicas[&replica.id]);
            let at = REPLICAS + 16 * replicas;
            writes.push((at, mac | u64::from(replica.cores) << 48));
            writes.push((at + 8, place | u64::from(index) << 48 | PRESENT));
            replicas += 1;
        }
    }
    let mut peers: Vec<&PeerSpec> = configuration.peers.iter().collect();
    peers.sort_by_key(|peer| peer.id);
    for (peer, index) in peers.into_iter().zip(0_u32..) {
        let is_shared = |service| u64::from(peer.services.contains(service));
        let services = configuration.services.iter().zip(0..);
        let mask: u64 = services.map(|(service, bit)| is_shared(&service.id) << bit).sum();
        if mask == 0 {
            return Err(DaronponError::NotBuilt("peers without a service in common"));
        }
        let (mac, place) = words(&rack.peers[&peer.id]);
        writes.push((PEERS + 16 * index, mac | u64::from(peer.id.0) << 48));
        writes.push((PEERS + 16 * index + 8, place | mask << 48));
    }
    writes.push((START, 0));
    Ok(writes)
}

fn policy(rack: &Rack) -> Result<u64, DaronponError> {
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
    let flags = [gossip, piggyback, always, local, adaptive];
    let flags: u64 = flags
        .into_iter()
        .zip(40..)
        .map(|(flag, bit)| u64::from(flag) << bit)
        .sum();
    Ok(u64::from(configuration.gossip_floor)
        | u64::from(configuration.average_shift) << 24
        | u64::from(configuration.max_redirects) << 32
        | flags)
}

/// The hardware address, and Internet address with port.
fn words(place: &Place) -> (u64, u64) {
    let endpoint = place.endpoint;
    (
        place.mac.bits(),
        u64::from(endpoint.address.to_bits()) | u64::from(endpoint.port) << 32,
    )
}
