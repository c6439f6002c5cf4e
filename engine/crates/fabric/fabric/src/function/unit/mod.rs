//! A unit in RTL behind the model of a function: accesses to the first window are accesses to its registers, and
//! requests of its memory ports cross the fabric as packets.
//!
//! Its responses have the latency of the fabric: to a read when its completion arrives, to a write when its packet
//! leaves. Posted packets are never passed, so that a requester that observes a later write, or reads, finds the data
//! (2.4.1).

mod ports;
mod reads;
mod wire;
mod writes;

use super::configuration::{Configuration, Identity};
use super::target::{Request, Served, Target};
use super::transmitter::{Offers, Transmitter};
use super::{stopped, word_of, Given, BEAT, FIRST_CYCLES, NEVER, PAYLOAD};
use crate::class::Class;
use crate::clocks::Edges;
use crate::credits::{Amount, Credits};
use crate::error::FabricError;
use crate::packet::Kind;
use crate::pool::Packet;
use crate::rate::Rate;
use rackwright_rtl::{Design, Instance, MemoryResponse, RegisterAccess};
use rackwright_time::unit::Cycle;
use reads::Reads;
use wire::Wire;
use writes::Writes;

/// The vendor's number is that of `traffic`; one window, the registers.
const IDENTITY: Identity = Identity {
    numbers: 0x0002_5257,
    windows: &[12],
    vectors: 0,
};
/// Requests of others that it holds, of each class.
const REQUESTS: u64 = 32;
/// Cycles for which the unit and the function run separately: the function's own responses take at least as long.
const WINDOW: u64 = 4;
/// From the answer of a register to its completion.
const REGISTER: u64 = 2;

/// A unit of ours on a card.
pub(crate) struct Unit {
    instance: Instance,
    /// The unit's `idle` output is high.
    rests: bool,
    configuration: Configuration,
    target: Target,
    reads: Reads,
    writes: Writes,
    transmitter: Transmitter,
    wire: Wire,
    /// Requests that were refused, and unexpected completions.
    refused: u64,
    unexpected: u64,
    /// Reads that timed out.
    timeouts: u64,
}

impl Unit {
    /// A function just after reset, on a link of that rate.
    ///
    /// # Errors
    /// [`FabricError`] when the design has ports that lead nowhere on a card.
    pub(crate) fn new(card: &str, design: &Design, edges: Edges, rate: Rate) -> Result<Unit, FabricError> {
        let widths = ports::widths(card, &design.manifest)?;
        let mut instance = Instance::new(design, None)?;
        let step = instance.step(FIRST_CYCLES);
        let rests = step.idle;
        if let Some(broken) = step.broken {
            return Err(stopped(card, broken));
        }
        Ok(Unit {
            instance,
            rests,
            configuration: Configuration::new(IDENTITY),
            target: Target::default(),
            reads: Reads::new(&widths),
            writes: Writes::new(&widths),
            transmitter: Transmitter::default(),
            wire: Wire::new(edges, rate),
            refused: 0,
            unexpected: 0,
            timeouts: 0,
        })
    }

    pub(super) fn credits(&self) -> Credits {
        super::credits(REQUESTS)
    }

    pub(super) fn cycle(&self) -> Cycle {
        self.instance.cycle()
    }

    /// Whether it is inactive until it receives input.
    pub(super) fn is_idle(&self) -> bool {
        self.rests && self.target.is_idle() && self.reads.is_idle() && self.writes.is_idle()
    }

    pub(super) fn events(&self) -> Vec<(String, u64)> {
        let own = [
            ("dma_reads", self.reads.packets),
            ("dma_writes", self.writes.packets),
            ("unsupported_requests", self.refused),
            ("unexpected_completions", self.unexpected),
            ("completion_timeouts", self.timeouts),
        ];
        let names = self.instance.design().manifest.events().enumerate();
        let of_unit = names.map(|(index, name)| (name.to_string(), self.instance.event(index)));
        let of_function = own.map(|(name, count)| (name.to_string(), count));
        of_unit.chain(of_function).collect()
    }

    pub(super) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        self.transmitter.grant(cycle.0, initial, class, limit);
    }

    pub(super) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        let Unit { instance, reads, .. } = self;
        let header = packet.header;
        if let Kind::Completion(_) = header.kind {
            let respond = |response: &MemoryResponse| instance.respond(response);
            if !reads.arrive(cycle.0, &header, &packet.data, respond) {
                self.unexpected += 1;
            }
            self.rests = false;
            return;
        }
        let beats = (packet.data.len() as u64).div_ceil(BEAT);
        self.target.arrive(Request {
            header,
            data: packet.data.chunks(8).next().map_or(0, word_of),
            ready: cycle.0 + beats + 1,
        });
    }

    pub(super) fn advance(
        &mut self,
        end: Cycle,
        card: &str,
        mut give: impl FnMut(Cycle, Given<'_>),
    ) -> Result<(), FabricError> {
        let give = &mut |cycle, given: Given<'_>| give(Cycle::new(cycle), given);
        while self.instance.cycle() < end {
            let now = self.instance.cycle().0;
            let due = self.due().max(now);
            let until = if self.rests && due > now {
                due.min(end.0)
            } else {
                (now + WINDOW).min(end.0)
            };
            self.serve(until, give);
            self.give_up(until);
            self.step(Cycle::new(until), card)?;
            self.transmit(now, give);
        }
        Ok(())
    }

    /// Time of the function's next event.
    fn due(&self) -> u64 {
        let makes = self.reads.due(&self.configuration).min(self.writes.due());
        let sends = self.transmitter.due(&self.offers());
        let dma = if self.configuration.is_master() {
            makes
        } else {
            NEVER
        };
        let given_up = self.reads.times_out();
        dma.min(sends).min(self.target.due()).min(given_up)
    }

    /// Executes the request for it that is due before `until`, if there is one.
    fn serve(&mut self, until: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        let now = self.target.due();
        if now >= until {
            return;
        }
        match self.target.step(now, &mut self.configuration, give) {
            Served::Configuration => {}
            Served::Refused => self.refused += 1,
            Served::Table(..) => unreachable!("it has no messages"),
            Served::Register(offset, written) => {
                self.instance.register_access(RegisterAccess {
                    due: now,
                    data: written.unwrap_or(0),
                    address: offset as u32,
                    write: u8::from(written.is_some()),
                });
                self.rests = false;
            }
        }
    }

    /// Ends reads that have timed out before `until`.
    fn give_up(&mut self, until: u64) {
        let Unit { instance, reads, .. } = self;
        while reads.times_out() < until {
            let now = reads.times_out().max(instance.cycle().0);
            reads.time_out(now, |response| instance.respond(response));
            self.timeouts += 1;
            self.rests = false;
        }
    }

    /// Runs the unit to `until`, or to the response of a register, and takes its requests.
    fn step(&mut self, until: Cycle, card: &str) -> Result<(), FabricError> {
        let step = self.instance.step(until);
        self.rests = step.idle;
        if let Some(broken) = step.broken {
            return Err(stopped(card, broken));
        }
        for answer in step.register_answers {
            self.target
                .answered(answer.cycle + REGISTER, answer.data, &self.configuration);
        }
        for request in self.instance.requests() {
            if request.is_write() {
                self.writes.ask(request);
            } else {
                self.reads.ask(request);
            }
        }
        Ok(())
    }

    /// Generates and sends packets, from the cycle `from` on up to the unit's time.
    fn transmit(&mut self, from: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        let end = self.instance.cycle().0;
        loop {
            let offers = self.offers();
            let reads = self.reads.due(&self.configuration);
            let writes = self.writes.due();
            let master = self.configuration.is_master();
            let makes = if master { reads.min(writes) } else { NEVER };
            let now = makes.min(self.transmitter.due(&offers)).max(from);
            if now >= end {
                return;
            }
            if master && reads <= now {
                self.reads.make(now, &self.configuration);
            }
            if master && writes <= now {
                let most = self.configuration.payload().min(PAYLOAD);
                self.writes.make(now, most);
            }
            self.send(now, &offers, give);
        }
    }

    /// Sends the next packet of those that are ready, if one may leave.
    fn send(&mut self, now: u64, offers: &Offers, give: &mut impl FnMut(u64, Given<'_>)) {
        let Some(class) = self.transmitter.choose(now, offers) else {
            return;
        };
        let Unit { instance, wire, .. } = self;
        let id = self.configuration.id;
        let respond = |response: &MemoryResponse| instance.respond(response);
        let (last, bytes) = match class {
            Class::Posted => {
                self.rests = false;
                self.writes.leave(now, id, give, respond)
            }
            Class::NonPosted => self.reads.leave(now, id, give),
            Class::Completion => {
                let bytes = self.target.bytes();
                (self.target.leave(now, give), bytes)
            }
        };
        self.transmitter.sent(wire.take(last, bytes));
    }

    /// Packets ready to leave, by class.
    fn offers(&self) -> Offers {
        [self.writes.ready(), self.reads.ready(), self.target.ready()]
    }
}
