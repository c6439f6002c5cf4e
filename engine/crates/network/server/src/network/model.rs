use super::tile::LinkedTile;
use super::{Networked, OnLink};
use crate::linked::Linked;
use crate::networked::{NetworkRun, NetworkView};
use crate::run::Observed;
use crate::stamps::Stamp;
use rackwright_cpu::{Feature, Timing};
use rackwright_ethernet::Frame;
use rackwright_machine::Hardware;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;
use rackwright_unit::Core;

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
        let inside = self.link().next_event(self.machine.hardware());
        inside.min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        let (_, link) = self.machine.parts();
        while let Some((_, arrival)) = arrivals.next() {
            self.output.count_received(arrival.item.length());
            link.frames.coming.push_back((arrival.cycle, arrival.item));
        }
        let Ok(_) = self.machine.run(until);
        let (_, link) = self.machine.parts();
        for sent in link.frames.left.drain(..) {
            let frame = Frame::raw(&sent.bytes).expect("the NIC's frames have 1 to 9600 bytes");
            self.output.pass(sent.first, sent.last, frame, until, 0, outbox);
        }
    }

    fn digest(&self, digest: &mut Digest) {
        let Hardware { bus, .. } = self.machine.hardware();
        self.machine.hardware().digest(digest);
        digest.bytes(&self.link().nic.linked.digest().value().to_le_bytes());
        if let Some(pager) = &self.link().pager {
            digest.bytes(&pager.linked.digest().value().to_le_bytes());
        }
        digest.bytes(bus.host.console());
        digest.number(bus.host.exit().map_or(u64::MAX, |status| status as u64));
    }
}

impl<T: Timing + Send> NetworkRun for Networked<T>
where
    T::Block: Send + Sync,
{
    fn hardware(&self) -> &dyn Observed {
        self.machine.hardware()
    }

    fn keep_stamps(&mut self) {
        let (hardware, link) = self.machine.parts();
        link.stamps.keep();
        let cores = hardware.cores.iter_mut();
        cores.for_each(|core| core.hart.offer(Feature::FaultTimes));
    }

    fn stamps(&self) -> &[Stamp] {
        self.link().stamps.all()
    }

    fn network(&self) -> NetworkView<'_> {
        let OnLink {
            nic, pager, error, ..
        } = self.link();
        let host = &self.machine.hardware().bus.host;
        let pager = pager.as_ref().map(|pager| &pager.linked);
        NetworkView {
            port: &self.output,
            nic: nic.linked.events(),
            pager: pager.map(Linked::events),
            nic_cycles: nic.linked.evaluated_cycles() + pager.map_or(0, Linked::evaluated_cycles),
            exit: host.exit(),
            error: error.as_ref(),
            output: host.console(),
        }
    }
}

impl<T: Timing> Networked<T> {
    fn link(&self) -> &OnLink {
        self.machine.workload()
    }
}

impl OnLink {
    /// Time of the next event: now, while a hart or the NIC is active.
    fn next_event<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> Cycle {
        if !self.is_idle() {
            self.now
        } else if self.off {
            Cycle::NEVER
        } else if self.harts().any(|hart| self.is_busy(hardware, hart))
            || !self.may_run_ahead(hardware)
            || self.tick_is_due(hardware)
        {
            self.now
        } else {
            let leaves = self
                .tile
                .as_ref()
                .map_or(Cycle::NEVER, LinkedTile::next_departure);
            self.timer(hardware).min(self.next_tick(hardware)).min(leaves)
        }
    }
}
