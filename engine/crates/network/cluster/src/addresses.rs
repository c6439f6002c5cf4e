use crate::topology::Topology;
use crate::{ClusterError, NodeKind};
use rackwright_dispatch::ServiceId;
use rackwright_ethernet::{Endpoint, Ipv4, Mac};
use rackwright_traffic::Peer;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The number of the first assigned address, as in the public simulator that this network follows.
const FIRST: u32 = 2;
/// The network of assigned Internet addresses.
const NETWORK: Ipv4 = Ipv4::new(172, 16, 0, 0);

/// The addresses of every server: pinned, or the next free number for both. A server with pinned addresses uses up a
/// number too, so that pinning does not change the addresses of others.
pub(crate) fn assign(topology: &Topology) -> Result<BTreeMap<usize, Peer>, ClusterError> {
    let pinned = pinned(topology)?;
    let mut macs = Taken::default();
    let mut addresses = Taken::default();
    for (server, (mac, ip)) in &pinned {
        mac.iter()
            .try_for_each(|mac| macs.take(topology, *mac, *server))?;
        ip.iter()
            .try_for_each(|ip| addresses.take(topology, *ip, *server))?;
    }
    let mut number = FIRST;
    let mut peers = BTreeMap::new();
    for server in topology.servers() {
        while macs.is_taken(&Mac::assigned(number)) || addresses.is_taken(&assigned(number)) {
            number += 1;
        }
        let (mac, ip) = pinned[&server];
        let mac = mac.unwrap_or(Mac::assigned(number));
        let address = ip.unwrap_or(assigned(number));
        let (port, service) = match &topology.description.nodes[server].kind {
            NodeKind::Traffic(spec) => (spec.port, spec.service_id),
            // Programs, and programs behind a host port, choose their ports themselves.
            _ => (0, 0),
        };
        peers.insert(
            server,
            Peer {
                mac,
                endpoint: Endpoint { address, port },
                service: ServiceId(service),
            },
        );
        number += 1;
    }
    Ok(peers)
}

fn assigned(number: u32) -> Ipv4 {
    Ipv4::from_bits(NETWORK.to_bits() + number)
}

type Pinned = (Option<Mac>, Option<Ipv4>);

fn pinned(topology: &Topology) -> Result<BTreeMap<usize, Pinned>, ClusterError> {
    let mut pinned = BTreeMap::new();
    for server in topology.servers() {
        let spec = &topology.description.nodes[server];
        let name = &spec.name;
        let wrong = |reason: String| ClusterError::Address {
            name: name.to_string(),
            reason,
        };
        let mac = spec.mac.as_ref().map(|mac| mac.parse::<Mac>()).transpose();
        let mac = mac.map_err(|error| ClusterError::address(name, &error))?;
        if let Some(group) = mac.filter(|mac| mac.is_group()) {
            return Err(wrong(format!("{group} addresses a group, not one server")));
        }
        let ip = spec.ip.as_ref().map(|ip| ip.parse::<Ipv4>()).transpose();
        let ip = ip.map_err(|error| wrong(error.to_string()))?;
        pinned.insert(server, (mac, ip));
    }
    Ok(pinned)
}

/// Addresses and their owners.
struct Taken<A>(BTreeMap<A, usize>);

impl<A> Default for Taken<A> {
    fn default() -> Self {
        Taken(BTreeMap::new())
    }
}

impl<A: Ord + Display + Copy> Taken<A> {
    fn is_taken(&self, address: &A) -> bool {
        self.0.contains_key(address)
    }

    fn take(&mut self, topology: &Topology, address: A, server: usize) -> Result<(), ClusterError> {
        match self.0.insert(address, server) {
            None => Ok(()),
            Some(before) => Err(ClusterError::DuplicateAddress {
                one: topology.name(before).to_string(),
                other: topology.name(server).to_string(),
                address: address.to_string(),
            }),
        }
    }
}
