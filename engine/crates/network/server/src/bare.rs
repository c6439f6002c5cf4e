use crate::boot::BootInformation;
use crate::error::ServerError;
use crate::harts::Harts;
use crate::server::{Observed, Progress, Run};
use rackwright_boot::BareMetal;
use rackwright_cpu::{DeviceAccess, Hart, Interrupt, Stop, Timing};
use rackwright_device::{Bus, Map, ACCESS_LATENCY};
use rackwright_machine::perform;
use rackwright_memory::{GuestMemory, Protection};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// Bytes of memory that a bare-metal program finds, from [`BareMetal::MEMORY_BASE`] on.
const MEMORY_BYTES: u64 = 256 << 20;

/// How much guest memory bare metal needs: its memory ends here.
pub const BARE_METAL_BYTES: u64 = BareMetal::MEMORY_BASE + MEMORY_BYTES;

/// Cycles of a hart in a tick of its register `time` and of `mtime`: 10 MHz at 2 GHz.
const TICK: Cycles = Cycles::new(200);

/// The devices of bare metal on `harts` harts.
pub(crate) fn devices(harts: usize) -> Bus {
    Bus::new(Map::BARE_METAL, harts, TICK)
}

/// A hart's time is that of the devices.
pub(crate) fn set_time_base<T: Timing>(hart: &mut Hart<T>) {
    hart.set_cycles_per_tick(TICK.0);
}

/// Puts a bare-metal program into memory, all of which it may use, and what it is told; returns its entry point.
pub(crate) fn load(
    file: &[u8],
    memory: &mut GuestMemory,
    information: &BootInformation<'_>,
) -> Result<u64, ServerError> {
    let program = BareMetal::load(file, memory)?;
    memory.protect(BareMetal::MEMORY_BASE, MEMORY_BYTES, Protection::ALL)?;
    information.store(memory, BARE_METAL_BYTES)?;
    Ok(program.entry)
}

/// A bare-metal program on the one hart of a machine.
pub(crate) struct BareMetalRun<T: Timing> {
    machine: Harts<T>,
    bus: Bus,
    /// The hart stands behind a `wfi` until an interrupt that it has enabled is raised.
    waits: bool,
}

impl<T: Timing> BareMetalRun<T> {
    pub(crate) fn start(
        mut machine: Harts<T>,
        file: &[u8],
        arguments: &[Vec<u8>],
        echo: bool,
    ) -> Result<BareMetalRun<T>, ServerError> {
        let information = BootInformation {
            arguments,
            ..BootInformation::default()
        };
        let entry = load(file, &mut machine.memory, &information)?;
        set_time_base(&mut machine.cores[0].hart);
        machine.cores[0].hart.set_pc(entry);
        let mut bus = devices(1);
        if echo {
            bus.host_mut().echo();
        }
        Ok(BareMetalRun {
            machine,
            bus,
            waits: false,
        })
    }

    fn hart(&mut self) -> &mut Hart<T> {
        &mut self.machine.cores[0].hart
    }

    fn access(&mut self, access: DeviceAccess) {
        let now = self.hart().cycle();
        self.machine.advance_to(0, now + ACCESS_LATENCY);
        perform(&mut self.machine.cores[0].hart, &mut self.bus, access, now);
    }

    /// Shows the hart the interrupt lines as they are now.
    fn refresh_interrupts(&mut self) {
        let hart = &mut self.machine.cores[0].hart;
        hart.set_interrupt(Interrupt::MachineTimer, self.bus.timer(0) <= hart.cycle());
        hart.set_interrupt(Interrupt::MachineSoftware, self.bus.lines(0).software);
    }

    /// Passes the time in which the hart waits for an interrupt, as far as `limit`.
    fn wait(&mut self, limit: Cycle) -> Result<(), ServerError> {
        if self.hart().is_interrupted() {
            self.waits = false;
            return Ok(());
        }
        let wake = self.bus.timer(0);
        if wake == Cycle::NEVER || wake <= self.hart().cycle() {
            return Err(ServerError::WaitsForEver { pc: self.hart().pc() });
        }
        self.machine.advance_to(0, wake.min(limit));
        Ok(())
    }
}

impl<T: Timing + Send> Run for BareMetalRun<T>
where
    T::Block: Send + Sync,
{
    fn run(&mut self, limit: Cycle) -> Result<Progress, ServerError> {
        loop {
            if let Some(status) = self.bus.host().exit() {
                return Ok(Progress::Exited(status));
            }
            if self.hart().cycle() >= limit {
                return Ok(Progress::Running);
            }
            self.refresh_interrupts();
            if self.waits {
                self.wait(limit)?;
                continue;
            }
            let timer = self.bus.timer(0);
            let until = if timer > self.hart().cycle() {
                timer.min(limit)
            } else {
                limit
            };
            match self.machine.run(0, until)? {
                Stop::Budget => {}
                Stop::Device(access) => self.access(access),
                Stop::WaitForInterrupt => self.waits = true,
                other => unreachable!("bare metal cannot stop with {other:?}"),
            }
        }
    }

    fn machine(&self) -> &dyn Observed {
        &self.machine
    }

    fn output(&self) -> Vec<u8> {
        self.bus.host().console().to_vec()
    }

    fn error_output(&self) -> Vec<u8> {
        Vec::new()
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.digest(digest);
        digest.bytes(self.bus.host().console());
        digest.number(self.bus.host().exit().map_or(u64::MAX, |status| status as u64));
    }
}
