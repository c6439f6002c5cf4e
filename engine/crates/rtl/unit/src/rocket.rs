use crate::core::cache_counters;
use crate::error::UnitError;
use crate::stall::Stall;
use rackwright_cpu::{DeviceAccess, Stop};
use rackwright_memory::{AccessKind, GuestMemory, Hierarchy, RequesterId, SharedHierarchy};
use rackwright_rtl::rocket::{Rocket, RocketDesign, RocketMemory};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Cycle, Cycles};

/// Harts of Rocket in RTL, in one design that keeps their L1 caches coherent. They share a port to the same memory
/// hierarchy as modelled harts have.
pub struct RocketCores {
    rtl: Rocket,
    harts: usize,
    hierarchy: SharedHierarchy,
    port: RequesterId,
    digest: Digest,
    stall: Option<Stall>,
}

impl RocketCores {
    /// The first `harts` cores of `design`, fresh from reset, whose devices take `latency`.
    pub fn new(
        design: &RocketDesign,
        harts: usize,
        latency: Cycles,
        hierarchy: SharedHierarchy,
    ) -> RocketCores {
        let port = hierarchy.lock().attach_hart();
        RocketCores {
            rtl: design.instantiate(latency),
            harts,
            hierarchy,
            port,
            digest: Digest::new(),
            stall: None,
        }
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
    /// None so far: harts without units cannot break a rule.
    pub fn run(&mut self, memory: &mut GuestMemory, limit: Cycle) -> Result<Stop, UnitError> {
        let mut hierarchy = self.hierarchy.lock();
        let mut behind = Behind {
            memory,
            hierarchy: &mut hierarchy,
            port: self.port,
            digest: &mut self.digest,
        };
        self.rtl.run(&mut behind, limit);
        let Some(access) = self.rtl.access() else {
            return Ok(Stop::Budget);
        };
        self.digest.cycle(access.at);
        self.digest.number(access.address);
        self.digest.number(access.write.unwrap_or(0));
        Ok(Stop::Device(DeviceAccess {
            address: access.address,
            bytes: access.bytes,
            write: access.write,
        }))
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

    /// Counts of the caches behind those of the harts.
    pub fn counters(&self) -> Counters {
        cache_counters(&self.hierarchy)
    }

    /// Adds all transfers at the pins of the design so far to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        digest.cycle(self.rtl.cycle());
        digest.number(self.instructions());
        digest.digest(&self.digest);
    }
}

/// What is behind the port of the design.
struct Behind<'a> {
    memory: &'a mut GuestMemory,
    hierarchy: &'a mut Hierarchy,
    port: RequesterId,
    digest: &'a mut Digest,
}

impl Behind<'_> {
    fn record(&mut self, at: Cycle, address: u64, data: &[u8]) {
        self.digest.cycle(at);
        self.digest.number(address);
        self.digest.bytes(data);
    }
}

impl RocketMemory for Behind<'_> {
    fn read(&mut self, at: Cycle, address: u64, data: &mut [u8]) -> Cycle {
        // The cores may fetch ahead beyond memory; such bytes are never executed.
        if self.memory.read(address, data).is_err() {
            data.fill(0);
        }
        self.record(at, address, data);
        // The L1 caches are inside the RTL and cannot be snooped, so that their contents are not tracked.
        self.hierarchy.access(at, address, AccessKind::Fetch, self.port)
    }

    fn write(&mut self, at: Cycle, address: u64, data: &[u8]) -> Cycle {
        self.record(at, address, data);
        // A line beyond memory can only hold the zeros that were read from there.
        let _ = self.memory.write(address, data);
        self.hierarchy
            .access(at, address, AccessKind::WriteBack, self.port)
    }
}
