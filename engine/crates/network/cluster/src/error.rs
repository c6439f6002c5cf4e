use rackwright_ethernet::{CaptureError, MacError, RateError};
use rackwright_memory::UnknownRoute;
use rackwright_schedule::GraphError;
use rackwright_server::ServerError;
use rackwright_time::ClockError;
use rackwright_traffic::ParameterError;

/// Why a cluster cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The clock cannot exist.
    #[error("{0}")]
    Clock(#[from] ClockError),
    /// Two nodes have the same name.
    #[error("two nodes are called `{0}`")]
    DuplicateName(String),
    /// A name that no node has.
    #[error("{by} names `{name}`, and no node is called so")]
    UnknownName {
        /// Who names it.
        by: String,
        /// The name.
        name: String,
    },
    /// A link cannot exist.
    #[error("link of `{one}` and `{other}`: {reason}")]
    Link {
        /// One end.
        one: String,
        /// The other end.
        other: String,
        /// Why not.
        reason: String,
    },
    /// A server has one port.
    #[error("server `{name}` has one port and {links} links; it needs one")]
    ServerLinks {
        /// The server.
        name: String,
        /// Its links.
        links: usize,
    },
    /// Two servers have one address.
    #[error("`{one}` and `{other}` both have the address {address}")]
    DuplicateAddress {
        /// One server.
        one: String,
        /// The other one.
        other: String,
        /// The address.
        address: String,
    },
    /// A switch that cannot dispatch.
    #[error("switch `{switch}` cannot dispatch: {reason}")]
    Dispatch {
        /// The switch.
        switch: String,
        /// Why not.
        reason: String,
    },
    /// An address that cannot be one server's.
    #[error("`{name}`: {reason}")]
    Address {
        /// The server.
        name: String,
        /// The error in it.
        reason: String,
    },
    /// There is no path.
    #[error("nothing joins `{one}` and `{other}`: neither can reach the other")]
    Unreachable {
        /// One node.
        one: String,
        /// A node that it cannot reach.
        other: String,
    },
    /// Pinned routes lead in a circle.
    #[error("frames of `{from}` for `{to}` would circle: {circle}")]
    Loop {
        /// A switch on the circle.
        from: String,
        /// The receiver.
        to: String,
        /// The names on the circle, joined by arrows.
        circle: String,
    },
    /// A pinned route that cannot be taken.
    #[error("switch `{switch}` sends to `{to}` through `{neighbour}`, which is not linked to it")]
    Route {
        /// The switch.
        switch: String,
        /// The receiver.
        to: String,
        /// The neighbour named.
        neighbour: String,
    },
    /// A policy that does not exist.
    #[error("switch `{switch}` has no policy `{policy}`; there are {known}")]
    Policy {
        /// The switch.
        switch: String,
        /// The requested policy.
        policy: String,
        /// The names of the existing policies.
        known: String,
    },
    /// A client sends requests to a node without a service.
    #[error("`{client}` sends requests to `{server}`, which has no service")]
    NoService {
        /// The client.
        client: String,
        /// Whom it asks.
        server: String,
    },
    /// A parameter is impossible.
    #[error("`{name}`: {reason}")]
    Parameter {
        /// The node.
        name: String,
        /// Which and why.
        reason: ParameterError,
    },
    /// The node exists, its port doesn't.
    #[error("`{0}` is not a port; ports are written as `node.port3`")]
    NoSuchPort(String),
    /// A server cannot be built.
    #[error("`{name}`: {reason}")]
    Server {
        /// The server.
        name: String,
        /// Why not.
        reason: ServerError,
    },
    /// A program cannot be read.
    #[error("`{name}`: {path}: {reason}")]
    Program {
        /// The server.
        name: String,
        /// The file.
        path: String,
        /// Why not.
        reason: std::io::Error,
    },
    /// An image is shorter than its parts.
    #[error("`{name}`: {path} is no image that `./rw image` has made, or is damaged")]
    Image {
        /// The server.
        name: String,
        /// The file.
        path: String,
    },
    /// A unit that was not passed to the cluster.
    #[error("`{name}` needs the design `{design}`, which the cluster was not given")]
    Design {
        /// The server.
        name: String,
        /// The design's name.
        design: String,
    },
    /// A unit is placed nowhere.
    #[error("`{name}`: {reason}")]
    Placement {
        /// The server.
        name: String,
        /// The places that exist.
        reason: UnknownRoute,
    },
    /// A node is of an unknown kind.
    #[error("`{name}`: no kind of node is called `{model}`")]
    UnknownKind {
        /// The node.
        name: String,
        /// The kind.
        model: String,
    },
    /// A node of a kind from outside this crate cannot be built.
    #[error("`{name}`: {reason}")]
    Own {
        /// The node.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Only servers have addresses.
    #[error("an argument is the address of `{0}`, which is no server")]
    NoAddress(String),
    /// A node that sends no requests, or none at all.
    #[error("no client is called `{0}`")]
    NoClient(String),
    /// The end of the run depends on a node without a program.
    #[error("the run is to end with `{0}`, which is no server that runs a program")]
    NoProgram(String),
    /// The graph refuses.
    #[error("{0}")]
    Graph(#[from] GraphError),
    /// A capture could not be written.
    #[error("{0}")]
    Capture(#[from] CaptureError),
    /// A host port cannot be created.
    #[error("`{name}`: {reason}")]
    HostPort {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The shares of processes do not make up the cluster.
    #[error("the shares given are not those of {nodes} nodes")]
    Share {
        /// Number of nodes.
        nodes: usize,
    },
}

impl ClusterError {
    pub(crate) fn link(ends: &[String; 2], reason: impl ToString) -> ClusterError {
        let [one, other] = ends.clone();
        ClusterError::Link {
            one,
            other,
            reason: reason.to_string(),
        }
    }

    pub(crate) fn parameter(name: &str) -> impl Fn(ParameterError) -> ClusterError + '_ {
        |reason| ClusterError::Parameter {
            name: name.to_string(),
            reason,
        }
    }

    pub(crate) fn address(name: &str, reason: &MacError) -> ClusterError {
        ClusterError::Address {
            name: name.to_string(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn rate(ends: &[String; 2], reason: RateError) -> ClusterError {
        ClusterError::link(ends, reason)
    }
}
