use crate::bridge::{Bridge, BridgeKind};
use crate::clocks::nanoseconds;
use crate::credits::Credits;
use crate::error::FabricError;
use crate::events::PortId;
use crate::port::{Awaited, Place, Port};
use crate::receiver::Receiver;
use crate::system::{LinkDescription, SystemDescription};
use crate::transmitter::Transmitter;
use std::collections::VecDeque;

/// The ports of a fabric, and which of them are whose, in the order of the links.
pub(crate) struct Ports {
    pub(crate) all: Vec<Port>,
    pub(crate) of_root: Vec<PortId>,
    /// By switch; the first leads to the root.
    pub(crate) of_switches: Vec<Vec<PortId>>,
    pub(crate) of_cards: Vec<PortId>,
}

impl Ports {
    /// The links of a description.
    ///
    /// # Errors
    /// [`FabricError::Description`] for links between parts that do not exist.
    pub(crate) fn new(system: &SystemDescription, of_cards: &[Credits]) -> Result<Ports, FabricError> {
        let mut ports = Ports {
            all: Vec::new(),
            of_root: Vec::new(),
            of_switches: vec![Vec::new(); system.switches.len()],
            of_cards: vec![PortId(u16::MAX); system.cards.len()],
        };
        // The first port of a switch is that to the root, whichever of its links was described first.
        let mut links: Vec<_> = system.links.iter().collect();
        links.sort_by_key(|link| depth(system, &link.below));
        for link in links {
            let (above, below) = (place(system, &link.above)?, place(system, &link.below)?);
            let first = ports.all.len() as u16;
            ports.add((system, of_cards), link, above, PortId(first + 1))?;
            ports.add((system, of_cards), link, below, PortId(first))?;
        }
        ports.connect();
        Ok(ports)
    }

    fn add(
        &mut self,
        (system, of_cards): (&SystemDescription, &[Credits]),
        link: &LinkDescription,
        place: Place,
        other: PortId,
    ) -> Result<(), FabricError> {
        let is_above = other.index() > self.all.len();
        let ends = (&link.above, &link.below);
        let (own, other_name) = if is_above { ends } else { (ends.1, ends.0) };
        let id = PortId(self.all.len() as u16);
        let (number, room) = match place {
            Place::Root => {
                self.of_root.push(id);
                (self.of_root.len() - 1, system.root.credits.credits(own)?)
            }
            Place::Switch(switch) => {
                let ports = &mut self.of_switches[switch];
                ports.push(id);
                (ports.len() - 1, system.switches[switch].credits.credits(own)?)
            }
            Place::Card(card) => {
                self.of_cards[card] = id;
                (0, of_cards[card])
            }
        };
        let rate = link.rate()?;
        self.all.push(Port {
            name: format!("{own}->{other_name}"),
            place,
            number,
            other,
            rate,
            delay: nanoseconds(link.delay_ns),
            limit: rate.latency_limit(system.payload_bytes),
            transmitter: Transmitter::new(link.replay_bytes),
            receiver: Receiver::new(room, system.payload_bytes),
            room,
            link_packets: VecDeque::new(),
            coming: VecDeque::new(),
            awaited: Awaited::default(),
            overflows: 0,
        });
        Ok(())
    }

    /// The bridges of the ports of the root complex, or of a switch, whose first port leads to the root.
    pub(crate) fn bridges(&self, of: &[PortId], switch: bool) -> Vec<Bridge> {
        let bridge = |(number, port): (usize, &PortId)| {
            let kind = match (switch, number) {
                (false, _) => BridgeKind::RootPort,
                (true, 0) => BridgeKind::Upstream,
                (true, _) => BridgeKind::Downstream,
            };
            Bridge::new(kind, number, self.all[port.index()].rate)
        };
        of.iter().enumerate().map(bridge).collect()
    }

    /// Creates a source in each port for each port of its place, and at the root one for the host, and sets the credits
    /// of its other end.
    fn connect(&mut self) {
        for port in 0..self.all.len() {
            let sources = match self.all[port].place {
                Place::Root => self.of_root.len() + 1,
                Place::Switch(switch) => self.of_switches[switch].len(),
                Place::Card(_) => 1,
            };
            let room = self.all[self.all[port].other.index()].room;
            let transmitter = &mut self.all[port].transmitter;
            transmitter.add_sources(sources);
            transmitter.begin(room);
        }
    }
}

/// Number of links between the root and the part with this name.
fn depth(system: &SystemDescription, name: &str) -> usize {
    let mut depth = 0;
    let mut below = name;
    while let Some(link) = system.links.iter().find(|link| link.below == below) {
        depth += 1;
        below = &link.above;
        if depth > system.links.len() {
            break;
        }
    }
    depth
}

fn place(system: &SystemDescription, name: &str) -> Result<Place, FabricError> {
    if system.root.name == name {
        return Ok(Place::Root);
    }
    let switch = system.switches.iter().position(|switch| switch.name == name);
    let card = system.cards.iter().position(|card| card.name == name);
    match (switch, card) {
        (Some(switch), _) => Ok(Place::Switch(switch)),
        (_, Some(card)) => Ok(Place::Card(card)),
        _ => Err(FabricError::Description(format!(
            "a link leads to {name}, which is not there"
        ))),
    }
}
