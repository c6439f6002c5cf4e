use crate::node::{Node, Peer};
use crate::tap::Tap;
use crate::Model;
use rackwright_link::{Cycle, Cycles, Latency, LinkError};

/// A model's place in its graph: models are numbered in the order in which they were added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelId(pub usize);

/// One port of one model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortId {
    /// The model.
    pub model: ModelId,
    /// Which of its ports.
    pub port: usize,
}

/// The reason why a graph cannot be built or run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// The port does not exist.
    #[error("`{model}` has {ports} ports; there is no port {port}")]
    NoSuchPort {
        /// The model's name.
        model: String,
        /// Its number of ports.
        ports: usize,
        /// The requested port.
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
    #[error("`{from}` to `{to}`: {reason}")]
    Link {
        /// One end.
        from: String,
        /// The other end.
        to: String,
        /// Why not.
        reason: LinkError,
    },
    /// Models would see traffic too late.
    #[error("a window of {window} cycles does not fit the shortest link, which takes {latency} cycles")]
    Window {
        /// The requested window, in cycles of the links.
        window: u64,
        /// The shortest latency.
        latency: u64,
    },
}

/// Models and the links between their ports.
pub struct Graph<M: Model> {
    pub(crate) nodes: Vec<Node<M>>,
    pub(crate) cycle: Cycle<M::Item>,
    pub(crate) threads: usize,
    pub(crate) skip_idle: bool,
    /// The shortest latency of a link.
    shortest: Cycles<M::Item>,
    /// The requested window.
    window: Option<Cycles<M::Item>>,
    /// Number of windows between assignments of models to threads.
    pub(crate) windows_shared: u64,
}

/// The longest window of a graph without links.
const UNLINKED_WINDOW: u64 = 1 << 20;

/// For this number of windows, threads keep their first shares, which have equal numbers of models.
const FIRST_WINDOWS_SHARED: u64 = 32;

impl<M: Model> Default for Graph<M> {
    fn default() -> Self {
        Graph {
            nodes: Vec::new(),
            cycle: Cycle::<M::Item>::ZERO,
            threads: 1,
            skip_idle: true,
            shortest: Cycles::<M::Item>::new(UNLINKED_WINDOW),
            window: None,
            windows_shared: FIRST_WINDOWS_SHARED,
        }
    }
}

impl<M: Model> Graph<M> {
    /// No models.
    pub fn new() -> Graph<M> {
        Graph::default()
    }

    /// Adds a model under a name that errors and reports use. Threads get models that were added one
    /// after another, so that neighbours are best added together.
    pub fn add(&mut self, name: impl Into<String>, model: M) -> ModelId {
        self.nodes.push(Node::new(name.into(), model));
        ModelId(self.nodes.len() - 1)
    }

    /// Joins two ports in both directions, with one latency.
    ///
    /// # Errors
    /// [`GraphError`] when a port does not exist or is taken, or the latency is zero.
    pub fn join(&mut self, one: PortId, other: PortId, latency: Cycles<M::Item>) -> Result<(), GraphError> {
        self.check_free(one)?;
        self.check_free(other)?;
        if one == other {
            return Err(self.taken(one));
        }
        let latency = Latency::new(latency).map_err(|reason| GraphError::Link {
            from: self.name(one).to_string(),
            to: self.name(other).to_string(),
            reason,
        })?;
        for (here, there) in [(one, other), (other, one)] {
            self.nodes[here.model.0].ports[here.port].peer = Some(Peer {
                node: there.model.0 as u32,
                port: there.port as u32,
                latency,
                cut_through: self.nodes[there.model.0].model.cut_through(),
            });
        }
        self.shortest = self.shortest.min(latency.cycles());
        Ok(())
    }

    /// Uses this number of threads (at least one) from now on. The result does not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Whether models without events are skipped, which is the default. Switching it off only serves to show that the
    /// result does not depend on it.
    pub fn set_skip_idle(&mut self, skip_idle: bool) {
        self.skip_idle = skip_idle;
    }

    /// Advances by windows of that length instead of the longest possible one. The result does not depend on it.
    ///
    /// # Errors
    /// [`GraphError::Window`] when it is zero or longer than the shortest latency.
    pub fn set_window(&mut self, window: Cycles<M::Item>) -> Result<(), GraphError> {
        if window.0 == 0 || window > self.shortest {
            return Err(GraphError::Window {
                window: window.0,
                latency: self.shortest.0,
            });
        }
        self.window = Some(window);
        Ok(())
    }

    /// Number of cycles by which models may advance before they exchange traffic.
    pub fn window(&self) -> Cycles<M::Item> {
        self.window.unwrap_or(self.shortest).min(self.shortest)
    }

    /// From now on, records the items that pass a port; see [`Graph::take_tapped`].
    ///
    /// # Errors
    /// [`GraphError::NoSuchPort`].
    pub fn tap(&mut self, id: PortId) -> Result<(), GraphError> {
        self.check_exists(id)?;
        let node = &mut self.nodes[id.model.0];
        let ports = node.ports.len();
        node.tap
            .get_or_insert_with(|| Tap::new(id.model.0, ports))
            .listen(id.port);
        Ok(())
    }

    /// Number of models.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no models.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The model with this identifier.
    pub fn model(&self, id: ModelId) -> &M {
        &self.nodes[id.0].model
    }

    /// The model with this identifier, for settings that do not change its behaviour.
    pub fn model_mut(&mut self, id: ModelId) -> &mut M {
        &mut self.nodes[id.0].model
    }

    fn name(&self, port: PortId) -> &str {
        &self.nodes[port.model.0].name
    }

    fn check_exists(&self, id: PortId) -> Result<(), GraphError> {
        let node = &self.nodes[id.model.0];
        if id.port < node.ports.len() {
            return Ok(());
        }
        Err(GraphError::NoSuchPort {
            model: node.name.clone(),
            ports: node.ports.len(),
            port: id.port,
        })
    }

    fn check_free(&self, id: PortId) -> Result<(), GraphError> {
        self.check_exists(id)?;
        match self.nodes[id.model.0].ports[id.port].peer {
            Some(_) => Err(self.taken(id)),
            None => Ok(()),
        }
    }

    fn taken(&self, id: PortId) -> GraphError {
        GraphError::Taken {
            model: self.name(id).to_string(),
            port: id.port,
        }
    }
}
