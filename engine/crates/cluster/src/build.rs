use crate::dispatch;
use crate::node::Elsewhere;
use crate::routes::{broadcast_tree, Routes};
use crate::topology::Topology;
use crate::{
    linux, Argument, BladeSpec, ClusterError, Designs, DispatchSpec, HostPortSpec, LinuxSpec, Node, NodeKind,
    Observations, ServerSpec, StartSpec, SwitchSpec, TrafficSpec, WireSpec,
};
use rackwright_blade::{Blade, BladeParameters};
use rackwright_daronpon::UnitDispatching;
use rackwright_ethernet::{
    Dispatching, Faults, Forwarding, Ipv4, Mac, MakePolicy, Outage, Policy, PortParameters, Route, Switch,
    SwitchParameters, Table, POLICIES,
};
use rackwright_gateway::{HostPort, Pace, Socket, Tap, Wire};
use rackwright_machine::{Checkpoint, MachineError};
use rackwright_rtl::Design;
use rackwright_schedule::{Graph, ModelId, PortId};
use rackwright_server::{
    Code, LinuxConfig, LinuxServer, LinuxStart, NetworkConfig, NetworkedServer, ServerConfig, ServerError,
    BARE_METAL_BYTES,
};
use rackwright_time::{Cycle, Cycles};
use rackwright_traffic::{Client, Distribution, Host, Identity, ParameterError, Peer, Random, Service};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Makes the models with the numbers `own`, which are those of their nodes, and joins them and the others.
pub(crate) fn build(
    topology: &Topology,
    routes: &Routes,
    peers: &BTreeMap<usize, Peer>,
    (designs, observations): (&Designs, &Observations),
    own: &Range<usize>,
) -> Result<Graph<Node>, ClusterError> {
    let builder = Builder {
        topology,
        routes,
        peers,
        designs,
        observations,
        programs: RefCell::default(),
        checkpoints: RefCell::default(),
        code: Code::default(),
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
            NodeKind::Linux(spec) => Node::Linux(Box::new(builder.linux(index, spec)?)),
            NodeKind::MemoryBlade(spec) => {
                let blade = builder
                    .blade(index, spec)
                    .map_err(ClusterError::parameter(&node.name))?;
                Node::Blade(Box::new(blade))
            }
            NodeKind::HostPort(spec) => Node::HostPort(Box::new(builder.host_port(index, spec)?)),
        };
        graph.add(node.name.clone(), model);
    }
    join(topology, &mut graph)?;
    Ok(graph)
}

/// The name of the unit that brings remote pages, which is on the network as the NIC is.
pub const PAGE_FAULT: &str = "page-fault";

struct Builder<'a> {
    topology: &'a Topology<'a>,
    routes: &'a Routes,
    peers: &'a BTreeMap<usize, Peer>,
    designs: &'a Designs,
    observations: &'a Observations,
    /// Files that were read: many servers run the same program.
    programs: RefCell<BTreeMap<PathBuf, Rc<[u8]>>>,
    checkpoints: RefCell<BTreeMap<PathBuf, Rc<Checkpoint>>>,
    code: Code,
    tree: Vec<Vec<u16>>,
}

impl Builder<'_> {
    fn switch(&self, index: usize, spec: &SwitchSpec) -> Result<Switch, ClusterError> {
        let mut table = Table::new();
        for (server, peer) in self.peers {
            table.insert(
                peer.mac,
                Route::through(&self.routes.ports(self.topology, index, *server)),
            );
        }
        let forwarding = Forwarding {
            table,
            broadcast: self.tree[index].clone(),
            // Switches choose independently, or all flows of one uplink would share the next one too.
            seed: self.topology.description.seed.wrapping_add(index as u64),
            mark_bytes: spec.mark_bytes,
        };
        let parameters = SwitchParameters {
            ports: self.ports(index),
            latency: Cycles(spec.switching_cycles),
            largest_frame: spec.largest_frame,
            faults: self.faults(index, spec)?,
        };
        let policy = match &spec.dispatch {
            None => self.policy(index, &spec.policy)?(forwarding),
            Some(dispatch) => self.dispatching(index, forwarding, dispatch)?,
        };
        Ok(Switch::new(parameters, policy))
    }

    /// The dispatcher of a switch: the model, or RTL.
    fn dispatching(
        &self,
        index: usize,
        forwarding: Forwarding,
        spec: &DispatchSpec,
    ) -> Result<Box<dyn Policy>, ClusterError> {
        let name = self.topology.name(index);
        let rack = dispatch::rack(self.topology, self.peers, index, spec)?;
        let clock = self.topology.clock;
        Ok(match &spec.design {
            None => {
                let made = Dispatching::new(forwarding, rack, clock);
                Box::new(made.map_err(dispatch::refused(name))?)
            }
            Some(design) => {
                let made = UnitDispatching::new(forwarding, rack, clock, self.design(name, design)?);
                Box::new(made.map_err(dispatch::refused(name))?)
            }
        })
    }

    fn faults(&self, index: usize, spec: &SwitchSpec) -> Result<Faults, ClusterError> {
        let wrong = ClusterError::parameter(self.topology.name(index));
        let is_probability = |probability: &f64| (0.0..=1.0).contains(probability);
        if let Some(other) = [spec.loss, spec.late]
            .into_iter()
            .find(|one| !is_probability(one))
        {
            return Err(wrong(ParameterError::Fraction(other)));
        }
        let outages = self.outages(&spec.outages_us).map_err(&wrong)?;
        let latest = self.cycles(spec.late_us).map_err(wrong)?;
        let seed = self.topology.description.seed.wrapping_add(index as u64);
        Ok(Faults::new(spec.loss, outages, seed).with_late_frames(spec.late, latest))
    }

    fn outages(&self, outages_us: &[[f64; 2]]) -> Result<Vec<Outage>, ParameterError> {
        let outage = |[from, to]: &[f64; 2]| {
            let [from, to] = [self.cycles(*from)?, self.cycles(*to)?].map(|span| Cycle::ZERO + span);
            Ok(Outage { from, to })
        };
        outages_us.iter().map(outage).collect()
    }

    fn policy(&self, index: usize, name: &str) -> Result<MakePolicy, ClusterError> {
        let found = POLICIES.iter().find(|(known, _)| *known == name);
        found.map(|(_, make)| *make).ok_or_else(|| ClusterError::Policy {
            switch: self.topology.name(index).to_string(),
            policy: name.to_string(),
            known: POLICIES
                .iter()
                .map(|(known, _)| *known)
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    fn host(&self, index: usize, spec: &TrafficSpec) -> Result<Host, ParameterError> {
        let peer = self.peers[&index];
        let identity = Identity {
            mac: peer.mac,
            endpoint: peer.endpoint,
            stack: self.cycles(spec.stack_us)?,
            ecn: spec.ecn,
        };
        let port = self.ports(index)[0];
        Ok(Host::new(
            identity,
            port,
            self.client(index, spec)?,
            self.service(index, spec)?,
        )
        .with_outages(self.outages(&spec.outages_us)?))
    }

    fn blade(&self, index: usize, spec: &BladeSpec) -> Result<Blade, ParameterError> {
        let parameters = BladeParameters {
            mac: self.peers[&index].mac,
            service: self.cycles(spec.service_us)?,
            capacity: spec.pages,
            outages: self.outages(&spec.outages_us)?,
        };
        Ok(Blade::new(parameters, self.ports(index)[0]))
    }

    fn server(&self, index: usize, spec: &ServerSpec) -> Result<NetworkedServer, ClusterError> {
        let name = self.topology.name(index);
        let refused = |reason| ClusterError::Server {
            name: name.to_string(),
            reason,
        };
        let file = self.program(name, &spec.program)?;
        let attached: Vec<&Design> = (spec.units.iter())
            .map(|unit| self.design(name, unit))
            .collect::<Result<_, _>>()?;
        // The page-fault unit is on the network, as the NIC is.
        let (pagers, others): (Vec<_>, Vec<_>) = attached
            .into_iter()
            .partition(|design| design.manifest.unit == PAGE_FAULT);
        let units: Vec<Design> = others.into_iter().cloned().collect();
        let config = ServerConfig {
            cpu: spec.cpu.parse().map_err(refused)?,
            harts: spec.harts,
            units: &units,
            placement: spec.placement.parse().map_err(|reason| ClusterError::Placement {
                name: name.to_string(),
                reason,
            })?,
            guest_bytes: BARE_METAL_BYTES,
            skip_quiescent: spec.skip_quiescent,
            check_idle: false,
            waves: None,
        };
        let peer = self.peers[&index];
        let network = NetworkConfig {
            nic: self.design(name, &spec.nic)?,
            pager: pagers.first().copied(),
            clock: self.topology.clock,
            code: &self.code,
            port: self.ports(index)[0],
            mac: peer.mac,
            address: peer.endpoint.address,
            neighbours: &self.neighbours(name, spec)?,
            arguments: &self.arguments(name, spec)?,
            observation: self.observations.get(name),
        };
        NetworkedServer::new(&config, &network, &file).map_err(refused)
    }

    fn linux(&self, index: usize, spec: &LinuxSpec) -> Result<LinuxServer, ClusterError> {
        let name = self.topology.name(index);
        let refused = |reason: ServerError| ClusterError::Server {
            name: name.to_string(),
            reason,
        };
        let peer = self.peers[&index];
        let cpu = spec
            .cpu
            .parse()
            .map_err(|error: MachineError| refused(error.into()))?;
        let named = |address_of: &str| self.named(name, address_of);
        let whoami = (name, peer.endpoint.address);
        let command = linux::command(spec, whoami, named)?;
        let make = |start: LinuxStart<'_>| {
            let config = LinuxConfig {
                start,
                cpu,
                // Servers draw random numbers of their own, such as the first port or sequence number.
                seed: self.topology.description.seed.wrapping_add(index as u64),
                code: &self.code,
                nic: self.design(name, &spec.nic)?,
                clock: self.topology.clock,
                port: self.ports(index)[0],
                mac: peer.mac,
                mtu: spec.mtu,
                features: spec.features.into(),
                command: &command,
                skip_quiescent: spec.skip_quiescent,
                observation: self.observations.get(name),
            };
            LinuxServer::new(&config).map_err(refused)
        };
        match &spec.start {
            StartSpec::Booted { checkpoint, .. } => {
                let checkpoint = self
                    .checkpoint(checkpoint)
                    .map_err(|error| refused(error.into()))?;
                make(LinuxStart::Booted(&checkpoint))
            }
            StartSpec::Reset {
                harts,
                memory_bytes,
                vector,
                image,
                command_line,
            } => {
                let file = self.program(name, &image.path)?;
                let software = image
                    .software(&file, command_line)
                    .ok_or_else(|| ClusterError::Image {
                        name: name.to_string(),
                        path: image.path.display().to_string(),
                    })?;
                make(LinuxStart::Reset {
                    software: &software,
                    harts: *harts,
                    memory_bytes: *memory_bytes,
                    vector: *vector,
                })
            }
        }
    }

    /// A checkpoint, which all servers that go on from it share.
    fn checkpoint(&self, path: &Path) -> Result<Rc<Checkpoint>, MachineError> {
        if let Some(found) = self.checkpoints.borrow().get(path) {
            return Ok(found.clone());
        }
        let read = Rc::new(Checkpoint::read(path)?);
        self.checkpoints
            .borrow_mut()
            .insert(path.to_path_buf(), read.clone());
        Ok(read)
    }

    fn design(&self, name: &str, design: &str) -> Result<&Design, ClusterError> {
        self.designs.get(design).ok_or_else(|| ClusterError::Design {
            name: name.to_string(),
            design: design.to_string(),
        })
    }

    fn program(&self, name: &str, path: &Path) -> Result<Rc<[u8]>, ClusterError> {
        if let Some(file) = self.programs.borrow().get(path) {
            return Ok(file.clone());
        }
        let file: Rc<[u8]> = match std::fs::read(path) {
            Ok(bytes) => bytes.into(),
            Err(reason) => {
                return Err(ClusterError::Program {
                    name: name.to_string(),
                    path: path.display().to_string(),
                    reason,
                })
            }
        };
        self.programs
            .borrow_mut()
            .insert(path.to_path_buf(), file.clone());
        Ok(file)
    }

    /// The arguments of a program with its name, that of its file without the folder, in front.
    fn arguments(&self, name: &str, spec: &ServerSpec) -> Result<Vec<Vec<u8>>, ClusterError> {
        let program = spec.program.file_name().unwrap_or_default().as_encoded_bytes();
        let mut arguments = vec![program.to_vec()];
        for argument in &spec.arguments {
            let text = match argument {
                Argument::Text(text) => text.clone(),
                Argument::Address { address_of } => {
                    self.named(name, address_of)?.endpoint.address.to_string()
                }
            };
            arguments.push(text.into_bytes());
        }
        Ok(arguments)
    }

    /// The addresses that the program of a server knows from the start.
    fn neighbours(&self, name: &str, spec: &ServerSpec) -> Result<Vec<(Ipv4, Mac)>, ClusterError> {
        let named = spec.arguments.iter().filter_map(|argument| match argument {
            Argument::Address { address_of } if spec.static_arp => Some(self.named(name, address_of)),
            _ => None,
        });
        named
            .map(|peer| peer.map(|peer| (peer.endpoint.address, peer.mac)))
            .collect()
    }

    /// The server of which the program of `name` is given the address.
    fn named(&self, name: &str, address_of: &str) -> Result<&Peer, ClusterError> {
        let by = || format!("an argument of `{name}`");
        let server = self.topology.find(address_of, by)?;
        let peer = self.peers.get(&server);
        peer.ok_or_else(|| ClusterError::NoAddress(address_of.to_string()))
    }

    fn host_port(&self, index: usize, spec: &HostPortSpec) -> Result<HostPort, ClusterError> {
        let wire: io::Result<Box<dyn Wire>> = match &spec.wire {
            WireSpec::Socket(path) => Socket::new(path).map(|socket| Box::new(socket) as _),
            WireSpec::Tap(name) => Tap::new(name).map(|tap| Box::new(tap) as _),
        };
        let wrong = |reason: String| ClusterError::HostPort {
            name: self.topology.name(index).to_string(),
            reason,
        };
        let wire = wire.map_err(|error| match &spec.wire {
            WireSpec::Socket(path) => wrong(format!("the socket {}: {error}", path.display())),
            WireSpec::Tap(name) => wrong(format!("the TAP device {name}: {error}")),
        })?;
        if !(spec.speed.is_finite() && spec.speed > 0.0) {
            return Err(wrong(format!("a speed of {} is impossible", spec.speed)));
        }
        let pace = Pace::new(self.topology.clock, spec.speed);
        Ok(HostPort::new(self.ports(index)[0], wire, pace))
    }

    fn client(&self, index: usize, spec: &TrafficSpec) -> Result<Option<Client>, ParameterError> {
        let Some(client) = &spec.client else {
            return Ok(None);
        };
        let known = |name: &String| {
            self.topology
                .find(name, String::new)
                .expect("targets were checked")
        };
        let peers = client.to.iter().map(|name| self.peers[&known(name)]).collect();
        let random = self.random(index, "client");
        Client::new(
            &client.parameters,
            peers,
            self.topology.clock,
            random,
            self.warm()?,
        )
        .map(Some)
    }

    fn service(&self, index: usize, spec: &TrafficSpec) -> Result<Option<Service>, ParameterError> {
        let Some(service) = &spec.service else {
            return Ok(None);
        };
        let random = self.random(index, "service");
        Service::new(service, self.topology.clock, random, self.warm()?).map(Some)
    }

    fn random(&self, index: usize, purpose: &str) -> Random {
        Random::new(self.topology.description.seed, index as u64, purpose)
    }

    fn warm(&self) -> Result<Cycle, ParameterError> {
        self.cycles(self.topology.description.warmup_us)
            .map(|span| Cycle::ZERO + span)
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
