//! Legacy interrupts: messages of functions raise and lower four wires at each port, which switches and the root complex
//! join (2.2.8.1).

use crate::class::Class;
use crate::events::PortId;
use crate::fabric::Fabric;
use crate::packet::{Header, Id, Kind};
use crate::pool::PacketId;
use crate::transmitter::Waiting;
use rackwright_time::fabric::Cycle;

/// Wires of a port.
pub(crate) const WIRES: usize = 4;
/// The routing of messages that end at their receiver.
const LOCAL: u8 = 4;
/// The codes of messages that raise and lower the first wire; the others follow.
const RAISE: u8 = 0x20;
const LOWER: u8 = 0x24;

/// An interrupt wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wire(u8);

impl Wire {
    /// That of functions with one interrupt.
    pub(crate) const A: Wire = Wire(0);

    /// The wire above a bridge that is the device `device` of its bus (table 2-20).
    fn above(self, device: usize) -> Wire {
        Wire(((usize::from(self.0) + device) % WIRES) as u8)
    }

    fn bit(self) -> u8 {
        1 << self.0
    }
}

/// The message that a wire is raised, or lowered.
pub(crate) fn message(requester: Id, wire: Wire, raises: bool) -> Header {
    let mut header = Header::new(Kind::Message(LOCAL, false), requester, 0);
    header.request.enables = wire.0 | if raises { RAISE } else { LOWER };
    header
}

/// The wire that a message raises, or lowers; none for another message.
fn wire_of(header: &Header) -> Option<(Wire, bool)> {
    let code = header.request.enables;
    let wire = Wire(code & 3);
    match (header.kind, code & !3) {
        (Kind::Message(LOCAL, false), RAISE) => Some((wire, true)),
        (Kind::Message(LOCAL, false), LOWER) => Some((wire, false)),
        _ => None,
    }
}

/// The raised wires below each port of a switch, or of the root complex, by their bits.
#[derive(Clone, Default, Debug)]
pub(crate) struct Wires(Vec<u8>);

impl Wires {
    fn set(&mut self, port: usize, wire: Wire, raised: bool) {
        if self.0.len() <= port {
            self.0.resize(port + 1, 0);
        }
        let of_port = &mut self.0[port];
        *of_port = if raised {
            *of_port | wire.bit()
        } else {
            *of_port & !wire.bit()
        };
    }

    /// The wires that are raised where these are joined, if a port is the device `device(port)` there.
    fn joined(&self, device: impl Fn(usize) -> usize) -> u8 {
        let mut all = 0;
        for (port, raised) in self.0.iter().enumerate() {
            let raised = (0..WIRES as u8).map(Wire).filter(|wire| raised & wire.bit() != 0);
            all |= raised.fold(0, |bits, wire| bits | wire.above(device(port)).bit());
        }
        all
    }
}

impl Fabric {
    /// Takes a message of a wire at a port that leads downwards; returns whether it was one.
    pub(crate) fn change_wire(
        &mut self,
        now: Cycle,
        id: PortId,
        switch: Option<usize>,
        packet: PacketId,
        header: &Header,
    ) -> bool {
        let number = self.ports.all[id.index()].number;
        let Some((wire, raised)) = wire_of(header) else {
            return false;
        };
        match switch {
            None => self.root.wires.set(number, wire, raised),
            // The upstream port of a switch is nobody's lower end.
            Some(_) if number == 0 => return false,
            Some(switch) => self.pass_on(switch, number, wire, raised),
        }
        self.settle(now, id, packet, header);
        true
    }

    /// A wire below the port `number` of a switch changes: the switch tells of each of its own that changes by it.
    fn pass_on(&mut self, switch: usize, number: usize, wire: Wire, raised: bool) {
        // Downstream ports are devices of the switch's bus from 0 on.
        let device = |port: usize| port.saturating_sub(1);
        let wires = &mut self.switches[switch].wires;
        let before = wires.joined(device);
        wires.set(number, wire, raised);
        let changed = wire.above(device(number));
        if (before ^ wires.joined(device)) & changed.bit() == 0 {
            return;
        }
        let message = message(self.switches[switch].bridges[0].id(), changed, raised);
        let packet = self.pool.take(message);
        let ready = self.now + self.switches[switch].latency;
        let waiting = Waiting::new(packet, &message, ready, None);
        let up = self.ports.of_switches[switch][0];
        self.offer(up, number, waiting, Class::Posted);
    }

    /// The wires that are raised at the root complex, whose ports are devices of its bus from `first` on.
    pub(crate) fn raised(&self, first: u8) -> [bool; WIRES] {
        let raised = self.root.wires.joined(|port| port + usize::from(first));
        std::array::from_fn(|wire| raised >> wire & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_joined_by_the_devices_of_their_ports() {
        let mut wires = Wires::default();
        let device = |port: usize| port;
        wires.set(1, Wire::A, true);
        wires.set(5, Wire::A, true);
        assert_eq!(wires.joined(device), 0b0010);
        wires.set(1, Wire::A, false);
        assert_eq!(wires.joined(device), 0b0010, "the other one is still raised");
        wires.set(5, Wire::A, false);
        wires.set(3, Wire(2), true);
        assert_eq!(wires.joined(device), 0b0010);
        let header = message(Id(0x0100), Wire(2), false);
        assert_eq!((header.request.enables, header.payload_words()), (0x26, 0));
        assert_eq!(wire_of(&header), Some((Wire(2), false)));
    }
}
