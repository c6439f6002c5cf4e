use super::steps::last_step;
use super::Networked;
use crate::nic::Nic;
use crate::stamps::Event;
use rackwright_cpu::{CustomInstruction, DeviceAccess, Stop, Timing};
use rackwright_device::{ACCESS_LATENCY, CROSSING_LATENCY};
use rackwright_machine::perform;
use rackwright_time::network::Cycle;
use rackwright_unit::Stall;

/// Bytes of a register.
const REGISTER_BYTES: u8 = 8;

/// The harts' part of the time.
impl<T: Timing> Networked<T> {
    /// Has a hart do its part of the time before the link's cycle `end`; tells whether it came to that.
    pub(super) fn run_hart(&mut self, index: usize, end: Cycle) -> bool {
        let limit = self.to_hart.seen(end);
        if !self.runs(index) || self.machine.cores[index].hart.cycle() >= limit {
            return true;
        }
        let stop = self.machine.run(index, limit);
        let hart = &self.machine.cores[index].hart;
        let (at, pager) = (hart.cycle(), self.pager.as_mut());
        match stop {
            Ok(Stop::Budget) => {}
            Ok(Stop::Device(access)) => return self.access(index, access),
            Ok(Stop::Custom(CustomInstruction { command, .. })) => {
                pager
                    .expect("only its commands are passed on")
                    .command(index, at, &command);
                if !command.xd {
                    return false;
                }
                self.machine.cores[index].stall(Stall::Command(command.rd));
            }
            Ok(Stop::RemotePage(place)) => {
                let pager = pager.expect("only with it pages are asked for");
                pager.walk(index, at, place);
                self.machine.cores[index].stall(Stall::Page);
                self.stamp_hart(index, Event::Asks);
            }
            Ok(Stop::Prefetch(place)) => {
                let pager = pager.expect("only with it pages are asked for");
                pager.prefetch(index, at, place);
                return false;
            }
            Ok(Stop::WaitForInterrupt) if hart.is_interrupted() => return false,
            Ok(Stop::WaitForInterrupt) => {
                self.machine.cores[index].stall(Stall::Interrupt);
                self.stamp_hart(index, Event::Waits);
            }
            Ok(other) => unreachable!("bare metal cannot stop with {other:?}"),
            Err(error) => self.fail(error),
        }
        true
    }

    /// The same for all harts.
    pub(super) fn run_harts(&mut self, end: Cycle) -> bool {
        self.harts().all(|index| self.run_hart(index, end))
    }

    /// Begins an access to the NIC, or does one to another device; tells whether the hart has to wait.
    pub(super) fn access(&mut self, index: usize, access: DeviceAccess) -> bool {
        let now = self.machine.cores[index].hart.cycle();
        if let Some(register) = Nic::register(access.address) {
            if access.bytes == REGISTER_BYTES && register % u32::from(REGISTER_BYTES) == 0 {
                let reaches = self.to_link.seen(now + CROSSING_LATENCY);
                self.accesses.begin(index, access, reaches);
                self.machine.cores[index].stall(Stall::Access);
                let event = match access.write {
                    Some(_) => Event::Writes(register),
                    None => Event::Reads(register),
                };
                self.stamp_hart(index, event);
                return true;
            }
        }
        self.machine.advance_to(index, now + ACCESS_LATENCY);
        self.looked = self.looked.max(last_step(self.to_link.before(now)));
        perform(&mut self.machine.cores[index].hart, &mut self.bus, access, now);
        if self.bus.host().exit().is_some() {
            self.switch_off();
        }
        false
    }
}
