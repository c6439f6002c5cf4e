use crate::Model;
use rackwright_link::{Link, LinkError, Window};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// A model's place in its graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelId(pub(crate) usize);

/// One port of one model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortId {
    /// The model.
    pub model: ModelId,
    /// Which of its ports.
    pub port: usize,
}

/// Why a graph cannot be built.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// The port does not exist.
    #[error("`{model}` has {ports} ports; there is no port {port}")]
    NoSuchPort {
        /// The model's name.
        model: String,
        /// How many it has.
        ports: usize,
        /// The one asked for.
        port: usize,
    },
    /// The port is joined already.
    #[error("port {port} of `{model}` is joined already")]
    Taken {
        /// The model's name.
        model: String,
        /// The port.
        port: usize,
    },
    /// The link cannot exist.
    #[error("{from} to {to}: {reason}")]
    Link {
        /// One end.
        from: String,
        /// The other end.
        to: String,
        /// Why not.
        reason: LinkError,
    },
}

/// Where the traffic of a port comes from and goes to: indices of links.
#[derive(Clone, Copy)]
pub(crate) struct Joined {
    pub(crate) incoming: usize,
    pub(crate) outgoing: usize,
}

pub(crate) struct Node<M> {
    pub(crate) name: String,
    pub(crate) model: M,
    pub(crate) joined: Vec<Option<Joined>>,
    pub(crate) inputs: Vec<Window>,
    pub(crate) outputs: Vec<Window>,
    /// What each port put out so far; one digest per port, so that the windows' cut cannot show.
    pub(crate) traffic: Vec<Digest>,
}

/// Models and the links between their ports.
pub struct Graph<M> {
    pub(crate) nodes: Vec<Node<M>>,
    pub(crate) links: Vec<Link>,
    pub(crate) window: Cycles,
    pub(crate) cycle: Cycle,
}

/// The longest window of a graph without links: how often a run looks whether it is done.
const UNLINKED_WINDOW: Cycles = Cycles(1 << 20);

impl<M: Model> Default for Graph<M> {
    fn default() -> Self {
        Graph {
            nodes: Vec::new(),
            links: Vec::new(),
            window: UNLINKED_WINDOW,
            cycle: Cycle::ZERO,
        }
    }
}

impl<M: Model> Graph<M> {
    /// No models.
    pub fn new() -> Graph<M> {
        Graph::default()
    }

    /// Adds a model under a name that errors and reports use.
    pub fn add(&mut self, name: impl Into<String>, model: M) -> ModelId {
        let ports = model.ports();
        let empty = || (0..ports).map(|_| Window::new(Cycle::ZERO, Cycles(0))).collect();
        self.nodes.push(Node {
            name: name.into(),
            model,
            joined: vec![None; ports],
            inputs: empty(),
            outputs: empty(),
            traffic: vec![Digest::new(); ports],
        });
        ModelId(self.nodes.len() - 1)
    }

    /// Joins two ports, both ways, with one latency.
    ///
    /// # Errors
    /// [`GraphError`] when a port does not exist or is taken, or the latency is zero.
    pub fn join(&mut self, one: PortId, other: PortId, latency: Cycles) -> Result<(), GraphError> {
        self.check_free(one)?;
        self.check_free(other)?;
        if one == other {
            return Err(GraphError::Taken {
                model: self.name(one).to_string(),
                port: one.port,
            });
        }
        let link = || {
            Link::new(latency).map_err(|reason| GraphError::Link {
                from: self.name(one).to_string(),
                to: self.name(other).to_string(),
                reason,
            })
        };
        let (there, back) = (link()?, link()?);
        let first = self.links.len();
        self.links.extend([there, back]);
        self.nodes[one.model.0].joined[one.port] = Some(Joined {
            outgoing: first,
            incoming: first + 1,
        });
        self.nodes[other.model.0].joined[other.port] = Some(Joined {
            outgoing: first + 1,
            incoming: first,
        });
        self.window = self.window.min(latency);
        Ok(())
    }

    /// The model of that place.
    pub fn model(&self, id: ModelId) -> &M {
        &self.nodes[id.0].model
    }

    /// The model of that place, to be looked at or changed between runs.
    pub fn model_mut(&mut self, id: ModelId) -> &mut M {
        &mut self.nodes[id.0].model
    }

    fn name(&self, port: PortId) -> &str {
        &self.nodes[port.model.0].name
    }

    fn check_free(&self, id: PortId) -> Result<(), GraphError> {
        let node = &self.nodes[id.model.0];
        match node.joined.get(id.port) {
            None => Err(GraphError::NoSuchPort {
                model: node.name.clone(),
                ports: node.joined.len(),
                port: id.port,
            }),
            Some(Some(_)) => Err(GraphError::Taken {
                model: node.name.clone(),
                port: id.port,
            }),
            Some(None) => Ok(()),
        }
    }
}
