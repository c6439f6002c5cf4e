use rackwright_ethernet::{Frame, OutputPort, PortParameters};
use rackwright_schedule::Model;
use rackwright_time::Clock;
use rackwright_traffic::Peer;
use serde_json::Value;
use std::collections::BTreeMap;

/// A node of a kind that this crate does not know: one with a port and the addresses of a server.
pub trait OwnNode: Model<Item = Frame> + Sync {
    /// Its port.
    fn output_port(&self) -> &OutputPort;
}

/// The parameters of a node of such a kind.
pub struct OwnStart<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its addresses.
    pub peer: &'a Peer,
    /// Its port.
    pub port: PortParameters,
    /// The clock of the network.
    pub clock: Clock,
    /// The further settings in its description.
    pub settings: &'a Value,
}

/// Builds nodes of a kind; the text describes an error in their settings.
pub type MakeNode = Box<dyn Fn(&OwnStart<'_>) -> Result<Box<dyn OwnNode>, String>>;

/// Kinds of nodes in addition to those of this crate, by their names.
#[derive(Default)]
pub struct Kinds {
    kinds: BTreeMap<String, MakeNode>,
}

impl Kinds {
    /// Adds a kind, in place of one that has its name.
    pub fn add(&mut self, name: impl Into<String>, make: MakeNode) {
        self.kinds.insert(name.into(), make);
    }

    /// The function that builds nodes of the kind `name`.
    pub(crate) fn find(&self, name: &str) -> Option<&MakeNode> {
        self.kinds.get(name)
    }
}
