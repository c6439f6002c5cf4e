use crate::{
    Admission, Egress, Faults, Frame, OutputPort, Policy, PortParameters, Refusals, ETHERNET_HEADER,
};
use rackwright_dispatch::Counters;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::Digest;
use rackwright_time::network::{Cycle, Cycles};
use std::collections::BTreeMap;

/// The parameters of a switch, except for its policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchParameters {
    /// Its ports.
    pub ports: Vec<PortParameters>,
    /// From the last flit in to the first flit out, without contention.
    pub latency: Cycles,
    /// Longer frames are dropped.
    pub largest_frame: usize,
    /// What goes wrong.
    pub faults: Faults,
}

/// A store-and-forward switch: a frame is handled when its last flit has arrived, waits for the switching latency, and
/// then for earlier frames at its output port (Karandikar 2024, section 2.3).
pub struct Switch {
    ports: Vec<OutputPort>,
    latency: Cycles,
    largest_frame: usize,
    policy: Box<dyn Policy>,
    egress: Egress,
    refusals: Refusals,
    faults: Faults,
    /// The ports that keep frames for later windows, each once.
    busy: Vec<u16>,
    /// Delayed frames and their ports: by time, and in order.
    late: BTreeMap<(Cycle, u64), (usize, Frame)>,
    delayed: u64,
}

impl Switch {
    /// A switch in its initial state.
    pub fn new(parameters: SwitchParameters, policy: Box<dyn Policy>) -> Switch {
        Switch {
            ports: parameters.ports.into_iter().map(OutputPort::new).collect(),
            latency: parameters.latency,
            largest_frame: parameters.largest_frame,
            policy,
            egress: Egress::default(),
            refusals: Refusals::default(),
            faults: parameters.faults,
            busy: Vec::new(),
            late: BTreeMap::new(),
            delayed: 0,
        }
    }

    /// Its ports.
    pub fn output_ports(&self) -> &[OutputPort] {
        &self.ports
    }

    /// The frames it did not forward although there was room.
    pub fn refusals(&self) -> Refusals {
        self.refusals
    }

    /// The counters of its dispatcher, if it has one.
    pub fn dispatched(&self) -> Option<Counters> {
        self.policy.dispatched()
    }

    fn take(
        &mut self,
        at: Cycle,
        ingress: usize,
        frame: Frame,
        until: Cycle,
        outbox: &mut Outbox<'_, Frame>,
    ) {
        let bytes = frame.length();
        self.ports[ingress].count_received(bytes);
        if bytes < ETHERNET_HEADER {
            self.refusals.runts += 1;
            return;
        }
        if bytes > self.largest_frame {
            self.refusals.giants += 1;
            return;
        }
        let mut egress = std::mem::take(&mut self.egress);
        egress.clear();
        self.policy.route(at, ingress, &frame, &self.ports, &mut egress);
        let ready = at + self.latency;
        match egress.ports() {
            [] if egress.is_consumed() => {}
            [port] if usize::from(*port) != ingress => self.offer(ready, *port, frame, until, outbox),
            ports if ports.iter().all(|port| usize::from(*port) == ingress) => self.refusals.unknown += 1,
            ports => {
                for port in ports.iter().filter(|port| usize::from(**port) != ingress) {
                    self.offer(ready, *port, frame.clone(), until, outbox);
                }
            }
        }
        self.send(ready, &mut egress, until, outbox);
        self.egress = egress;
    }

    /// Sends frames of the policy's own.
    fn send(&mut self, ready: Cycle, egress: &mut Egress, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        for (port, frame) in egress.sent() {
            self.offer(ready, port, frame, until, outbox);
        }
    }

    /// Time of the next delayed frame.
    #[inline]
    fn next_late(&self) -> Cycle {
        self.late
            .first_key_value()
            .map_or(Cycle::NEVER, |((at, _), _)| *at)
    }

    /// A frame arrives: it is accepted, unless there is a fault.
    fn arrive(
        &mut self,
        at: Cycle,
        ingress: usize,
        frame: Frame,
        until: Cycle,
        outbox: &mut Outbox<'_, Frame>,
    ) {
        if self.faults.restarts(at) {
            self.restart(at, until, outbox);
        }
        if self.faults.loses(at) {
            self.ports[ingress].count_received(frame.length());
            self.refusals.lost += 1;
        } else {
            self.take(at, ingress, frame, until, outbox);
        }
    }

    fn restart(&mut self, at: Cycle, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        let mut egress = std::mem::take(&mut self.egress);
        self.policy.restart(at, &mut egress);
        self.send(at + self.latency, &mut egress, until, outbox);
        self.egress = egress;
    }

    /// Lets the policy handle events before `limit`, and at `limit`.
    fn act(&mut self, limit: Cycle, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        while self.policy.next_event() <= limit && self.policy.next_event() < until {
            let at = self.policy.next_event();
            let mut egress = std::mem::take(&mut self.egress);
            if self.faults.is_down(at) {
                // Its messages are dropped, and time advances.
                self.policy.act(at, &mut egress);
                egress.sent();
            } else {
                self.policy.act(at, &mut egress);
                self.send(at + self.latency, &mut egress, until, outbox);
            }
            self.egress = egress;
        }
    }

    fn offer(
        &mut self,
        ready: Cycle,
        port: u16,
        mut frame: Frame,
        until: Cycle,
        outbox: &mut Outbox<'_, Frame>,
    ) {
        let own = usize::from(port);
        let output = &mut self.ports[own];
        if !output.offer(ready, frame.length()) {
            return;
        }
        match self.policy.admit(ready, &frame, output) {
            Admission::Take => {}
            Admission::Mark => output.counters.marked += u64::from(frame.mark_congested()),
            Admission::Drop => {
                output.counters.dropped += 1;
                return;
            }
        }
        let was_kept = output.queued() > 0;
        output.enqueue(ready, frame, until, own, outbox);
        if output.queued() > 0 && !was_kept {
            self.busy.push(port);
        }
    }
}

impl Model for Switch {
    type Item = Frame;

    fn ports(&self) -> usize {
        self.ports.len()
    }

    fn next_event(&self) -> Cycle {
        let departures = self
            .busy
            .iter()
            .map(|port| self.ports[usize::from(*port)].next_departure());
        departures
            .min()
            .unwrap_or(Cycle::NEVER)
            .min(self.policy.next_event())
            .min(self.next_late())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        let ports = &mut self.ports;
        self.busy.retain(|port| {
            let own = usize::from(*port);
            ports[own].release(until, own, outbox);
            ports[own].queued() > 0
        });
        loop {
            let late = self.next_late();
            self.act(arrivals.peek().min(late), until, outbox);
            if late < until && late <= arrivals.peek() {
                if let Some(((at, _), (port, frame))) = self.late.pop_first() {
                    self.arrive(at, port, frame, until, outbox);
                }
                continue;
            }
            let Some((port, arrival)) = arrivals.next() else {
                return;
            };
            match self.faults.delay() {
                Some(delay) => {
                    let place = (arrival.cycle + delay, self.delayed);
                    self.delayed += 1;
                    self.late.insert(place, (port, arrival.item));
                }
                None => self.arrive(arrival.cycle, port, arrival.item, until, outbox),
            }
        }
    }

    fn digest(&self, digest: &mut Digest) {
        for port in &self.ports {
            let counters = port.counters();
            [
                counters.received,
                counters.offered,
                counters.dropped,
                counters.marked,
            ]
            .into_iter()
            .for_each(|count| digest.number(count));
        }
        digest.number(self.refusals.total());
        self.policy.digest(digest);
    }
}

impl State for Switch {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if self.faults.are_possible() {
            return Err(StateError::Unsaved(
                "a switch with faults cannot be saved".to_string(),
            ));
        }
        by.each(self.ports.iter_mut())?;
        self.policy.pass_state(by)?;
        self.refusals.pass(by)?;
        self.busy.pass(by)
    }
}
