use crate::{Pace, Wire};
use rackwright_ethernet::{Frame, OutputPort, PortParameters, LARGEST_FRAME};
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;

/// Maximum number of frames taken from the machine in one window, so that windows end.
const MOST_PER_WINDOW: usize = 256;

/// A port through which a simulated network and the machine exchange frames.
///
/// A frame from the machine starts to leave in the window in which it is found; one for the machine is passed to it at
/// the end of the window in which it arrives.
pub struct HostPort {
    output: OutputPort,
    wire: Box<dyn Wire>,
    pace: Pace,
    now: Cycle,
    /// Frames that the machine did not take.
    refused: u64,
    buffer: Vec<u8>,
}

impl HostPort {
    /// A port in its initial state.
    pub fn new(port: PortParameters, wire: Box<dyn Wire>, pace: Pace) -> HostPort {
        HostPort {
            output: OutputPort::new(port),
            wire,
            pace,
            now: Cycle::ZERO,
            refused: 0,
            buffer: vec![0; LARGEST_FRAME + 1],
        }
    }

    /// Its port.
    pub fn output_port(&self) -> &OutputPort {
        &self.output
    }

    /// Frames that the machine did not accept: no program listens, or not fast enough.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn take_in(&mut self, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        for _ in 0..MOST_PER_WINDOW {
            let Some(length) = self.wire.receive(&mut self.buffer) else {
                return;
            };
            // A datagram may be empty, which no frame is.
            let Ok(frame) = Frame::raw(&self.buffer[..length]) else {
                continue;
            };
            if self.output.offer(self.now, length) {
                self.output.enqueue(self.now, frame, until, 0, outbox);
            }
        }
    }
}

impl Model for HostPort {
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    /// In every window the machine may have a frame.
    fn next_event(&self) -> Cycle {
        self.now
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.pace.wait(self.now);
        self.output.release(until, 0, outbox);
        while let Some((_, arrival)) = arrivals.next() {
            self.output.count_received(arrival.item.length());
            self.refused += u64::from(!self.wire.send(&arrival.item.to_bytes()));
        }
        self.take_in(until, outbox);
        self.now = until;
    }

    fn digest(&self, digest: &mut Digest) {
        let counters = self.output.counters();
        [counters.received, counters.offered, counters.dropped]
            .into_iter()
            .for_each(|count| digest.number(count));
    }
}
