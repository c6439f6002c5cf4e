use crate::bare::{self, BARE_METAL_BYTES};
use crate::boot::BootInformation;
use crate::ServerError;
use rackwright_boot::BareMetal;
use rackwright_device::{Bus, ACCESS_LATENCY};
use rackwright_memory::{AccessKind, GuestMemory, Hierarchy, HierarchyParameters, RequesterId};
use rackwright_rtl::rocket::{boot_code, Rocket, RocketBus, RocketDesign, DEVICES_BASE, MEMORY_BASE};
use rackwright_stats::Digest;
use rackwright_time::Cycle;

/// A server whose core is Rocket in RTL, with the same memory hierarchy as the timing models have. It runs
/// bare-metal programs.
pub struct RocketRtl {
    core: Rocket,
    system: System,
}

/// Everything outside of the core.
struct System {
    memory: GuestMemory,
    hierarchy: Hierarchy,
    port: RequesterId,
    bus: Bus,
    boot: [u8; 24],
    digest: Digest,
}

impl RocketRtl {
    /// A server that has just left reset, with the program of an ELF file in memory. With `echo`, its output is also
    /// passed on immediately. The `parameters` are those of the levels behind its L1 caches.
    ///
    /// # Errors
    /// [`ServerError`] when the file is no program that fits, or the hierarchy cannot be.
    pub fn new(
        design: &RocketDesign,
        parameters: HierarchyParameters,
        program: &[u8],
        echo: bool,
    ) -> Result<RocketRtl, ServerError> {
        if !BareMetal::recognises(program)? {
            return Err(ServerError::NotBareMetal { on: "Rocket in RTL" });
        }
        let mut memory = GuestMemory::new(BARE_METAL_BYTES)?;
        let entry = bare::load(program, &mut memory, &BootInformation::default())?;
        let mut hierarchy = Hierarchy::new(parameters)?;
        let port = hierarchy.attach_hart();
        let mut bus = bare::devices(1);
        if echo {
            bus.host_mut().echo();
        }
        Ok(RocketRtl {
            core: design.instantiate(),
            system: System {
                memory,
                hierarchy,
                port,
                bus,
                boot: boot_code(entry),
                digest: Digest::new(),
            },
        })
    }

    /// Simulates until the program ends the run; returns its exit code, or `None` if cycle `limit` is reached first.
    pub fn run(&mut self, limit: Cycle) -> Option<i32> {
        self.core.run(&mut self.system, limit);
        self.exit_code()
    }

    /// The exit code, once the program has ended the run.
    pub fn exit_code(&self) -> Option<i32> {
        self.system.bus.host().exit()
    }

    /// The output of the program so far.
    pub fn output(&self) -> &[u8] {
        self.system.bus.host().console()
    }

    /// Cycles since reset.
    pub fn cycle(&self) -> Cycle {
        self.core.cycle()
    }

    /// Instructions retired, including those of the boot ROM.
    pub fn instructions(&self) -> u64 {
        self.core.instructions()
    }

    /// The digest of all transfers at the core's pins.
    pub fn digest(&self) -> &Digest {
        &self.system.digest
    }
}

impl System {
    fn record(&mut self, at: Cycle, address: u64, data: &[u8]) {
        self.digest.cycle(at);
        self.digest.number(address);
        self.digest.bytes(data);
    }

    /// The boot ROM and the bare-metal devices.
    fn read_device(&mut self, at: Cycle, address: u64, data: &mut [u8]) {
        data.fill(0);
        let known = data.len().min(8);
        if let Some(value) = self.bus.read(address, known as u8, at) {
            data[..known].copy_from_slice(&value.to_le_bytes()[..known]);
            return;
        }
        for (address, byte) in (address..).zip(data) {
            let boot = address.checked_sub(DEVICES_BASE);
            let known = boot.and_then(|offset| self.boot.get(offset as usize));
            *byte = known.copied().unwrap_or(0);
        }
    }

    /// Stores beside every device have no effect, as on the core's bus.
    fn write_device(&mut self, at: Cycle, address: u64, data: &[u8]) {
        let mut value = [0; 8];
        let known = data.len().min(8);
        value[..known].copy_from_slice(&data[..known]);
        self.bus
            .write(address, known as u8, u64::from_le_bytes(value), at);
    }
}

impl RocketBus for System {
    fn read(&mut self, at: Cycle, address: u64, data: &mut [u8]) -> Cycle {
        let due = if address < MEMORY_BASE {
            self.read_device(at, address, data);
            at + ACCESS_LATENCY
        } else {
            // The core may fetch ahead beyond memory; such bytes are never executed.
            if self.memory.read(address, data).is_err() {
                data.fill(0);
            }
            // The core's L1 caches are inside the RTL and cannot be snooped, so that their contents are not tracked.
            self.hierarchy.access(at, address, AccessKind::Fetch, self.port)
        };
        self.record(at, address, data);
        due
    }

    fn write(&mut self, at: Cycle, address: u64, data: &[u8]) -> Cycle {
        self.record(at, address, data);
        if address < MEMORY_BASE {
            self.write_device(at, address, data);
            return at + ACCESS_LATENCY;
        }
        // A line beyond memory can only hold the zeros that were read from there.
        let _ = self.memory.write(address, data);
        self.hierarchy
            .access(at, address, AccessKind::WriteBack, self.port)
    }

    fn finished(&self) -> bool {
        self.bus.host().exit().is_some()
    }
}
