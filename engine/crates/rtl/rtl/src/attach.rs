use serde::Deserialize;
use std::fmt;

/// Where a unit may be attached. Alone, on a bench, every unit can be.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Attach {
    /// Beside a hart or a card's window, which sends it commands or accesses its registers.
    Hart,
    /// Beside a machine's harts, all of which send it commands.
    Machine,
    /// On a link between harts and network, where page walks that find a remote page send it requests.
    Walk,
    /// On a link of a network, as the NIC of a server.
    Link,
    /// In a switch of a network, which queries it for the destinations of frames.
    Switch,
    /// On a link of PCI Express, as a function that sends and receives packets itself.
    Card,
}

impl Attach {
    /// The name used in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Attach::Hart => "hart",
            Attach::Machine => "machine",
            Attach::Walk => "walk",
            Attach::Link => "link",
            Attach::Switch => "switch",
            Attach::Card => "card",
        }
    }
}

impl fmt::Display for Attach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Attach::Hart => "beside a hart",
            Attach::Machine => "beside all harts of a machine",
            Attach::Walk => "where walks ask it",
            Attach::Link => "on a link of a network",
            Attach::Switch => "in a switch",
            Attach::Card => "on a link of PCI Express",
        })
    }
}
