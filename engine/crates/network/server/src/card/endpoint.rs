use super::registers::place;
use super::{write, Card, Read};
use rackwright_contract::{Ticket, Tickets};
use rackwright_device::{
    network_header, Endpoint, Header, Ram, Register, RestoreError, CROSSING_LATENCY, NO_VECTOR,
    WINDOW_CAPABILITY,
};
use rackwright_registers::virtio;
use rackwright_rtl::RegisterAccess;
use rackwright_time::Cycle;

/// The card as an endpoint of the server's PCI bus.
impl Endpoint for Card {
    fn header(&self) -> Header {
        network_header()
    }

    fn window(&self) -> Option<usize> {
        Some(WINDOW_CAPABILITY)
    }

    /// Accesses that take no time: there are no interrupt vectors.
    fn read(&mut self, bar: usize, offset: u64, bytes: u8) -> Option<u64> {
        let register = Register::at(offset, bytes).filter(|_| bar == 0)?;
        matches!(register, Register::ConfigurationVector | Register::RingVector).then_some(NO_VECTOR)
    }

    fn ask(
        &mut self,
        bar: usize,
        offset: u64,
        bytes: u8,
        now: Cycle,
        tickets: &mut Tickets,
    ) -> Option<Ticket> {
        let register = Register::at(offset, bytes).filter(|_| bar == 0);
        let (address, shift) = register.and_then(place)?;
        let mut state = self.state();
        let at = state.to_card.seen(now + CROSSING_LATENCY).max(state.unit.cycle());
        let ticket = tickets.next_ticket();
        state.registers.reads.push_back(Read {
            ticket,
            at,
            shift,
            bytes,
        });
        state.access(RegisterAccess {
            due: at.0,
            data: 0,
            address,
            write: 0,
        });
        Some(ticket)
    }

    fn answered(&mut self, ticket: Ticket, ram: &mut Ram<'_>) -> Option<(u64, Cycle)> {
        self.state().answered(ticket, ram.memory())
    }

    fn write(&mut self, bar: usize, offset: u64, bytes: u8, value: u64, now: Cycle) {
        let register = Register::at(offset, bytes).filter(|_| bar == 0);
        let (address, value) = match register {
            // The position selects the ring.
            Some(Register::Notify(ring)) => (virtio::NOTIFICATION.offset, ring as u64),
            Some(Register::Device(_)) | None => return,
            Some(register) => match place(register) {
                Some((address, _)) => (address, value),
                None => return,
            },
        };
        let mut state = self.state();
        let due = state.to_card.seen(now + CROSSING_LATENCY);
        state.access(write(due, address, value));
    }

    fn interrupts(&self) -> bool {
        self.state().raised
    }

    fn next_event(&self) -> Cycle {
        let state = self.state();
        if state.changed {
            return Cycle::ZERO;
        }
        let next = state.next_event().min(state.next_exchange());
        state.to_hart.seen(next)
    }

    fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle) {
        let mut state = self.state();
        let until = state.to_card.before(now);
        state.advance_to(ram.memory(), until);
        state.changed = false;
        if until >= state.next_exchange() {
            state.exchange(until);
        }
    }

    fn rest(&mut self, now: Cycle, until: Cycle) {
        let mut state = self.state();
        if state.host.is_some() {
            let [now, until] = [now, until].map(|cycle| state.to_card.before(cycle));
            state.rest(now, until);
        }
    }

    fn failure(&self) -> Option<String> {
        self.check().err().map(|error| error.to_string())
    }

    fn errors(&self) -> u64 {
        self.events().get("virtio_errors").unwrap_or(0)
    }

    /// Its digest: its registers and buffers are in the RTL, whose state cannot be read.
    fn save(&self) -> Vec<u8> {
        self.digest().value().to_le_bytes().to_vec()
    }

    /// The state of the card itself is restored before that of the bus to which it is attached.
    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        if self.save() == state {
            return Ok(());
        }
        Err(RestoreError {
            device: "network card",
        })
    }
}
