use super::OnLink;
use crate::stamps::Event;
use rackwright_cpu::Timing;
use rackwright_machine::Hardware;
use rackwright_time::network::Cycle;
use rackwright_unit::{Core, Stall};

/// Interval, in cycles of the link, of ticks to a page-fault unit while a walk waits: 10.24 us.
const TICK: u64 = 1 << 15;

/// The page-fault unit's part of the time.
impl OnLink {
    /// Whether a hart waits for the page-fault unit.
    pub(super) fn awaits_pager<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> bool {
        let awaits = |core: &Core<T>| matches!(core.stalled(), Some(Stall::Page | Stall::Command(_)));
        !self.off && hardware.cores.iter().any(awaits)
    }

    /// Whether a tick of the page-fault unit is due. A window may end right before that.
    pub(super) fn tick_is_due<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> bool {
        self.awaits_pager(hardware) && self.now.0 % TICK == 0 && self.ticked != self.now
    }

    /// Time of the next tick of the page-fault unit: while a hart waits for a page.
    pub(super) fn next_tick<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> Cycle {
        if self.awaits_pager(hardware) {
            return Cycle::new((self.now.0 / TICK + 1) * TICK);
        }
        Cycle::NEVER
    }

    /// Runs the page-fault unit until `end`; returns the time that it has reached, which is before the time at which a
    /// hart continues with its response.
    pub(super) fn run_pager<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, end: Cycle) -> Cycle {
        let ticks = self.tick_is_due(hardware);
        let Some(pager) = &mut self.pager else { return end };
        if ticks {
            self.ticked = self.now;
            pager.tick(self.to_hart.seen(self.now));
        }
        if pager.linked.is_idle() {
            return end;
        }
        pager.advance(end, |unit, until| hardware.advance_other(unit, until));
        if let Err(error) = pager.linked.unit.observation().check() {
            self.fail(error.into());
            return end;
        }
        let (asked, served) = pager.span();
        let Some((index, answer, comes)) = pager.take_answer() else {
            return end;
        };
        // A wide unit may have advanced further than requested by a part of its cycle.
        let reached = pager.linked.cycle().min(end);
        if self.off {
            // The program has ended in the meantime.
            hardware.advance_to(index, comes);
            return reached;
        }
        let walks = hardware.cores[index].stalled() == Some(Stall::Page);
        hardware.answer(index, comes, answer.data);
        if walks {
            self.stamp(hardware, asked, Event::Asked);
            self.stamp(hardware, served, Event::Served);
            self.stamp_hart(hardware, index, Event::Resumes);
        }
        reached
    }

    /// The same for an idle page-fault unit.
    pub(super) fn advance_pager<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) {
        let now = self.now;
        if let Some(pager) = self.pager.as_mut().filter(|pager| pager.linked.is_idle()) {
            pager.advance(now, |unit, until| hardware.advance_other(unit, until));
        }
    }
}
