mod servers;
mod switches;
mod traffic;

use crate::cluster::Parts;
use crate::node::Elsewhere;
use crate::routes::{broadcast_tree, Routes};
use crate::topology::Topology;
use crate::{BladeSpec, ClusterError, Node, NodeKind, OwnNode, OwnSpec, OwnStart};
use rackwright_blade::{Blade, BladeParameters};
use rackwright_ethernet::PortParameters;
use rackwright_machine::Checkpoint;
use rackwright_schedule::{Graph, ModelId, PortId};
use rackwright_server::DecodedPrograms;
use rackwright_time::network::Cycles;
use rackwright_traffic::{Distribution, ParameterError, Peer};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

/// Builds the models with the numbers `own`, which are those of their nodes, and joins them and the others.
pub(crate) fn build(
    topology: &Topology,
    routes: &Routes,
    peers: &BTreeMap<usize, Peer>,
    parts: &Parts<'_>,
    own: &Range<usize>,
) -> Result<Graph<Node>, ClusterError> {
    let builder = Builder {
        topology,
        routes,
        peers,
        parts,
        programs: RefCell::default(),
        checkpoints: RefCell::default(),
        code: DecodedPrograms::default(),
        tree: broadcast_tree(topology),
    };
    let mut graph = Graph::new();
    for (index, node) in topology.description.nodes.iter().enumerate() {
        let model = match &node.kind {
            kind if !own.contains(&index) => Node::Elsewhere(Elsewhere {
                ports: topology.ports[index].len(),
                cut_through: matches!(kind, NodeKind::Server(_) | NodeKind::Linux(_)),
            }),
            NodeKind::Switch(spec) => Node::Switch(Box::new(builder.switch(index, spec)?)),
            NodeKind::Traffic(spec) => {
                let host = builder
                    .host(index, spec)
                    .map_err(ClusterError::parameter(&node.name))?;
                Node::Host(Box::new(host))
            }
            NodeKind::Server(spec) => Node::Server(builder.server(index, spec)?),
            NodeKind::Program(spec) => Node::Program(Box::new(builder.user_program(index, spec)?)),
            NodeKind::Linux(spec) => Node::Linux(Box::new(builder.linux(index, spec)?)),
            NodeKind::MemoryBlade(spec) => {
                let blade = builder
                    .blade(index, spec)
                    .map_err(ClusterError::parameter(&node.name))?;
                Node::Blade(Box::new(blade))
            }
            NodeKind::HostPort(spec) => Node::HostPort(Box::new(builder.host_port(index, spec)?)),
            NodeKind::Own(spec) => Node::Own(builder.own(index, spec)?),
        };
        graph.add(node.name.clone(), model);
    }
    join(topology, &mut graph)?;
    Ok(graph)
}

struct Builder<'a> {
    topology: &'a Topology<'a>,
    routes: &'a Routes,
    peers: &'a BTreeMap<usize, Peer>,
    parts: &'a Parts<'a>,
    /// Files that were read: many servers run the same program.
    programs: RefCell<BTreeMap<PathBuf, Rc<[u8]>>>,
    checkpoints: RefCell<BTreeMap<PathBuf, Rc<Checkpoint>>>,
    code: DecodedPrograms,
    tree: Vec<Vec<u16>>,
}

impl Builder<'_> {
    fn blade(&self, index: usize, spec: &BladeSpec) -> Result<Blade, ParameterError> {
        let parameters = BladeParameters {
            mac: self.peers[&index].mac,
            service: self.cycles(spec.service_us)?,
            capacity: spec.pages,
            outages: self.outages(&spec.outages_us)?,
        };
        Ok(Blade::new(parameters, self.ports(index)[0]))
    }

    fn own(&self, index: usize, spec: &OwnSpec) -> Result<Box<dyn OwnNode>, ClusterError> {
        let name = &self.topology.description.nodes[index].name;
        let make = self.parts.kinds.find(&spec.model);
        let make = make.ok_or_else(|| ClusterError::UnknownKind {
            name: name.clone(),
            model: spec.model.clone(),
        })?;
        let start = OwnStart {
            name,
            peer: &self.peers[&index],
            port: self.ports(index)[0],
            clock: self.topology.clock,
            settings: &spec.settings,
        };
        make(&start).map_err(|reason| ClusterError::Own {
            name: name.clone(),
            reason,
        })
    }

    fn cycles(&self, us: f64) -> Result<Cycles, ParameterError> {
        Distribution::Constant { us }.cycles(self.topology.clock)
    }

    fn ports(&self, index: usize) -> Vec<PortParameters> {
        let buffer_bytes = self.topology.description.nodes[index].buffer_bytes;
        let neighbours = self.topology.ports[index].iter();
        neighbours
            .map(|neighbour| PortParameters {
                rate: neighbour.rate,
                buffer_bytes,
            })
            .collect()
    }
}

fn join(topology: &Topology, graph: &mut Graph<Node>) -> Result<(), ClusterError> {
    for (node, ports) in topology.ports.iter().enumerate() {
        for (port, neighbour) in ports.iter().enumerate() {
            if (node, port) < (neighbour.node, neighbour.port) {
                let one = PortId {
                    model: ModelId(node),
                    port,
                };
                let other = PortId {
                    model: ModelId(neighbour.node),
                    port: neighbour.port,
                };
                graph.join(one, other, neighbour.latency)?;
            }
        }
    }
    Ok(())
}
