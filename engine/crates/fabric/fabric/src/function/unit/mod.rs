//! A unit in RTL behind the model of a function: accesses to the first window are accesses to its registers, and
//! requests of its memory ports cross the fabric as packets.
//!
//! Its responses have the latency of the fabric: to a read when its completion arrives, to a write when its packet
//! leaves. Posted packets are never passed, so that a requester that observes a later write, or reads, finds the data
//! (2.4.1). A unit's interrupt is the function's legacy interrupt; its messages follow the writes before them.

mod clocked;
mod interrupt;
mod ports;
mod reads;
mod wire;
mod writes;

use super::configuration::{Configuration, Identity};
use super::registers::Registers;
use super::target::{Request, Served, Target};
use super::transmitter::{Offers, Transmitter};
use super::{stopped, word_of, Given, BEAT, NEVER, PAYLOAD};
use crate::class::Class;
use crate::clocks::Edges;
use crate::credits::{Amount, Credits};
use crate::error::FabricError;
use crate::packet::Kind;
use crate::pool::Packet;
use crate::rate::Rate;
use clocked::Clocked;
use interrupt::Interrupt;
use rackwright_rtl::{Design, Manifest, MemoryResponse, RegisterAccess};
use rackwright_time::unit::Cycle;
use reads::Reads;
use wire::Wire;
use writes::Writes;

/// The vendor's number is that of `traffic`.
const NUMBERS: u32 = 0x0002_5257;
/// Requests of others that it holds, of each class.
const REQUESTS: u64 = 32;
/// Cycles for which the unit and the function run separately: the function's own responses take at least as long.
const WINDOW: u64 = 4;
/// From the answer of a register to its completion.
const REGISTER: u64 = 2;

/// A unit on a card.
pub(crate) struct Unit {
    unit: Clocked,
    interrupt: Interrupt,
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
        let manifest = &design.manifest;
        let widths = ports::widths(card, manifest)?;
        let bus = manifest.bus_registers();
        let registers = bus.map_or(Registers::OURS, |bus| Registers::of(&bus));
        Ok(Unit {
            unit: Clocked::new(card, design)?,
            interrupt: Interrupt::default(),
            configuration: Configuration::new(identity(manifest, registers)),
            target: Target::new(registers),
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
        Cycle::new(self.unit.cycle())
    }

    /// Whether it is inactive until it receives input.
    pub(super) fn is_idle(&self) -> bool {
        self.unit.rests()
            && self.target.is_idle()
            && self.reads.is_idle()
            && self.writes.is_idle()
            && self.interrupt.is_idle()
    }

    pub(super) fn events(&self) -> Vec<(String, u64)> {
        let own = [
            ("dma_reads", self.reads.packets),
            ("dma_writes", self.writes.packets),
            ("unsupported_requests", self.refused),
            ("unexpected_completions", self.unexpected),
            ("completion_timeouts", self.timeouts),
        ];
        let of_function = own.map(|(name, count)| (name.to_string(), count));
        self.unit.events().chain(of_function).collect()
    }

    pub(super) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        self.transmitter.grant(cycle.0, initial, class, limit);
    }

    pub(super) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        let Unit { unit, reads, .. } = self;
        let header = packet.header;
        if let Kind::Completion(_) = header.kind {
            let respond = |response: &MemoryResponse| unit.respond(response);
            if !reads.arrive(cycle.0, &header, &packet.data, respond) {
                self.unexpected += 1;
            }
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
        while self.cycle() < end {
            let now = self.unit.cycle();
            let due = self.due().max(now);
            let until = if self.unit.rests() && due > now {
                due.min(end.0)
            } else {
                (now + WINDOW).min(end.0)
            };
            self.serve(until, give);
            self.give_up(until);
            self.step(until, card)?;
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
            Served::Configuration => {
                let permitted = self.configuration.may_interrupt();
                self.interrupt.permit(now, permitted);
                if self.configuration.is_memory_enabled() {
                    self.unit.start();
                }
            }
            Served::Refused => self.refused += 1,
            Served::Table(..) => unreachable!("it has no messages"),
            Served::Register(access) => {
                let mask = (1_u32 << access.bytes) - 1;
                self.unit.register_access(RegisterAccess {
                    due: now,
                    data: access.written.unwrap_or(0),
                    address: access.offset as u32,
                    write: access.written.map_or(0, |_| mask as u8),
                });
            }
        }
    }

    /// Ends reads that have timed out before `until`.
    fn give_up(&mut self, until: u64) {
        let Unit { unit, reads, .. } = self;
        while reads.times_out() < until {
            let now = reads.times_out().max(unit.cycle());
            reads.time_out(now, |response| unit.respond(response));
            self.timeouts += 1;
        }
    }

    /// Runs the unit to `until`, or to the response of a register, and takes its requests and the changes of its
    /// interrupt.
    fn step(&mut self, until: u64, card: &str) -> Result<(), FabricError> {
        if self.unit.pass(until) {
            return Ok(());
        }
        let held = self.unit.outside(0);
        let step = self.unit.step(until);
        if let Some(broken) = step.broken {
            return Err(stopped(card, broken));
        }
        for answer in step.register_answers {
            let ready = held + answer.cycle + REGISTER;
            self.target.answered(ready, answer.data, &self.configuration);
        }
        for change in step.interrupts {
            self.configuration.raised = change.level != 0;
            let permitted = self.configuration.may_interrupt();
            self.interrupt
                .change(held + change.cycle, change.level != 0, permitted);
        }
        for request in self.unit.requests() {
            if request.is_write() {
                self.writes.ask(&request);
            } else {
                self.reads.ask(&request);
            }
        }
        Ok(())
    }

    /// Generates and sends packets, from the cycle `from` on up to the unit's time.
    fn transmit(&mut self, from: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        let end = self.unit.cycle();
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
                let most = self.configuration.allowed().payload().min(PAYLOAD);
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
        let id = self.configuration.id;
        let is_message = self.sends_message();
        let Unit { unit, wire, .. } = self;
        let respond = |response: &MemoryResponse| unit.respond(response);
        let (last, bytes) = match class {
            Class::Posted if is_message => self.interrupt.leave(now, id, give),
            Class::Posted => self.writes.leave(now, id, give, respond),
            Class::NonPosted => self.reads.leave(now, id, give),
            Class::Completion => {
                let bytes = self.target.bytes();
                (self.target.leave(now, give), bytes)
            }
        };
        self.transmitter.sent(wire.take(last, bytes));
    }

    /// Whether the next posted packet is a message of the interrupt, which follows the writes asked for before it.
    fn sends_message(&self) -> bool {
        let (ready, _) = self.interrupt.ready();
        ready != NEVER && ready <= self.writes.oldest()
    }

    /// Packets ready to leave, by class.
    fn offers(&self) -> Offers {
        let message = self.interrupt.ready();
        let posted = if self.sends_message() {
            message
        } else {
            self.writes.ready()
        };
        // Software that has disabled the interrupt, or whose access has lowered it, finds it low.
        let completion = self.target.ready();
        let completion = if message.0 <= completion.0 {
            (NEVER, 0)
        } else {
            completion
        };
        [posted, self.reads.ready(), completion]
    }
}

/// The identity of a unit's function: its registers are in one window.
fn identity(manifest: &Manifest, registers: Registers) -> Identity {
    Identity {
        numbers: NUMBERS,
        windows: [registers.window(), 0],
        vectors: 0,
        interrupts: manifest.has_interrupt(),
    }
}
