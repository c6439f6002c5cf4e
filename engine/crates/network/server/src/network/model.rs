use super::Networked;
use crate::networked::{NetworkRun, NetworkView};
use crate::server::Observed;
use crate::stamps::Stamp;
use rackwright_cpu::Timing;
use rackwright_ethernet::Frame;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;

impl<T: Timing + Send> Model for Networked<T>
where
    T::Block: Send + Sync,
{
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn cut_through(&self) -> bool {
        true
    }

    fn next_event(&self) -> Cycle {
        let inside = if !self.is_idle() {
            self.now
        } else if self.off {
            Cycle::NEVER
        } else if self.harts().any(|hart| self.is_busy(hart)) || !self.may_run_ahead() || self.tick_is_due() {
            self.now
        } else {
            self.timer().min(self.next_tick())
        };
        inside.min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        while self.now < until {
            self.look();
            let end = self.reach(arrivals.peek(), until);
            if !self.run_harts(end) {
                continue;
            }
            let end = end.min(until);
            if arrivals.peek() < end {
                // The NIC may be far behind; it passes over that time at once before there is something in it.
                self.advance_nic(self.now);
                self.advance_pager();
            }
            while arrivals.peek() < end {
                let (_, arrival) = arrivals.next().expect("a frame arrives");
                self.arrive(arrival.cycle, &arrival.item);
            }
            let end = self.run_pager(end);
            self.run_nic(end);
            for frame in self.sent() {
                self.depart(frame, until, outbox);
            }
        }
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.digest(digest);
        digest.bytes(&self.nic.linked.digest().value().to_le_bytes());
        if let Some(pager) = &self.pager {
            digest.bytes(&pager.linked.digest().value().to_le_bytes());
        }
        digest.bytes(self.bus.host().console());
        digest.number(self.bus.host().exit().map_or(u64::MAX, |status| status as u64));
    }
}

impl<T: Timing + Send> NetworkRun for Networked<T>
where
    T::Block: Send + Sync,
{
    fn machine(&self) -> &dyn Observed {
        &self.machine
    }

    fn keep_stamps(&mut self) {
        self.stamps.keep();
        self.machine
            .cores
            .iter_mut()
            .for_each(|core| core.hart.keep_faults());
    }

    fn stamps(&self) -> &[Stamp] {
        self.stamps.all()
    }

    fn network(&self) -> NetworkView<'_> {
        NetworkView {
            port: &self.output,
            nic: self.nic.linked.events(),
            pager: self.pager.as_ref().map(|pager| pager.linked.events()),
            nic_cycles: self.nic.linked.evaluated_cycles()
                + self
                    .pager
                    .as_ref()
                    .map_or(0, |pager| pager.linked.evaluated_cycles()),
            exit: self.bus.host().exit(),
            error: self.error.as_ref(),
            output: self.bus.host().console(),
        }
    }
}
