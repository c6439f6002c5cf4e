use crate::class::Class;
use crate::credits::{Amount, Credits, MOST};
use crate::error::FabricError;
use crate::function::{DeviceDescription, ModelDescription};
use crate::rate::Rate;
use serde::Deserialize;

/// The description of a server's fabric: a tree below the root complex, as checked by Python.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemDescription {
    /// The root complex.
    pub root: RootDescription,
    /// Switches.
    pub switches: Vec<SwitchDescription>,
    /// Cards.
    pub cards: Vec<CardDescription>,
    /// Links, each from the end nearer to the root.
    pub links: Vec<LinkDescription>,
    /// The longest payload that packets have, in bytes.
    pub payload_bytes: u32,
    /// The longest read request.
    pub read_request_bytes: u32,
}

/// The root complex.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootDescription {
    /// Its name.
    pub name: String,
    /// From a packet's arrival to the request to memory, and from memory to the packet.
    pub latency_ns: f64,
    /// Whether it forwards between its ports.
    pub peer_to_peer: bool,
    /// The longest payload of completions, a multiple of the read completion boundary of 64 bytes.
    pub completion_bytes: u32,
    /// The room behind each of its ports.
    pub credits: CreditDescription,
}

/// A switch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchDescription {
    /// Its name.
    pub name: String,
    /// From the first byte in to the first byte out.
    pub latency_ns: f64,
    /// The room behind each of its ports.
    pub credits: CreditDescription,
}

/// A card.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardDescription {
    /// Its name.
    pub name: String,
    /// Number of its design among those passed to the fabric.
    #[serde(default)]
    pub design: Option<usize>,
    /// The model that it is in place of a design.
    #[serde(default)]
    pub model: Option<ModelDescription>,
    /// The device that it is.
    #[serde(default)]
    pub device: Option<DeviceDescription>,
    /// Bytes of memory beside its design, a power of two from a page on.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
}

/// A link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkDescription {
    /// The end nearer to the root, by name.
    pub above: String,
    /// The other one.
    pub below: String,
    /// Its generation, 1 to 5.
    pub generation: u32,
    /// Its lanes.
    pub lanes: u32,
    /// From the last byte on the wire to the last byte out of the other end's physical layer.
    pub delay_ns: f64,
    /// Room for packets that have not been acknowledged, at each end.
    pub replay_bytes: u64,
}

/// Room for packets: headers and units of 16 bytes of data by class, 0 for no limit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreditDescription {
    /// For posted requests.
    pub posted: [u64; 2],
    /// For other requests.
    pub non_posted: [u64; 2],
    /// For completions.
    pub completion: [u64; 2],
}

impl CreditDescription {
    /// The same as credits.
    ///
    /// # Errors
    /// If the credits to advertise exceed the fields of packets.
    pub(crate) fn credits(&self, owner: &str) -> Result<Credits, FabricError> {
        let of = [self.posted, self.non_posted, self.completion];
        for (class, [headers, data]) in Class::ALL.into_iter().zip(of) {
            if headers > MOST.headers || data > MOST.data {
                let name = class.name();
                return Err(FabricError::Description(format!(
                    "{owner}: {name} credits of {headers} headers and {data} units are more than {} and {}",
                    MOST.headers, MOST.data
                )));
            }
        }
        Ok(Credits::new(of.map(|[headers, data]| Amount { headers, data })))
    }
}

impl SystemDescription {
    /// The rate of the link to a card.
    ///
    /// # Errors
    /// When there is none, or none that can be.
    pub(crate) fn rate_of(&self, card: &str) -> Result<Rate, FabricError> {
        let link = self.links.iter().find(|link| link.below == card);
        let missing = || FabricError::Description(format!("no link leads to the card {card}"));
        link.ok_or_else(missing)?.rate()
    }
}

impl LinkDescription {
    pub(crate) fn rate(&self) -> Result<Rate, FabricError> {
        Rate::new(self.generation, self.lanes).ok_or_else(|| {
            FabricError::Description(format!(
                "the link {} to {}: no link is of generation {} with {} lanes",
                self.above, self.below, self.generation, self.lanes
            ))
        })
    }
}
