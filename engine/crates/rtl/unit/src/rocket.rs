mod beside;
mod front_bus;
mod memory_port;

use self::beside::Beside;
use self::front_bus::FrontBus;
use self::memory_port::MemoryPort;
use crate::attachment::Attachment;
use crate::core::{interconnect_counters, push_units};
use crate::error::UnitError;
use crate::stall::Stall;
use crate::wait::Wait;
use rackwright_cpu::{DeviceAccess, Stop};
use rackwright_memory::{GuestMemory, Hierarchy, Interconnect, Route, Shared};
use rackwright_rtl::rocket::{Rocket, RocketDesign};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Cycle, Cycles};
use std::ops::Range;

/// Harts of Rocket in RTL, in one design that keeps their L1 caches coherent. They share a port to memory, on the same
/// hierarchy as modelled harts have, or on another interconnect.
///
/// Units beside a hart receive its custom instructions, and access memory through a port of the design. While one of
/// them is busy, units and RTL advance in turn, by a cycle of the harts; each receives what the other has sent in the
/// next cycle.
pub struct RocketCores<I = Hierarchy> {
    rtl: Rocket,
    harts: usize,
    interconnect: Shared<I>,
    port: MemoryPort,
    front: FrontBus,
    /// The units of each hart, if there are any.
    beside: Vec<Beside>,
    /// Of the accesses of devices and of memory.
    digest: Digest,
    stall: Option<Stall>,
}

impl<I: Interconnect> RocketCores<I> {
    /// The first `harts` cores of `design`, fresh from reset, whose devices take `latency`. Their units reach the
    /// addresses `memory`.
    pub fn new(
        design: &RocketDesign,
        harts: usize,
        latency: Cycles,
        interconnect: Shared<I>,
        memory: Range<u64>,
    ) -> RocketCores<I> {
        let port = MemoryPort::new(interconnect.lock().attach_hart());
        let clock = interconnect.lock().clock();
        RocketCores {
            rtl: design.instantiate(latency),
            harts,
            interconnect,
            port,
            front: FrontBus::new(clock, memory),
            beside: Vec::new(),
            digest: Digest::new(),
            stall: None,
        }
    }

    /// Attaches units to each hart.
    ///
    /// # Errors
    /// [`UnitError`] when the harts do not reach one, or one has a place of its own.
    pub fn attach(&mut self, attachment: &Attachment<'_>) -> Result<(), UnitError> {
        for unit in attachment.units {
            let name = || unit.design.manifest.unit.clone();
            if unit.design.manifest.has_registers() {
                return Err(UnitError::Unreached { unit: name() });
            }
            if unit.placement != Route::default() {
                return Err(UnitError::Placed { unit: name() });
            }
        }
        if attachment.units.is_empty() {
            return Ok(());
        }
        for hart in 0..self.harts {
            let units = attachment.attach(&mut self.front, hart)?;
            self.beside.push(Beside::new(hart, units));
        }
        self.rtl.offer(self.beside[0].opcodes());
        Ok(())
    }

    /// Has the harts start at `entry`, those after the first when their software interrupt is raised.
    ///
    /// # Panics
    /// When the design has fewer cores.
    pub fn start_at(&mut self, entry: u64) {
        self.rtl.start_at(entry, self.harts);
    }

    /// Has all cores of the design start at `entry` together.
    pub fn start_all_at(&mut self, entry: u64) {
        self.rtl.start_all_at(entry);
    }

    /// The first cycle that is not simulated yet; during an access to a device, that in which it has left the cores.
    pub fn cycle(&self) -> Cycle {
        match self.rtl.access() {
            Some(access) => access.at,
            None => self.rtl.cycle(),
        }
    }

    /// Runs until cycle `limit`, or until a device is accessed.
    ///
    /// # Errors
    /// [`UnitError`] when a command leads to no unit, or a unit does not answer or breaks a rule.
    pub fn run(&mut self, memory: &mut GuestMemory, limit: Cycle) -> Result<Stop, UnitError> {
        loop {
            if let Some(access) = self.rtl.access() {
                self.digest.cycle(access.at);
                self.digest.number(access.address);
                self.digest.number(access.write.unwrap_or(0));
                return Ok(Stop::Device(DeviceAccess {
                    address: access.address,
                    bytes: access.bytes,
                    write: access.write,
                }));
            }
            let now = self.rtl.cycle();
            if now >= limit {
                return Ok(Stop::Budget);
            }
            let is_busy = self.front.is_busy() || self.beside.iter().any(Beside::is_busy);
            let until = if is_busy { now + Cycles::new(1) } else { limit };
            self.beside.iter().for_each(|beside| beside.show(&mut self.rtl));
            self.run_cores(memory, until);
            self.run_units(memory)?;
        }
    }

    /// Runs the cores to cycle `until`, or until the end of a cycle in which anything has left them.
    fn run_cores(&mut self, memory: &mut GuestMemory, until: Cycle) {
        let mut interconnect = self.interconnect.lock();
        self.port
            .run(&mut self.rtl, memory, &mut *interconnect, &mut self.digest, until);
    }

    /// Passes what has left the cores to units, which follow them, and what has left units to the cores.
    fn run_units(&mut self, memory: &mut GuestMemory) -> Result<(), UnitError> {
        let RocketCores {
            rtl, front, beside, ..
        } = self;
        let now = rtl.cycle();
        front.receive(rtl);
        while let Some(command) = rtl.take_command() {
            let pc = rtl.pc();
            beside[command.core].command(memory, front, &command, pc)?;
        }
        for beside in beside {
            beside.advance(memory, front, now);
            beside.respond(rtl);
            beside.check(memory, front)?;
        }
        front.send(rtl);
        Ok(())
    }

    /// Ends the access for which a run has stopped: its response is at the cores' pins at `at`.
    pub fn finish_access(&mut self, at: Cycle, value: u64) {
        self.rtl.answer(at, value);
    }

    /// The cause of a stall of all harts.
    pub fn stalled(&self) -> Option<Stall> {
        self.stall
    }

    /// Has all harts stall.
    pub fn stall(&mut self, stall: Stall) {
        self.stall = Some(stall);
    }

    /// Ends the stall.
    pub fn resume(&mut self) {
        self.stall = None;
    }

    /// Address of the latest instruction in the last stage of the first hart.
    pub fn pc(&self) -> u64 {
        self.rtl.pc()
    }

    /// Instructions retired by all harts, including those of the boot ROM.
    pub fn instructions(&self) -> u64 {
        self.rtl.instructions()
    }

    /// Commands issued to units.
    pub fn commands(&self) -> u64 {
        self.beside.iter().map(Beside::commands).sum()
    }

    /// Cycles of RTL that were evaluated, of all units together.
    pub fn unit_cycles(&self) -> u64 {
        let units = self.beside.iter().flat_map(|beside| &beside.units);
        units.map(|unit| unit.observation().evaluated_cycles()).sum()
    }

    /// A unit that a hart waits for.
    pub fn wait(&self) -> Option<Wait> {
        self.beside.iter().find_map(Beside::wait)
    }

    /// Counts of the events of units, each added up over all harts; none without units.
    pub fn unit_counters(&self) -> Counters {
        let mut counters = Counters::new();
        self.push_units(&mut counters);
        counters
    }

    /// The same, appended to those of the interconnect.
    pub fn counters(&self) -> Counters {
        let mut counters = interconnect_counters(&self.interconnect);
        self.push_units(&mut counters);
        counters
    }

    fn push_units(&self, counters: &mut Counters) {
        let beside: Vec<&[_]> = self.beside.iter().map(|beside| &*beside.units).collect();
        if !beside.is_empty() {
            push_units(counters, &beside);
        }
    }

    /// Adds all transfers at the pins of the design and of units so far to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        digest.cycle(self.rtl.cycle());
        digest.number(self.instructions());
        digest.digest(&self.digest);
        self.beside.iter().for_each(|beside| beside.digest(digest));
    }
}
