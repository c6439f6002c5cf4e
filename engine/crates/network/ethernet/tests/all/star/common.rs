//! A network of one switch whose ports play scripts and note what comes.

use rackwright_ethernet::{
    Faults, Forwarding, Frame, Mac, PortParameters, Route, Switch, SwitchParameters, Table,
};
use rackwright_schedule::{Graph, Incoming, Model, ModelId, Outbox, PortId};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};

/// Sends frames at given cycles and notes the cycle in which each frame is there.
#[derive(Default)]
pub struct Script {
    /// First cycle and frame, in order.
    pub sends: Vec<(Cycle, Frame)>,
    next: usize,
    /// What came.
    pub came: Vec<(Cycle, Frame)>,
}

/// A switch or one of its neighbours.
pub enum Node {
    Script(Script),
    Switch(Box<Switch>),
}

impl Model for Node {
    type Item = Frame;

    fn ports(&self) -> usize {
        match self {
            Node::Script(_) => 1,
            Node::Switch(switch) => switch.ports(),
        }
    }

    fn next_event(&self) -> Cycle {
        match self {
            Node::Script(script) => script.sends.get(script.next).map_or(Cycle::NEVER, |send| send.0),
            Node::Switch(switch) => switch.next_event(),
        }
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        match self {
            Node::Script(script) => script.advance(until, arrivals, outbox),
            Node::Switch(switch) => switch.advance(until, arrivals, outbox),
        }
    }

    fn digest(&self, digest: &mut Digest) {
        if let Node::Switch(switch) = self {
            switch.digest(digest);
        }
    }
}

impl Script {
    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        while let Some((_, arrival)) = arrivals.next() {
            self.came.push((arrival.cycle, arrival.item));
        }
        while let Some((first, frame)) = self.sends.get(self.next).filter(|send| send.0 < until) {
            let last = *first + Cycles::new(frame.length().div_ceil(8) as u64 - 1);
            outbox.send(0, *first, last, frame.clone());
            self.next += 1;
        }
    }
}

/// What a test changes about the switch.
#[derive(Clone)]
pub struct Setup {
    pub buffer_bytes: u64,
    pub latency: u64,
    pub link: u64,
    pub mark_bytes: Option<u64>,
    pub window: Option<u64>,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            buffer_bytes: 1 << 20,
            latency: 10,
            link: 50,
            mark_bytes: None,
            window: None,
        }
    }
}

/// A switch with a script at every port. Host h has the assigned address h; broadcasts go everywhere.
pub struct Star {
    pub graph: Graph<Node>,
    hosts: Vec<ModelId>,
    pub switch: ModelId,
}

impl Star {
    pub fn new(setup: &Setup, scripts: Vec<Vec<(Cycle, Frame)>>) -> Star {
        let ports = scripts.len();
        let mut table = Table::new();
        (0..ports).for_each(|port| table.insert(Mac::assigned(port as u32), Route::Port(port as u16)));
        let policy = Forwarding {
            table,
            broadcast: (0..ports as u16).collect(),
            seed: 1,
            mark_bytes: setup.mark_bytes,
        };
        let port = PortParameters {
            buffer_bytes: setup.buffer_bytes,
            ..PortParameters::default()
        };
        let parameters = SwitchParameters {
            ports: vec![port; ports],
            latency: Cycles::new(setup.latency),
            largest_frame: 9600,
            faults: Faults::default(),
        };
        let mut graph = Graph::new();
        let switch = graph.add(
            "switch",
            Node::Switch(Box::new(Switch::new(parameters, Box::new(policy)))),
        );
        let hosts = scripts
            .into_iter()
            .enumerate()
            .map(|(index, sends)| {
                let script = Script {
                    sends,
                    ..Script::default()
                };
                let host = graph.add(format!("host{index}"), Node::Script(script));
                let (here, there) = (
                    PortId { model: host, port: 0 },
                    PortId {
                        model: switch,
                        port: index,
                    },
                );
                graph.join(here, there, Cycles::new(setup.link)).unwrap();
                host
            })
            .collect();
        if let Some(window) = setup.window {
            graph.set_window(Cycles::new(window)).unwrap();
        }
        Star { graph, hosts, switch }
    }

    pub fn came(&self, host: usize) -> &[(Cycle, Frame)] {
        match self.graph.model(self.hosts[host]) {
            Node::Script(script) => &script.came,
            Node::Switch(_) => panic!("hosts are scripts"),
        }
    }

    pub fn the_switch(&self) -> &Switch {
        match self.graph.model(self.switch) {
            Node::Switch(switch) => switch,
            Node::Script(_) => panic!("the switch is one"),
        }
    }
}

/// A raw frame of so many bytes, at least an Ethernet header, whose last byte is `mark`.
pub fn frame(to: Mac, bytes: usize, mark: u8) -> Frame {
    let mut content = vec![0; bytes];
    content[..6].copy_from_slice(&to.0);
    *content.last_mut().unwrap() = mark;
    Frame::raw(&content).unwrap()
}
