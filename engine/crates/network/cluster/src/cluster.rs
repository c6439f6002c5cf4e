use crate::routes::Routes;
use crate::topology::Topology;
use crate::{
    addresses, build, check, loops, ClusterError, Description, Kinds, Node, NodeKind, PartReport, Report,
};
use rackwright_ethernet::{Capture, Frame, PortCounters};
use rackwright_rtl::Design;
use rackwright_schedule::{Apart, Graph, Meeting, ModelId, PortId, RunOutcome, Share};
use rackwright_server::Stamp;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Clock;
use rackwright_trace::Observation;
use rackwright_traffic::{Host, Peer};
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

/// Compiled hardware units by the names that servers use for them.
pub type Designs = BTreeMap<String, Design>;

/// The observations of servers, by their names.
pub type Observations = BTreeMap<String, Observation>;

/// The parts of a cluster in addition to its description.
pub(crate) struct Parts<'a> {
    pub(crate) designs: &'a Designs,
    pub(crate) observations: &'a Observations,
    pub(crate) kinds: &'a Kinds,
}

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
    /// The servers with which the run ends.
    ends_with: Vec<usize>,
    /// By node.
    runs_program: Vec<bool>,
    /// The nodes that this process simulates.
    pub(crate) own: Range<usize>,
    share: Option<Share>,
}

/// Number of checks per simulated second for the end of the run.
const LOOKS_PER_SECOND: u64 = 10_000;

impl Cluster {
    /// Builds the cluster of a description.
    ///
    /// # Errors
    /// [`ClusterError`], which names the nodes or the ends of the link concerned.
    pub fn new(description: &Description) -> Result<Cluster, ClusterError> {
        Cluster::observed(description, &Designs::new(), None, &Observations::new())
    }

    /// Builds the cluster of a description, with hardware units by name, and with observation of some of its servers,
    /// which does not affect them: all of it, or the share of one process.
    ///
    /// # Errors
    /// As [`Cluster::new`]; [`ClusterError::Share`] for a share that is none.
    pub fn observed(
        description: &Description,
        designs: &Designs,
        share: Option<Share>,
        observations: &Observations,
    ) -> Result<Cluster, ClusterError> {
        let parts = Parts {
            designs,
            observations,
            kinds: &Kinds::default(),
        };
        Cluster::assemble(description, share, &parts)
    }

    /// Builds the cluster of a description with nodes of further `kinds`.
    ///
    /// # Errors
    /// As [`Cluster::new`]; [`ClusterError::UnknownKind`] and [`ClusterError::Own`] for nodes of such a kind.
    pub fn with_kinds(description: &Description, kinds: &Kinds) -> Result<Cluster, ClusterError> {
        let parts = Parts {
            designs: &Designs::new(),
            observations: &Observations::new(),
            kinds,
        };
        Cluster::assemble(description, None, &parts)
    }

    fn assemble(
        description: &Description,
        share: Option<Share>,
        parts: &Parts<'_>,
    ) -> Result<Cluster, ClusterError> {
        let topology = Topology::new(description)?;
        check::check(&topology)?;
        let peers = addresses::assign(&topology)?;
        let routes = Routes::new(&topology)?;
        loops::check_loops(&topology, &routes)?;
        let nodes = description.nodes.len();
        let own = match &share {
            Some(share) if !share.is_of(nodes) => return Err(ClusterError::Share { nodes }),
            Some(share) => share.models(),
            None => 0..nodes,
        };
        let graph = build::build(&topology, &routes, &peers, parts, &own)?;
        let ends =
            |ports: &Vec<crate::topology::Neighbour>| ports.iter().map(|end| (end.node, end.port)).collect();
        Ok(Cluster {
            graph,
            clock: topology.clock,
            names: description.nodes.iter().map(|node| node.name.clone()).collect(),
            ends: topology.ports.iter().map(ends).collect(),
            peers,
            taps: Vec::new(),
            ends_with: Vec::new(),
            runs_program: (description.nodes.iter())
                .map(|node| runs_program(&node.kind))
                .collect(),
            own,
            share,
        })
    }

    /// How the simulation is carried out, on which results do not depend: threads, windows, idle nodes.
    pub fn execution(&mut self) -> Execution<'_> {
        Execution {
            graph: &mut self.graph,
        }
    }

    /// Ends runs when the programs of all servers of these names have ended; see [`Cluster::run`].
    ///
    /// # Errors
    /// [`ClusterError::NoProgram`] for a node that does not exist or runs no program.
    pub fn end_with(&mut self, names: &[String]) -> Result<(), ClusterError> {
        let node = |name: &String| {
            let runs = |node: &usize| self.runs_program[*node];
            self.node(name)
                .filter(runs)
                .ok_or_else(|| ClusterError::NoProgram(name.clone()))
        };
        self.ends_with = names.iter().map(node).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Captures the frames that pass a port from now on; the port is written as `tor0.port3`.
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

    /// The counters of a port so far; the port is written as `tor0.port3`.
    ///
    /// # Errors
    /// [`ClusterError::NoSuchPort`].
    pub fn counters(&self, port: &str) -> Result<PortCounters, ClusterError> {
        let id = self.port(port)?;
        let node = self.graph.model(id.model);
        if let Some(server) = node.reported() {
            return Ok(server.port_counters());
        }
        Ok(match node {
            Node::Switch(switch) => switch.output_ports()[id.port].counters(),
            Node::Host(host) => host.output_port().counters(),
            Node::Blade(blade) => blade.output_port().counters(),
            Node::HostPort(port) => port.output_port().counters(),
            Node::Own(own) => own.output_port().counters(),
            _ => PortCounters::default(),
        })
    }

    /// Records the events between the hart, the NIC and the link of a server from now on.
    ///
    /// # Errors
    /// [`ClusterError::NoProgram`] for a node that does not exist or runs no program here.
    pub fn keep_stamps(&mut self, server: &str) -> Result<(), ClusterError> {
        match self.node(server).map(|node| self.graph.model_mut(ModelId(node))) {
            Some(Node::Server(server)) => server.keep_stamps(),
            _ => return Err(ClusterError::NoProgram(server.to_string())),
        }
        Ok(())
    }

    /// The recorded events of a server, in the order of each of its clocks.
    ///
    /// # Errors
    /// As [`Cluster::keep_stamps`].
    pub fn stamps(&self, server: &str) -> Result<&[Stamp], ClusterError> {
        match self.node(server).map(|node| self.graph.model(ModelId(node))) {
            Some(Node::Server(server)) => Ok(server.stamps()),
            _ => Err(ClusterError::NoProgram(server.to_string())),
        }
    }

    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    pub(crate) fn host(&self, node: usize) -> Option<&Host> {
        match self.graph.model(ModelId(node)) {
            Node::Host(host) => Some(host),
            _ => None,
        }
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

    /// Adds the frames since the last call to a capture.
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

    /// Advances to a cycle, or to the end of the run before: the first multiple of 100 us at which all servers that
    /// determine the end of the run have ended their programs.
    pub fn run(&mut self, until: Cycle) -> RunOutcome {
        if self.ends_with.is_empty() {
            return self.graph.run(until);
        }
        let span = (self.clock.hertz() / LOOKS_PER_SECOND).max(1);
        let mut outcome = RunOutcome::TimeOver;
        while self.cycle() < until && !self.has_ended() {
            let next = Cycle::new((self.cycle().0 / span + 1) * span);
            outcome = self.graph.run(next.min(until));
        }
        outcome
    }

    /// Whether all servers that determine the end of the run, and are simulated by this process, have ended their
    /// programs; never if there are no such servers.
    pub fn has_ended(&self) -> bool {
        let at_look = self.cycle().0 % (self.clock.hertz() / LOOKS_PER_SECOND).max(1) == 0;
        let is_off = |node: &usize| match self.graph.model(ModelId(*node)) {
            Node::Elsewhere(_) => true,
            node => node.reported().is_some_and(|server| server.is_off()),
        };
        at_look && !self.ends_with.is_empty() && self.ends_with.iter().all(is_off)
    }

    /// Advances this process's share to a cycle, meeting the other processes after every window.
    ///
    /// # Errors
    /// [`Apart`] if synchronisation with another process fails.
    ///
    /// # Panics
    /// When the cluster is not a share.
    pub fn run_share(
        &mut self,
        until: Cycle,
        meeting: &mut impl Meeting<Frame>,
    ) -> Result<RunOutcome, Apart> {
        let share = self.share.as_ref().expect("a share meets others");
        self.graph.run_share(until, share, meeting)
    }

    /// Estimated nanoseconds that each node has taken so far.
    pub fn costs(&self) -> Vec<u64> {
        self.graph.costs()
    }

    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> Cycle {
        self.graph.cycle()
    }

    /// The clock of the network.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The results so far.
    pub fn report(&self) -> Report {
        Report::assemble(self.cycle().0, self.clock.hertz(), [self.part_report()])
    }

    /// The results so far of the nodes that this process simulates.
    pub fn part_report(&self) -> PartReport {
        PartReport::new(self)
    }
}

/// How a cluster is simulated.
pub struct Execution<'a> {
    graph: &'a mut Graph<Node>,
}

impl Execution<'_> {
    /// Uses this number of threads.
    pub fn set_threads(&mut self, threads: usize) {
        self.graph.set_threads(threads);
    }

    /// Exchanges traffic every `window` cycles instead of as rarely as possible.
    ///
    /// # Errors
    /// [`ClusterError::Graph`] when it is zero or longer than the shortest link.
    pub fn set_window(&mut self, window: Cycles) -> Result<(), ClusterError> {
        Ok(self.graph.set_window(window)?)
    }

    /// Whether nodes without events are skipped.
    pub fn set_skip_idle(&mut self, skip_idle: bool) {
        self.graph.set_skip_idle(skip_idle);
    }
}

/// Whether a node runs software that can end.
fn runs_program(kind: &NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Server(_) | NodeKind::Program(_) | NodeKind::Linux(_)
    )
}
