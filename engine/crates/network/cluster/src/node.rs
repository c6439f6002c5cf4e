use crate::OwnNode;
use rackwright_blade::Blade;
use rackwright_ethernet::{Frame, Switch};
use rackwright_gateway::HostPort;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_server::{LinuxServer, NetworkedServer, ProgramServer, Reported};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;
use rackwright_traffic::Host;

/// A model of a cluster.
pub enum Node {
    /// A switch.
    Switch(Box<Switch>),
    /// A server at `traffic` fidelity.
    Host(Box<Host>),
    /// A server with a hart and a NIC in RTL.
    Server(NetworkedServer),
    /// A server that runs a Linux program in user mode.
    Program(Box<ProgramServer>),
    /// A server that boots Linux.
    Linux(Box<LinuxServer>),
    /// A memory blade.
    Blade(Box<Blade>),
    /// A port to the machine that simulates.
    HostPort(Box<HostPort>),
    /// A node of a kind that is not one of this crate's.
    Own(Box<dyn OwnNode>),
    /// A node that another process simulates.
    Elsewhere(Elsewhere),
}

/// The properties of a node that another process simulates.
pub struct Elsewhere {
    pub(crate) ports: usize,
    pub(crate) cut_through: bool,
}

impl Node {
    /// The server with software that it is, if it is one.
    pub(crate) fn reported(&self) -> Option<&dyn Reported> {
        match self {
            Node::Server(server) => Some(server),
            Node::Program(server) => Some(&**server),
            Node::Linux(server) => Some(&**server),
            _ => None,
        }
    }
}

impl Model for Node {
    type Item = Frame;

    fn ports(&self) -> usize {
        match self {
            Node::Switch(switch) => switch.ports(),
            Node::Host(host) => host.ports(),
            Node::Server(server) => server.ports(),
            Node::Program(server) => server.ports(),
            Node::Linux(server) => server.ports(),
            Node::Blade(blade) => blade.ports(),
            Node::HostPort(port) => port.ports(),
            Node::Own(own) => own.ports(),
            Node::Elsewhere(elsewhere) => elsewhere.ports,
        }
    }

    fn cut_through(&self) -> bool {
        match self {
            Node::Switch(_) | Node::Host(_) | Node::Program(_) | Node::Blade(_) | Node::HostPort(_) => false,
            Node::Server(_) | Node::Linux(_) => true,
            Node::Own(own) => own.cut_through(),
            Node::Elsewhere(elsewhere) => elsewhere.cut_through,
        }
    }

    fn next_event(&self) -> Cycle {
        match self {
            Node::Switch(switch) => switch.next_event(),
            Node::Host(host) => host.next_event(),
            Node::Server(server) => server.next_event(),
            Node::Program(server) => server.next_event(),
            Node::Linux(server) => server.next_event(),
            Node::Blade(blade) => blade.next_event(),
            Node::HostPort(port) => port.next_event(),
            Node::Own(own) => own.next_event(),
            Node::Elsewhere(_) => Cycle::NEVER,
        }
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        match self {
            Node::Switch(switch) => switch.advance(until, arrivals, outbox),
            Node::Host(host) => host.advance(until, arrivals, outbox),
            Node::Server(server) => server.advance(until, arrivals, outbox),
            Node::Program(server) => server.advance(until, arrivals, outbox),
            Node::Linux(server) => server.advance(until, arrivals, outbox),
            Node::Blade(blade) => blade.advance(until, arrivals, outbox),
            Node::HostPort(port) => port.advance(until, arrivals, outbox),
            Node::Own(own) => own.advance(until, arrivals, outbox),
            Node::Elsewhere(_) => debug_assert_eq!(arrivals.peek(), Cycle::NEVER, "no mail comes here"),
        }
    }

    fn rest(&mut self, until: Cycle) {
        match self {
            Node::Linux(server) => server.rest(until),
            Node::Own(own) => own.rest(until),
            _ => {}
        }
    }

    fn digest(&self, digest: &mut Digest) {
        match self {
            Node::Switch(switch) => switch.digest(digest),
            Node::Host(host) => host.digest(digest),
            Node::Server(server) => server.digest(digest),
            Node::Program(server) => server.digest(digest),
            Node::Linux(server) => server.digest(digest),
            Node::Blade(blade) => blade.digest(digest),
            Node::HostPort(port) => port.digest(digest),
            Node::Own(own) => own.digest(digest),
            Node::Elsewhere(_) => {}
        }
    }
}

impl State for Node {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let kind = match self {
            Node::Switch(switch) => return switch.pass(by),
            Node::Linux(server) => return server.pass(by),
            Node::Server(server) => return server.pass(by),
            Node::Program(server) => return server.pass(by),
            Node::Host(_) => "a server at `traffic` fidelity",
            Node::Blade(_) => "a memory blade",
            Node::HostPort(_) => "a port to the host",
            Node::Own(_) => "a node of your own",
            Node::Elsewhere(_) => "a node of another process",
        };
        Err(StateError::Unsaved(format!("{kind} cannot be saved")))
    }
}
