use crate::boot::BootInformation;
use crate::devices::Devices;
use crate::error::ServerError;
use crate::harts::Harts;
use crate::server::{Observed, Progress, Run};
use rackwright_boot::BareMetal;
use rackwright_cpu::{DeviceAccess, Hart, Interrupt, Stop, Timing};
use rackwright_memory::{GuestMemory, Protection};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// Bytes of memory that a bare-metal program finds, from [`BareMetal::MEMORY_BASE`] on.
const MEMORY_BYTES: u64 = 256 << 20;

/// How much guest memory bare metal needs: its memory ends here.
pub const BARE_METAL_BYTES: u64 = BareMetal::MEMORY_BASE + MEMORY_BYTES;

/// Time of an access to a device: across the chip and back.
pub(crate) const DEVICE_LATENCY: Cycles = Cycles::new(10);

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
    devices: Devices,
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
        machine.cores[0].hart.set_pc(entry);
        Ok(BareMetalRun {
            machine,
            devices: Devices::new(echo, 1),
            waits: false,
        })
    }

    fn hart(&mut self) -> &mut Hart<T> {
        &mut self.machine.cores[0].hart
    }

    fn access(&mut self, access: DeviceAccess) {
        let now = self.hart().cycle();
        self.machine.advance_to(0, now + DEVICE_LATENCY);
        match self.devices.access(access, now) {
            Some(value) => self.hart().finish_access(value),
            // It has a trap for that.
            None => _ = self.hart().refuse_access(),
        }
    }

    /// Shows the hart the interrupt lines as they are now.
    fn refresh_interrupts(&mut self) {
        let hart = &mut self.machine.cores[0].hart;
        let timer = self.devices.timer_interrupt(0, hart.cycle());
        hart.set_interrupt(Interrupt::MachineTimer, timer);
        hart.set_interrupt(Interrupt::MachineSoftware, self.devices.software_interrupt(0));
    }

    /// Passes the time in which the hart waits for an interrupt, as far as `limit`.
    fn wait(&mut self, limit: Cycle) -> Result<(), ServerError> {
        if self.hart().is_interrupted() {
            self.waits = false;
            return Ok(());
        }
        let wake = self.devices.next_timer(0);
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
            if let Some(status) = self.devices.exit() {
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
            let timer = self.devices.next_timer(0);
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
        self.devices.console().to_vec()
    }

    fn error_output(&self) -> Vec<u8> {
        Vec::new()
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.digest(digest);
        digest.bytes(self.devices.console());
        digest.number(self.devices.exit().map_or(u64::MAX, |status| status as u64));
    }
}
