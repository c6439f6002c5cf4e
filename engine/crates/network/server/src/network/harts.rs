use super::steps::last_step;
use super::OnLink;
use crate::nic::Nic;
use crate::stamps::Event;
use rackwright_cpu::{CustomInstruction, DeviceAccess, Stop, Timing};
use rackwright_device::CROSSING_LATENCY;
use rackwright_machine::{perform, Hardware, Pause, Turn, Window, Workload};
use rackwright_time::network::Cycle;
use rackwright_time::{hart, network};
use rackwright_unit::{Core, Stall, UnitError};
use std::convert::Infallible;

/// Bytes of a register.
const REGISTER_BYTES: u8 = 8;

impl<T: Timing> Workload<Core<T>> for OnLink {
    type Time = network::Cycle;
    /// A server that fails stays on its link.
    type Error = Infallible;

    fn open(&mut self, hardware: &mut Hardware<Core<T>>, until: Cycle) -> Result<Option<Pause>, Infallible> {
        if self.now >= until {
            return Ok(Some(Pause::Reached));
        }
        self.look(hardware);
        self.end = self.reach(hardware, until);
        Ok(None)
    }

    fn limit(&mut self, hardware: &mut Hardware<Core<T>>, hart: usize, _until: Cycle) -> Option<hart::Cycle> {
        let limit = self.to_hart.seen(self.end);
        let goes = self.runs(hardware, hart) && hardware.hart(hart).cycle() < limit;
        goes.then_some(limit)
    }

    fn stopped(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
        window: &mut Window,
        stop: Result<Stop, UnitError>,
    ) -> Result<Turn, Infallible> {
        let is_over = self.serve(hardware, window.turn, stop);
        if is_over {
            return Ok(Turn::Over);
        }
        // The hart's actions may change how far others may run.
        window.open = false;
        Ok(Turn::Again)
    }

    /// The part of NIC and page-fault unit follows that of the harts.
    fn close(&mut self, hardware: &mut Hardware<Core<T>>, until: Cycle) {
        let end = self.end.min(until);
        if self.end <= until {
            self.run_tiles(hardware);
        }
        self.take_arrivals(hardware, end);
        let end = self.run_pager(hardware, end);
        self.run_nic(hardware, end);
        self.take_sent(hardware, end);
    }
}

/// The harts' part of the time.
impl OnLink {
    /// Handles the stop of a hart; returns whether its turn is over.
    fn serve<T: Timing>(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
        index: usize,
        stop: Result<Stop, UnitError>,
    ) -> bool {
        let core = &mut hardware.cores[index];
        let (at, pager) = (core.hart.cycle(), self.pager.as_mut());
        match stop {
            Ok(Stop::Budget) => {}
            Ok(Stop::Device(access)) => return self.access(hardware, index, access),
            Ok(Stop::Custom(CustomInstruction { command, .. })) => {
                pager
                    .expect("only its commands are passed on")
                    .command(index, at, &command);
                if !command.xd {
                    return false;
                }
                core.stall(Stall::Command(command.rd));
            }
            Ok(Stop::RemotePage(place)) => {
                let pager = pager.expect("only with it pages are asked for");
                pager.walk(index, at, place);
                core.stall(Stall::Page);
                self.stamp_hart(hardware, index, Event::Asks);
            }
            Ok(Stop::Prefetch(place)) => {
                let pager = pager.expect("only with it pages are asked for");
                pager.prefetch(index, at, place);
                return false;
            }
            Ok(Stop::WaitForInterrupt) if core.hart.control().is_interrupted() => return false,
            Ok(Stop::WaitForInterrupt) => {
                core.stall(Stall::Interrupt);
                self.stamp_hart(hardware, index, Event::Waits);
            }
            Ok(other) => unreachable!("bare metal cannot stop with {other:?}"),
            Err(error) => self.fail(error.into()),
        }
        true
    }

    /// Starts an access to the NIC, or performs one to another device; returns whether the hart has to wait.
    fn access<T: Timing>(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
        index: usize,
        access: DeviceAccess,
    ) -> bool {
        let now = hardware.hart(index).cycle();
        if let Some(register) = Nic::register(access.address) {
            if access.bytes == REGISTER_BYTES && register % u32::from(REGISTER_BYTES) == 0 {
                let reaches = self.to_link.seen(now + CROSSING_LATENCY);
                let ticket = self.accesses.begin(index, access, reaches);
                hardware.cores[index].stall(Stall::Access(ticket));
                let event = match access.write {
                    Some(_) => Event::Writes(register),
                    None => Event::Reads(register),
                };
                self.stamp_hart(hardware, index, event);
                return true;
            }
        }
        self.looked = self.looked.max(last_step(self.to_link.before(now)));
        let Hardware { cores, bus, .. } = hardware;
        let later = perform(&mut cores[index], bus, access);
        debug_assert_eq!(later, None, "bare metal has no PCI bus");
        // Its units are advanced to the hart's time.
        let now = hardware.hart(index).cycle();
        hardware.advance_to(index, now);
        if hardware.bus.host.exit().is_some() {
            self.switch_off();
        }
        false
    }
}
