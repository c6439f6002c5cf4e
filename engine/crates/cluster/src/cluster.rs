use crate::routes::Routes;
use crate::topology::Topology;
use crate::{addresses, build, check, loops, ClusterError, Description, Node, Report};
use rackwright_ethernet::{Capture, PortCounters};
use rackwright_schedule::{Graph, ModelId, PortId, RunOutcome};
use rackwright_time::{Clock, Cycle, Cycles};
use rackwright_traffic::Peer;
use std::collections::BTreeMap;
use std::io::Write;

/// A cluster that has been built.
pub struct Cluster {
    pub(crate) graph: Graph<Node>,
    pub(crate) clock: Clock,
    /// By node.
    pub(crate) names: Vec<String>,
    /// For every port of every node, the other end: node and port.
    pub(crate) ends: Vec<Vec<(usize, usize)>>,
    pub(crate) peers: BTreeMap<usize, Peer>,
    taps: Vec<PortId>,
}

impl Cluster {
    /// Checks a description without building anything.
    ///
    /// # Errors
    /// [`ClusterError`], which names the nodes or the ends of the link concerned.
    pub fn check(description: &Description) -> Result<(), ClusterError> {
        Cluster::new(description).map(|_| ())
    }

    /// Builds what a description says.
    ///
    /// # Errors
    /// [`ClusterError`], as [`Cluster::check`].
    pub fn new(description: &Description) -> Result<Cluster, ClusterError> {
        let topology = Topology::new(description)?;
        check::check(&topology)?;
        let peers = addresses::assign(&topology)?;
        let routes = Routes::new(&topology)?;
        loops::check_loops(&topology, &routes)?;
        let graph = build::build(&topology, &routes, &peers)?;
        let ends =
            |ports: &Vec<crate::topology::Neighbour>| ports.iter().map(|end| (end.node, end.port)).collect();
        Ok(Cluster {
            graph,
            clock: topology.clock,
            names: description.nodes.iter().map(|node| node.name.clone()).collect(),
            ends: topology.ports.iter().map(ends).collect(),
            peers,
            taps: Vec::new(),
        })
    }

    /// Uses so many threads. The result does not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.graph.set_threads(threads);
    }

    /// Exchanges traffic every so many cycles instead of as rarely as possible. The result does not
    /// depend on it.
    ///
    /// # Errors
    /// [`ClusterError::Graph`] when it is zero or longer than the shortest link.
    pub fn set_window(&mut self, window: Cycles) -> Result<(), ClusterError> {
        Ok(self.graph.set_window(window)?)
    }

    /// Whether nodes without anything to do are left alone. The result does not depend on it.
    pub fn set_skip_idle(&mut self, skip_idle: bool) {
        self.graph.set_skip_idle(skip_idle);
    }

    /// Captures from now on what passes a port, written as `tor0.port3`.
    ///
    /// # Errors
    /// [`ClusterError::NoSuchPort`].
    pub fn capture(&mut self, port: &str) -> Result<(), ClusterError> {
        let id = self.port(port)?;
        self.graph.tap(id)?;
        if !self.taps.contains(&id) {
            self.taps.push(id);
        }
        Ok(())
    }

    /// What has passed a port so far, written as `tor0.port3`.
    ///
    /// # Errors
    /// [`ClusterError::NoSuchPort`].
    pub fn counters(&self, port: &str) -> Result<PortCounters, ClusterError> {
        let id = self.port(port)?;
        Ok(match self.graph.model(id.model) {
            Node::Switch(switch) => switch.output_ports()[id.port].counters(),
            Node::Host(host) => host.output_port().counters(),
        })
    }

    fn port(&self, name: &str) -> Result<PortId, ClusterError> {
        let unknown = || ClusterError::NoSuchPort(name.to_string());
        let (node, number) = name.rsplit_once(".port").ok_or_else(unknown)?;
        let node = self
            .names
            .iter()
            .position(|other| other == node)
            .ok_or_else(unknown)?;
        let number = number.parse().map_err(|_| unknown())?;
        match number < self.ends[node].len() {
            true => Ok(PortId {
                model: ModelId(node),
                port: number,
            }),
            false => Err(unknown()),
        }
    }

    /// The names of the ports captured, in the order of the interfaces of a capture.
    pub fn captured(&self) -> Vec<String> {
        self.taps
            .iter()
            .map(|tap| format!("{}.port{}", self.names[tap.model.0], tap.port))
            .collect()
    }

    /// Adds to a capture what has passed since the last call.
    ///
    /// # Errors
    /// [`ClusterError::Capture`] when it cannot be written.
    pub fn write_capture<W: Write>(&mut self, capture: &mut Capture<W>) -> Result<(), ClusterError> {
        for tapped in self.graph.take_tapped() {
            let id = PortId {
                model: ModelId(tapped.model),
                port: tapped.port,
            };
            let place = self.taps.iter().position(|tap| *tap == id);
            let place = place.expect("only captured ports are listened to");
            capture.write(place, tapped.cycle, tapped.direction, &tapped.item)?;
        }
        Ok(())
    }

    /// Advances to a cycle.
    pub fn run(&mut self, until: Cycle) -> RunOutcome {
        self.graph.run(until)
    }

    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> Cycle {
        self.graph.cycle()
    }

    /// The clock of the network.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// What has happened so far.
    pub fn report(&self) -> Report {
        Report::new(self)
    }
}
