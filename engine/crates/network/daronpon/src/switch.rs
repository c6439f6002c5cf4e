use crate::{DaronponError, Datapath, Unit};
use rackwright_dispatch::Counters;
use rackwright_ethernet::{
    Admission, Egress, Forwarding, Frame, Mac, OutputPort, Policy, Rack, SIMULATED_KEY,
};
use rackwright_rtl::Design;
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;
use rackwright_time::Clock;
use std::collections::BTreeSet;

/// The policy of a top-of-rack switch with the dispatcher in RTL in its path: like
/// [`rackwright_ethernet::Dispatching`], with the unit in place of the policy crate.
///
/// The unit decides in no simulated time, like the policy crate; its duration is part of the switch's latency.
pub struct UnitDispatching {
    forwarding: Forwarding,
    rack: Rack,
    unit: Unit,
    clock: Clock,
    below: BTreeSet<Mac>,
    sent: Vec<Vec<u8>>,
}

impl UnitDispatching {
    /// The policy of a switch that has just started.
    ///
    /// # Errors
    /// [`DaronponError`] with the unsupported feature.
    pub fn new(
        forwarding: Forwarding,
        rack: Rack,
        clock: Clock,
        design: &Design,
    ) -> Result<UnitDispatching, DaronponError> {
        Ok(UnitDispatching {
            unit: Unit::new(design, &rack, &SIMULATED_KEY)?,
            below: rack.replicas.values().map(|place| place.mac).collect(),
            forwarding,
            rack,
            clock,
            sent: Vec::new(),
        })
    }

    fn nanoseconds(&self, at: Cycle) -> u64 {
        (u128::from(at.0) * 1_000_000_000 / u128::from(self.clock.hertz())) as u64
    }

    /// Passes a frame to the unit, and sends its output.
    fn give(&mut self, at: Cycle, frame: &[u8], egress: &mut Egress) {
        let now = self.nanoseconds(at);
        self.unit.frame(now, frame, &mut self.sent);
        for bytes in self.sent.drain(..) {
            let frame = Frame::from_bytes(&bytes);
            if let Some(port) = self.forwarding.port(&frame) {
                egress.send(port, frame);
            }
        }
    }

    /// Whether the frame is from or to a replica below: the unit forwards all others unchanged.
    fn concerns(&self, frame: &Frame) -> bool {
        let addresses = match frame {
            Frame::Datagram(datagram) => [datagram.destination, datagram.source],
            Frame::Told(told) => [told.datagram.destination, told.datagram.source],
            Frame::Raw(bytes) => match bytes.first_chunk::<12>() {
                Some([a, b, c, d, e, f, g, h, i, j, k, l]) => {
                    [Mac([*a, *b, *c, *d, *e, *f]), Mac([*g, *h, *i, *j, *k, *l])]
                }
                None => return false,
            },
        };
        addresses.iter().any(|mac| self.below.contains(mac))
    }
}

impl Policy for UnitDispatching {
    fn route(&mut self, at: Cycle, ingress: usize, frame: &Frame, ports: &[OutputPort], egress: &mut Egress) {
        match self.concerns(frame) {
            true => {
                egress.consume();
                self.give(at, &frame.to_bytes(), egress);
            }
            false => self.forwarding.route(at, ingress, frame, ports, egress),
        }
    }

    fn admit(&mut self, at: Cycle, frame: &Frame, port: &OutputPort) -> Admission {
        self.forwarding.admit(at, frame, port)
    }

    fn next_event(&self) -> Cycle {
        let cycles = u128::from(self.unit.next_timer()) * u128::from(self.clock.hertz());
        Cycle::new(u64::try_from(cycles.div_ceil(1_000_000_000)).unwrap_or(u64::MAX))
    }

    fn act(&mut self, at: Cycle, egress: &mut Egress) {
        self.give(at, &[], egress);
    }

    fn restart(&mut self, at: Cycle, egress: &mut Egress) {
        self.rack.configuration.incarnation += 1;
        let started = self.unit.start(&self.rack, &SIMULATED_KEY);
        started.expect("it was possible before");
        self.give(at, &[], egress);
    }

    fn dispatched(&self) -> Option<Counters> {
        Some(self.unit.counters())
    }

    fn digest(&self, digest: &mut Digest) {
        let counters = self.unit.counters();
        counters.named().for_each(|(_, count)| digest.number(count));
    }
}
