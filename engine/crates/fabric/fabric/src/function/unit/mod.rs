//! A unit in RTL behind the model of a function: accesses to the first window are accesses to its registers, and
//! requests of its memory ports cross the fabric as packets. Memory of the card is behind the second window, also for the
//! unit itself.
//!
//! Its responses have the latency of the fabric: to a read when its completion arrives, to a write when its packet
//! leaves. Posted packets are never passed, so that a requester that observes a later write, or reads, finds the data
//! (2.4.1). A unit's interrupt is the function's legacy interrupt; its messages follow the writes before them.

mod clocked;
mod interrupt;
mod memory;
mod ports;
mod reads;
mod wire;
mod writes;

use super::configuration::{Configuration, Identity};
use super::error_messages::ErrorMessages;
use super::registers::Registers;
use super::target::{Request, Served, Target};
use super::transmitter::{Offers, Transmitter};
use super::{stopped, Given, BEAT, NEVER, PAYLOAD};
use crate::aer::Fault;
use crate::class::Class;
use crate::clocks::Edges;
use crate::credits::{Amount, Credits};
use crate::error::FabricError;
use crate::packet::{Header, Kind};
use crate::pool::Packet;
use crate::rate::Rate;
use clocked::Clocked;
use interrupt::Interrupt;
use memory::OwnMemory;
use rackwright_rtl::{Design, Manifest, MemoryResponse, RegisterAccess};
use rackwright_time::unit::Cycle;
use rackwright_time::Clock;
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
    memory: Option<OwnMemory>,
    reads: Reads,
    writes: Writes,
    errors: ErrorMessages,
    transmitter: Transmitter,
    wire: Wire,
    /// Requests that were refused, and unexpected completions.
    refused: u64,
    unexpected: u64,
    /// Reads that timed out.
    timeouts: u64,
}

impl Unit {
    /// A function just after reset, on a link of that rate; on a card with `own` bytes of memory, if it has any.
    ///
    /// # Errors
    /// [`FabricError`] when the design has ports that lead nowhere on a card, or the memory cannot be reserved.
    pub(crate) fn new(
        card: &str,
        design: &Design,
        (edges, rate): (Edges, Rate),
        own: Option<u64>,
    ) -> Result<Unit, FabricError> {
        let manifest = &design.manifest;
        let widths = ports::widths(card, manifest)?;
        let bus = manifest.bus_registers();
        let registers = bus.map_or(Registers::OURS, |bus| Registers::of(&bus));
        let clock = Clock::new(manifest.clock().hertz);
        let clock = clock.map_err(|error| FabricError::Description(error.to_string()))?;
        let memory = own
            .map(|bytes| OwnMemory::new(bytes, clock, &widths))
            .transpose()?;
        let bits = memory.as_ref().map_or(0, OwnMemory::bits);
        Ok(Unit {
            unit: Clocked::new(card, design)?,
            interrupt: Interrupt::default(),
            configuration: Configuration::new(identity(manifest, [registers.window(), bits])),
            target: Target::new(registers),
            memory,
            reads: Reads::new(&widths),
            writes: Writes::new(&widths),
            errors: ErrorMessages::default(),
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
            && self.memory.as_ref().is_none_or(OwnMemory::is_idle)
            && self.reads.is_idle()
            && self.writes.is_idle()
            && self.interrupt.is_idle()
            && self.errors.is_idle()
    }

    pub(super) fn events(&self) -> Vec<(String, u64)> {
        let own = [
            ("dma_reads", self.reads.packets),
            ("dma_writes", self.writes.packets),
            ("unsupported_requests", self.refused),
            ("unexpected_completions", self.unexpected),
            ("completion_timeouts", self.timeouts),
        ];
        let of_memory = self.memory.iter().flat_map(OwnMemory::events);
        let of_function = own.into_iter().chain(of_memory);
        let of_function = of_function.map(|(name, count)| (name.to_string(), count));
        self.unit.events().chain(of_function).collect()
    }

    /// Whether there is memory on its card.
    pub(crate) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Whether an address is in the window of the memory.
    pub(crate) fn has_memory_at(&self, address: u64) -> bool {
        self.has_memory() && self.configuration.is_within(1, address)
    }

    /// Reads the memory of the card, for an inspection that takes no time.
    ///
    /// # Errors
    /// [`FabricError::Fault`] behind its end.
    pub(crate) fn read_memory(&self, address: u64, data: &mut [u8]) -> Result<(), FabricError> {
        self.memory
            .as_ref()
            .map_or(Ok(()), |memory| memory.read(address, data))
    }

    /// Writes it in the same way.
    ///
    /// # Errors
    /// [`FabricError::Fault`] behind its end.
    pub(crate) fn write_memory(&mut self, address: u64, data: &[u8]) -> Result<(), FabricError> {
        self.memory
            .as_mut()
            .map_or(Ok(()), |memory| memory.write(address, data))
    }

    pub(super) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        self.transmitter.grant(cycle.0, initial, class, limit);
    }

    pub(super) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        let Unit { unit, reads, .. } = self;
        let header = packet.header;
        if let Kind::Completion(_) = header.kind {
            let respond = |response: &MemoryResponse| unit.respond(response);
            if let Some(fault) = reads.arrive(cycle.0, &header, &packet.data, respond) {
                self.unexpected += u64::from(fault == Fault::UnexpectedCompletion);
                self.note(cycle.0, fault, &header);
            }
            return;
        }
        let beats = (packet.data.len() as u64).div_ceil(BEAT);
        self.target.arrive(Request {
            header,
            data: packet.data.clone(),
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
            while self.serve_memory(until, give)? {}
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
        dma.min(sends).min(self.asked()).min(given_up)
    }

    /// When the next request of others is served: completions are in the order of requests, so that one that is not for
    /// the memory waits for those of the memory.
    fn asked(&self) -> u64 {
        let answers = self.memory.as_ref().is_some_and(|memory| !memory.is_idle());
        if answers && !self.is_memory_asked() {
            NEVER
        } else {
            self.target.due()
        }
    }

    /// Whether the next request of others is for the memory.
    fn is_memory_asked(&self) -> bool {
        let next = self.target.front().map(|request| &request.header);
        next.is_some_and(|header| {
            let address = header.request.address;
            let last = address.saturating_add((4 * u64::from(header.words)).saturating_sub(1));
            matches!(header.kind, Kind::MemoryRead | Kind::MemoryWrite)
                && !header.poisoned
                && self.has_memory_at(address)
                && self.has_memory_at(last)
        })
    }

    /// Serves the request for the memory that is due before `until`, if there is one; returns whether there is.
    fn serve_memory(
        &mut self,
        until: u64,
        give: &mut impl FnMut(u64, Given<'_>),
    ) -> Result<bool, FabricError> {
        let now = self.target.due();
        if now >= until || !self.is_memory_asked() {
            return Ok(false);
        }
        if let (Some(memory), Some(request)) = (&mut self.memory, self.target.take(now)) {
            memory.serve(now, &request, &self.configuration, give)?;
        }
        Ok(true)
    }

    /// Executes the request for it that is due before `until`, if there is one.
    fn serve(&mut self, until: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        let now = self.asked();
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
            Served::Refused(fault, header) => {
                self.refused += 1;
                self.note(now, fault, &header);
            }
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
        while self.reads.times_out() < until {
            let Unit { unit, reads, .. } = self;
            let now = reads.times_out().max(unit.cycle());
            reads.time_out(now, |response| unit.respond(response));
            self.timeouts += 1;
            // Of which request is not recorded (7.8.4.8).
            self.note(now, Fault::CompletionTimeout, &Header::default());
        }
    }

    /// An error has been found in a packet.
    fn note(&mut self, now: u64, fault: Fault, header: &Header) {
        if let Some(severity) = self.configuration.detect(fault, header) {
            self.errors.tell(now + 1, severity);
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
        let requests: Vec<_> = self.unit.requests().collect();
        for request in requests {
            if self.has_memory_at(request.address) {
                let response = self.memory.as_mut().map(|memory| memory.ask(&request));
                response.iter().for_each(|response| self.unit.respond(response));
            } else if request.is_write() {
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
        let (is_error, is_message) = (self.sends_error(), self.sends_message());
        let Unit {
            unit, wire, memory, ..
        } = self;
        let memory = memory.as_mut().filter(|memory| !memory.is_idle());
        let respond = |response: &MemoryResponse| unit.respond(response);
        let (last, bytes) = match class {
            Class::Posted if is_error => self.errors.leave(now, id, give),
            Class::Posted if is_message => self.interrupt.leave(now, id, give),
            Class::Posted => self.writes.leave(now, id, give, respond),
            Class::NonPosted => self.reads.leave(now, id, give),
            Class::Completion if memory.is_some() => {
                memory.map_or((now, 0), |memory| memory.leave(now, give))
            }
            Class::Completion => {
                let bytes = self.target.bytes();
                (self.target.leave(now, give), bytes)
            }
        };
        self.transmitter.sent(wire.take(last, bytes));
    }

    /// Whether the next posted packet is about an error: those go first.
    fn sends_error(&self) -> bool {
        let (ready, _) = self.errors.ready();
        let others = self.interrupt.ready().0.min(self.writes.ready().0);
        ready != NEVER && ready <= others.max(self.transmitter.free_at())
    }

    /// Whether the next posted packet is a message of the interrupt, which follows the writes asked for before it.
    fn sends_message(&self) -> bool {
        let (ready, _) = self.interrupt.ready();
        ready != NEVER && ready <= self.writes.oldest()
    }

    /// Packets ready to leave, by class.
    fn offers(&self) -> Offers {
        let message = self.interrupt.ready();
        let posted = if self.sends_error() {
            self.errors.ready()
        } else if self.sends_message() {
            message
        } else {
            self.writes.ready()
        };
        // Software that has disabled the interrupt, or whose access has lowered it, finds it low.
        let of_memory = self.memory.as_ref().filter(|memory| !memory.is_idle());
        let completion = of_memory.map_or_else(|| self.target.ready(), OwnMemory::ready);
        let completion = if message.0 <= completion.0 {
            (NEVER, 0)
        } else {
            completion
        };
        [posted, self.reads.ready(), completion]
    }
}

/// The identity of a unit's function with windows of these sizes.
fn identity(manifest: &Manifest, windows: [u32; 2]) -> Identity {
    Identity {
        numbers: NUMBERS,
        windows,
        vectors: 0,
        interrupts: manifest.has_interrupt(),
    }
}
