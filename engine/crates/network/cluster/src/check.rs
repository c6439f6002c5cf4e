use crate::topology::Topology;
use crate::{ClusterError, NodeKind};

/// Checks the description before anything is built, except for checks by the parts themselves.
pub(crate) fn check(topology: &Topology) -> Result<(), ClusterError> {
    check_servers(topology)?;
    check_switches(topology)?;
    check_connected(topology)?;
    check_targets(topology)
}

/// Servers have one port, and it is used.
fn check_servers(topology: &Topology) -> Result<(), ClusterError> {
    match topology
        .servers()
        .find(|server| topology.ports[*server].len() != 1)
    {
        None => Ok(()),
        Some(server) => Err(ClusterError::ServerLinks {
            name: topology.name(server).to_string(),
            links: topology.ports[server].len(),
        }),
    }
}

/// Switches have no addresses.
fn check_switches(topology: &Topology) -> Result<(), ClusterError> {
    let mut switches = topology
        .switches()
        .map(|switch| &topology.description.nodes[switch]);
    match switches.find(|switch| switch.mac.is_some() || switch.ip.is_some()) {
        None => Ok(()),
        Some(switch) => Err(ClusterError::Address {
            name: switch.name.clone(),
            reason: "a switch has no address".to_string(),
        }),
    }
}

/// All nodes are reachable from the first one. Frames do not pass through servers, but servers have one port and thus
/// join no nodes.
fn check_connected(topology: &Topology) -> Result<(), ClusterError> {
    let mut reached = vec![false; topology.ports.len()];
    let mut next: Vec<usize> = (0..topology.ports.len().min(1)).collect();
    while let Some(node) = next.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            next.extend(topology.ports[node].iter().map(|neighbour| neighbour.node));
        }
    }
    match reached.iter().position(|reached| !reached) {
        None => Ok(()),
        Some(node) => Err(ClusterError::Unreachable {
            one: topology.name(0).to_string(),
            other: topology.name(node).to_string(),
        }),
    }
}

/// Clients send requests to nodes with a service.
fn check_targets(topology: &Topology) -> Result<(), ClusterError> {
    for node in &topology.description.nodes {
        let NodeKind::Traffic(spec) = &node.kind else {
            continue;
        };
        for name in spec.client.iter().flat_map(|client| &client.to) {
            let target = topology.find(name, || format!("the client `{}`", node.name))?;
            match &topology.description.nodes[target].kind {
                NodeKind::Traffic(target) if target.service.is_some() => {}
                _ => {
                    return Err(ClusterError::NoService {
                        client: node.name.clone(),
                        server: name.clone(),
                    })
                }
            }
        }
    }
    Ok(())
}
