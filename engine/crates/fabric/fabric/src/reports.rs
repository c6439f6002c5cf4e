//! Errors on their way from where they are detected to the registers of the root port.

use crate::aer::{Fault, Severity};
use crate::class::Class;
use crate::codec::words_of;
use crate::events::PortId;
use crate::fabric::Fabric;
use crate::packet::{Header, Id, Kind};
use crate::pool::PacketId;
use crate::port::Place;
use crate::transmitter::Waiting;
use rackwright_time::fabric::Cycle;

/// The routing of messages to the root complex.
pub(crate) const TO_ROOT: u8 = 0;

impl Fabric {
    /// Has the bridge of a port of a switch or of the root complex keep an error, and tell the root complex if it is to.
    pub(crate) fn report(&mut self, id: PortId, fault: Fault, header: &Header) {
        let advisory = fault.is_advisory(header.kind.class());
        self.report_as(id, fault, header, advisory);
    }

    /// A packet with data that are known to be wrong passes a port: its receiver will report it (6.2.3.2.4.3).
    pub(crate) fn report_passing(&mut self, id: PortId, header: &Header) {
        self.report_as(id, Fault::Poisoned, header, true);
    }

    fn report_as(&mut self, id: PortId, fault: Fault, header: &Header, advisory: bool) {
        let port = &self.ports.all[id.index()];
        let number = port.number;
        match port.place {
            Place::Card(_) => {}
            Place::Root => {
                let bridge = &mut self.root.bridges[number];
                if let Some(severity) = bridge.note(fault, words_of(header), advisory) {
                    let source = bridge.id();
                    self.tell(number, severity, source);
                }
            }
            Place::Switch(switch) => {
                let bridge = &mut self.switches[switch].bridges[number];
                if let Some(severity) = bridge.note(fault, words_of(header), advisory) {
                    let source = bridge.id();
                    self.signal(switch, number, source, severity);
                }
            }
        }
    }

    /// The root port of a number is told of an error.
    fn tell(&mut self, number: usize, severity: Severity, source: Id) {
        self.root.bridges[number].errors.tell(severity, source.0);
        self.interrupt(number);
    }

    /// Has a root port interrupt if its registers say so: its message does not cross a link.
    pub(crate) fn interrupt(&mut self, number: usize) {
        let Some((address, data)) = self.root.bridges[number].interrupt() else {
            return;
        };
        if self.host.interrupt(address, data) {
            self.interrupts += 1;
        } else {
            self.rejected.unsupported += 1;
        }
    }

    /// Whether a switch passes messages on that come through this port.
    pub(crate) fn forwards_errors(&self, switch: usize, number: usize) -> bool {
        number == 0 || self.switches[switch].bridges[number].forwards_errors()
    }

    /// A port of a switch sends a message of an error to the root complex (2.2.8.3).
    fn signal(&mut self, switch: usize, number: usize, source: Id, severity: Severity) {
        let mut message = Header::new(Kind::Message(TO_ROOT, false), source, 0);
        message.request.enables = severity.code();
        let packet = self.pool.take(message);
        let ready = self.now + self.switches[switch].latency;
        let waiting = Waiting::new(packet, &message, ready, None);
        let up = self.ports.of_switches[switch][0];
        self.offer(up, number, waiting, Class::Posted);
    }

    /// The root complex gets a message: of an error, its root port keeps who sent it.
    pub(crate) fn message(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header) {
        let number = self.ports.all[id.index()].number;
        let Some(severity) = Severity::of_code(header.request.enables) else {
            return self.refuse(now, id, packet, header);
        };
        if self.root.bridges[number].forwards_errors() {
            self.tell(number, severity, header.requester);
        }
        self.settle(now, id, packet, header);
    }
}
