use crate::topology::Topology;
use crate::{ClusterError, NodeKind};
use std::collections::{BTreeMap, VecDeque};

/// The ports through which each switch reaches each server: all those on a shortest path, or the pinned ones.
pub(crate) struct Routes {
    /// By switch, then by the switch or server at which a server is attached: see `toward`.
    shortest: BTreeMap<usize, Vec<Vec<u16>>>,
    pinned: BTreeMap<(usize, usize), Vec<u16>>,
}

impl Routes {
    pub(crate) fn new(topology: &Topology) -> Result<Routes, ClusterError> {
        let mut shortest = BTreeMap::new();
        for server in topology.servers() {
            let edge = topology.ports[server][0].node;
            if topology.is_switch(edge) && !shortest.contains_key(&edge) {
                shortest.insert(edge, toward(topology, edge));
            }
        }
        let pinned = pinned(topology)?;
        Ok(Routes { shortest, pinned })
    }

    /// The ports through which `switch` sends frames for `server`.
    pub(crate) fn ports(&self, topology: &Topology, switch: usize, server: usize) -> Vec<u16> {
        if let Some(ports) = self.pinned.get(&(switch, server)) {
            return ports.clone();
        }
        let attached = topology.ports[server][0];
        match attached.node == switch {
            true => vec![attached.port as u16],
            false => self
                .shortest
                .get(&attached.node)
                .map_or(Vec::new(), |ports| ports[switch].clone()),
        }
    }

    /// The servers for which some switch has a pinned route.
    pub(crate) fn pinned_servers(&self) -> std::collections::BTreeSet<usize> {
        self.pinned.keys().map(|(_, server)| *server).collect()
    }
}

/// For every switch, the ports that lead towards the switch `edge` on a shortest path.
fn toward(topology: &Topology, edge: usize) -> Vec<Vec<u16>> {
    let distances = distances(topology, edge);
    let nearer = |node: usize| {
        let neighbours = topology.ports[node].iter().enumerate();
        let nearer = neighbours.filter(|(_, neighbour)| {
            topology.is_switch(neighbour.node) && distances[neighbour.node] < distances[node]
        });
        nearer.map(|(port, _)| port as u16).collect()
    };
    (0..topology.ports.len())
        .map(|node| {
            if topology.is_switch(node) {
                nearer(node)
            } else {
                Vec::new()
            }
        })
        .collect()
}

/// The links between each switch and `edge`, without passing through servers.
fn distances(topology: &Topology, edge: usize) -> Vec<u32> {
    let mut distances = vec![u32::MAX; topology.ports.len()];
    distances[edge] = 0;
    let mut next = VecDeque::from([edge]);
    while let Some(node) = next.pop_front() {
        for neighbour in topology.ports[node]
            .iter()
            .filter(|neighbour| topology.is_switch(neighbour.node))
        {
            if distances[neighbour.node] == u32::MAX {
                distances[neighbour.node] = distances[node] + 1;
                next.push_back(neighbour.node);
            }
        }
    }
    distances
}

fn pinned(topology: &Topology) -> Result<BTreeMap<(usize, usize), Vec<u16>>, ClusterError> {
    let mut pinned = BTreeMap::new();
    for switch in topology.switches() {
        let NodeKind::Switch(spec) = &topology.description.nodes[switch].kind else {
            continue;
        };
        let by = || format!("a route of switch `{}`", topology.name(switch));
        for (server, neighbours) in &spec.routes {
            let mut ports = Vec::new();
            for name in neighbours {
                let neighbour = topology.find(name, by)?;
                ports.extend(
                    ports_to(topology, switch, neighbour).ok_or_else(|| ClusterError::Route {
                        switch: topology.name(switch).to_string(),
                        to: server.clone(),
                        neighbour: name.clone(),
                    })?,
                );
            }
            pinned.insert((switch, topology.find(server, by)?), ports);
        }
    }
    Ok(pinned)
}

fn ports_to(topology: &Topology, switch: usize, neighbour: usize) -> Option<Vec<u16>> {
    let ports = topology.ports[switch].iter().enumerate();
    let ports: Vec<u16> = ports
        .filter(|(_, other)| other.node == neighbour)
        .map(|(port, _)| port as u16)
        .collect();
    (!ports.is_empty()).then_some(ports)
}

/// For every switch, the ports of a tree that spans all switches, and those to servers. A broadcast through only these
/// ports reaches each node once, in any topology.
pub(crate) fn broadcast_tree(topology: &Topology) -> Vec<Vec<u16>> {
    let mut tree = vec![Vec::new(); topology.ports.len()];
    let mut reached = vec![false; topology.ports.len()];
    let mut next: VecDeque<usize> = topology.switches().take(1).collect();
    next.iter().for_each(|root| reached[*root] = true);
    while let Some(switch) = next.pop_front() {
        for (port, neighbour) in topology.ports[switch].iter().enumerate() {
            if reached[neighbour.node] {
                continue;
            }
            reached[neighbour.node] = true;
            tree[switch].push(port as u16);
            if topology.is_switch(neighbour.node) {
                tree[neighbour.node].push(neighbour.port as u16);
                next.push_back(neighbour.node);
            }
        }
    }
    tree
}
