//! A device of the machine on a card: its registers are in the windows of the card, and its accesses to memory cross the
//! fabric as packets, one after the other, as its program makes them.
//!
//! The device is the same as on the bus of the root complex. Only while it handles no events does it serve its registers.
//! It keeps and reports the errors of packets for it, as ports do.

mod dma;
mod target;
mod worker;

use super::transmitter::{Offers, Transmitter};
use super::{word_of, Given, FIRST_CYCLES, NEVER};
use crate::aer::{ErrorLog, Fault, Reporter};
use crate::class::Class;
use crate::codec::words_of;
use crate::credits::{Amount, Credits};
use crate::error::FabricError;
use crate::function::device_control::DeviceControl;
use crate::packet::{Header, Kind};
use crate::pool::Packet;
use crate::rate::Rate;
use dma::{Allowed, Dma};
use rackwright_device::{
    decode, encode, Block, Capability, Disk, Endpoint, Entropy, Network, PciFunction, RestoreError, Virtio,
};
use rackwright_time::unit::Cycle;
use rackwright_time::Clock;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use target::Target;
use worker::{Asked, Worker};

/// The clock of the function.
pub(crate) const HERTZ: u64 = 2_000_000_000;
/// Requests of others that it holds, of each class.
const REQUESTS: u64 = 32;
/// Number of the capability of PCI Express, and its registers after the number: an endpoint of version 2; payloads of 512
/// bytes, tags of eight bits, errors by their role; as of other functions, what is allowed after reset (7.5.3).
const EXPRESS: u8 = 0x10;
const EXPRESS_BYTES: usize = 58;
const KIND: [u8; 2] = [2, 0];
const DEVICE: u32 = 2 | 1 << 5 | 1 << 15;
const CONTROL: u16 = 0x2910;

/// A device of the machine that is on a card.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind")]
pub enum DeviceDescription {
    /// A disk with the contents of a file.
    #[serde(rename = "virtio-block")]
    Block {
        /// The file.
        disk: PathBuf,
    },
    /// A network card, with a cable to a host that answers ARP and echo requests.
    #[serde(rename = "virtio-network")]
    Network {
        /// Its last 32 bits are the end of its address.
        seed: u64,
    },
    /// A source of random numbers.
    #[serde(rename = "virtio-entropy")]
    Entropy {
        /// From which they follow.
        seed: u64,
    },
}

impl DeviceDescription {
    fn endpoint(&self, card: &str) -> Result<Box<dyn Endpoint>, FabricError> {
        let wrong = |error: &dyn std::fmt::Display| FabricError::Card {
            card: card.to_string(),
            reason: error.to_string(),
        };
        let clock = Clock::new(HERTZ).map_err(|error| wrong(&error))?;
        match self {
            DeviceDescription::Network { seed } => {
                Ok(Box::new(Virtio::on_card(Network::new(*seed as u32, clock))))
            }
            DeviceDescription::Block { disk } => {
                let disk = Disk::open(disk).map_err(|error| wrong(&error))?;
                Ok(Box::new(Virtio::on_card(Block::new(disk, clock))))
            }
            DeviceDescription::Entropy { seed } => Ok(Box::new(Virtio::on_card(Entropy::new(*seed)))),
        }
    }
}

/// A completion that arrives, and when.
#[derive(Serialize, Deserialize)]
struct Arrival {
    cycle: u64,
    header: Header,
    data: Vec<u8>,
}

/// A device on a card.
pub(crate) struct Device {
    cycle: u64,
    /// Elsewhere while it handles its events. Neither this nor the worker is shared: the locks only say so.
    function: Mutex<Option<Box<PciFunction>>>,
    worker: Mutex<Worker>,
    target: Target,
    dma: Dma,
    arrivals: VecDeque<Arrival>,
    transmitter: Transmitter,
    errors: ErrorLog,
    interrupts: u64,
}

impl Device {
    /// A device after reset, on a link of that rate.
    ///
    /// # Errors
    /// [`FabricError::Card`] when its file cannot be read.
    pub(crate) fn new(
        card: &str,
        description: &DeviceDescription,
        rate: Rate,
    ) -> Result<Device, FabricError> {
        let function = PciFunction::on_card(description.endpoint(card)?, express(rate));
        Ok(Device {
            cycle: FIRST_CYCLES.0,
            function: Mutex::new(Some(Box::new(function))),
            worker: Mutex::new(Worker::new()),
            target: Target::default(),
            dma: Dma::new(),
            arrivals: VecDeque::new(),
            transmitter: Transmitter::default(),
            errors: ErrorLog::new(Reporter::Function),
            interrupts: 0,
        })
    }

    /// Its state, for [`Device::restore`].
    ///
    /// # Errors
    /// [`FabricError::Card`] while it waits for a read of memory, in the middle of its program.
    pub(super) fn save(&self, card: &str) -> Result<Vec<u8>, FabricError> {
        let function = self.function();
        let Some(function) = &*function else {
            return Err(FabricError::Card {
                card: card.to_string(),
                reason: "it waits for a read of memory, and cannot be saved now".to_string(),
            });
        };
        let queues = (&self.target, &self.dma, &self.arrivals, &self.transmitter);
        Ok(encode(&(
            self.cycle,
            function.save(),
            queues,
            (&self.errors, self.interrupts),
        )))
    }

    /// Restores the state of another device of the same kind.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(super) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let (function, queues): (Vec<u8>, _);
        (self.cycle, function, queues, (self.errors, self.interrupts)) = decode(state, "card")?;
        (self.target, self.dma, self.arrivals, self.transmitter) = queues;
        let own = self.place().as_mut().ok_or(RestoreError { device: "card" })?;
        own.restore(&function)
    }

    fn function(&self) -> MutexGuard<'_, Option<Box<PciFunction>>> {
        self.function.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&mut self) -> &mut Option<Box<PciFunction>> {
        self.function.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn worker(&mut self) -> &mut Worker {
        self.worker.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn credits(&self) -> Credits {
        super::credits(REQUESTS)
    }

    pub(super) fn cycle(&self) -> Cycle {
        Cycle::new(self.cycle)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.function().is_some() && self.next() == NEVER
    }

    /// The cycle of its next event, if it does not wait for others.
    pub(crate) fn due(&self) -> Option<Cycle> {
        let next = self.next();
        (next != NEVER).then_some(Cycle::new(next))
    }

    pub(super) fn events(&self) -> Vec<(String, u64)> {
        [
            ("dma_reads", self.dma.reads),
            ("dma_writes", self.dma.writes),
            ("interrupts", self.interrupts),
            ("unsupported_requests", self.target.refused),
            ("unexpected_completions", self.dma.unexpected),
            ("completion_timeouts", self.dma.timeouts),
        ]
        .map(|(name, count)| (name.to_string(), count))
        .to_vec()
    }

    pub(super) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        self.transmitter.grant(cycle.0, initial, class, limit);
    }

    pub(super) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        let header = packet.header;
        if let Kind::Completion(_) = header.kind {
            self.arrivals.push_back(Arrival {
                cycle: cycle.0,
                header,
                data: packet.data.clone(),
            });
            return;
        }
        let data = packet.data.chunks(8).next().map_or(0, word_of);
        self.target.arrive(cycle.0, header, data);
    }

    fn next(&self) -> u64 {
        let arrival = self.arrivals.front().map_or(NEVER, |arrival| arrival.cycle);
        let own = self.function().as_ref().map_or(NEVER, |function| {
            let event = function.next_event();
            self.target
                .due()
                .min(if event.0 == NEVER { NEVER } else { event.0 })
        });
        let sends = self.transmitter.due(&self.offers());
        let first = arrival.min(own).min(sends).min(self.dma.times_out());
        first.max(self.cycle)
    }

    pub(super) fn advance(&mut self, end: Cycle, mut give: impl FnMut(Cycle, Given<'_>)) {
        let give = &mut |cycle, given: Given<'_>| give(Cycle::new(cycle), given);
        loop {
            let now = self.next();
            if now >= end.0 {
                break;
            }
            self.cycle = now;
            self.step(now, give);
        }
        self.cycle = self.cycle.max(end.0);
    }

    /// Handles the events of a cycle.
    fn step(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        while self.arrivals.front().is_some_and(|arrival| arrival.cycle <= now) {
            if let Some(Arrival { header, data, .. }) = self.arrivals.pop_front() {
                if let Some(fault) = self.dma.arrive(&header, &data) {
                    self.note(now, fault, &header);
                }
            }
        }
        if self.dma.give_up(now) {
            // Of which request is not logged (7.8.4.8).
            self.note(now, Fault::CompletionTimeout, &Header::default());
        }
        if let Some(data) = self.dma.take_read() {
            self.worker().go_on(rackwright_time::Cycle::new(now), data);
            self.listen(now);
        }
        if let Some(mut function) = self.place().take() {
            let mut served = None;
            if self.target.due() <= now {
                served = self.target.serve(now, &mut function, &mut self.errors, give);
            }
            self.interrupt(now, &mut function);
            if let Some((fault, header)) = served {
                self.note(now, fault, &header);
            }
            if function.next_event().0 <= now {
                self.worker().begin(function, rackwright_time::Cycle::new(now));
                self.listen(now);
            } else {
                *self.place() = Some(function);
            }
        }
        self.transmitter.learn(now);
        let last = match self.transmitter.choose(now, &self.offers()) {
            Some(Class::Completion) => self.target.leave(now, give),
            Some(_) => self.dma.leave(now, give),
            None => return,
        };
        self.transmitter.sent(last);
    }

    /// Takes the accesses of the device, up to its next read or to its end.
    fn listen(&mut self, now: u64) {
        loop {
            match self.worker().next() {
                Asked::Write { address, data } => self.dma.write(now, address, &data),
                Asked::Read { address, bytes } => return self.dma.read(now, address, bytes),
                Asked::Done(mut function) => {
                    self.interrupt(now, &mut function);
                    *self.place() = Some(function);
                    return;
                }
            }
        }
    }

    /// Sends the interrupts that the device has raised, behind its data, and learns what software allows.
    fn interrupt(&mut self, now: u64, function: &mut PciFunction) {
        self.dma.allow(Allowed {
            id: self.target.id,
            control: DeviceControl(function.device_control().into()),
        });
        for (address, data) in function.take_messages() {
            self.dma.write(now, address, &data.to_le_bytes());
            self.interrupts += 1;
        }
    }

    /// An error has been detected in a packet.
    fn note(&mut self, now: u64, fault: Fault, header: &Header) {
        let advisory = fault.is_advisory(header.kind.class());
        let told = self
            .errors
            .detect(fault, words_of(header), advisory, self.dma.control());
        if let Some(severity) = told {
            self.dma.tell(now, severity);
        }
    }

    /// Packets ready to leave, by class.
    fn offers(&self) -> Offers {
        let (posted, reads) = self.dma.ready();
        let waits = self.dma.has_posted();
        [
            posted,
            reads,
            if waits { (NEVER, 0) } else { self.target.ready() },
        ]
    }
}

/// The capability of PCI Express of a function on a link of that rate.
fn express(rate: Rate) -> Capability {
    let link = rate.lanes() << 4 | rate.generation();
    let mut bytes = vec![0; EXPRESS_BYTES];
    let mut put = |place: usize, value: &[u8]| bytes[place - 2..][..value.len()].copy_from_slice(value);
    put(2, &KIND);
    put(4, &DEVICE.to_le_bytes());
    put(8, &CONTROL.to_le_bytes());
    put(0xc, &link.to_le_bytes());
    put(0x12, &(link as u16).to_le_bytes());
    // The supported speeds of the link, and the target speed (7.5.3.18, 7.5.3.19).
    put(0x2c, &(((1_u32 << rate.generation()) - 1) << 1).to_le_bytes());
    put(0x30, &(rate.generation() as u16).to_le_bytes());
    Capability {
        id: EXPRESS,
        bytes,
        writable: 6..8,
    }
}
