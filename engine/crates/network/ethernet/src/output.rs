use crate::rate::Moment;
use crate::{Frame, PortCounters, Rate};
use rackwright_contract::flits;
use rackwright_schedule::Outbox;
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::network::{Cycle, Cycles};
use std::collections::VecDeque;

/// The parameters of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortParameters {
    /// Its data rate.
    pub rate: Rate,
    /// Maximum number of bytes of frames that wait or are being sent.
    pub buffer_bytes: u64,
}

impl Default for PortParameters {
    /// A flit per cycle and 512 KiB.
    fn default() -> Self {
        PortParameters {
            rate: Rate::FULL,
            buffer_bytes: 512 << 10,
        }
    }
}

/// A frame with the times at which its first and last flit leave.
#[derive(Debug)]
struct Departure {
    first: Cycle,
    last: Cycle,
    frame: Frame,
}

/// The sending side of a port: a bounded first-in-first-out buffer in front of a link.
///
/// The departure of a frame is determined when it is offered, because no frame overtakes it: it departs when it is
/// ready and the frames before it have departed.
#[derive(Debug)]
pub struct OutputPort {
    parameters: PortParameters,
    /// Time at which everything offered so far has left.
    done: Moment,
    departures: VecDeque<Departure>,
    /// Time at which each frame in the buffer has left, and its length.
    held: VecDeque<(Cycle, u32)>,
    held_bytes: u64,
    pub(crate) counters: PortCounters,
}

impl OutputPort {
    /// An empty port.
    pub fn new(parameters: PortParameters) -> OutputPort {
        OutputPort {
            parameters,
            done: Moment::default(),
            departures: VecDeque::new(),
            held: VecDeque::new(),
            held_bytes: 0,
            counters: PortCounters::default(),
        }
    }

    /// Its parameters.
    pub fn parameters(&self) -> PortParameters {
        self.parameters
    }

    /// Bytes of the frames that are in the buffer, as of the last [`OutputPort::settle`].
    #[inline]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Forgets frames that have left by the cycle `at`. A frame holds its room until its last flit is
    /// out.
    #[inline]
    pub fn settle(&mut self, at: Cycle) {
        if self.done.ceiling() <= at {
            self.held.clear();
            self.held_bytes = 0;
            return;
        }
        while let Some((_, bytes)) = self.held.front().filter(|(gone, _)| *gone <= at) {
            self.held_bytes -= u64::from(*bytes);
            self.held.pop_front();
        }
    }

    /// Whether there is room for `bytes` further bytes.
    #[inline]
    pub fn has_room(&self, bytes: usize) -> bool {
        self.held_bytes + bytes as u64 <= self.parameters.buffer_bytes
    }

    /// Queues a frame that is complete at `ready` after earlier ones. If its first flit leaves in this window, it is
    /// sent immediately as port `own` of `outbox`, otherwise stored for [`OutputPort::release`].
    #[inline]
    pub fn enqueue(
        &mut self,
        ready: Cycle,
        frame: Frame,
        until: Cycle,
        own: usize,
        outbox: &mut Outbox<'_, Frame>,
    ) {
        let bytes = frame.length();
        let flits = flits(bytes) as u64;
        let start = self.done.max(Moment::of(ready));
        let first = start.ceiling();
        let last = self.parameters.rate.after(start, flits - 1).ceiling();
        self.done = self.parameters.rate.after(start, flits);
        self.hold(bytes);
        if first < until {
            self.send(Departure { first, last, frame }, own, outbox);
        } else {
            self.departures.push_back(Departure { first, last, frame });
        }
    }

    /// Forwards a frame that arrives flit by flit, from `first` to `last`: it leaves with its last flit if the port is
    /// as fast as the source, otherwise later. It is known to the other end from its last flit on.
    pub fn pass(
        &mut self,
        first: Cycle,
        last: Cycle,
        frame: Frame,
        until: Cycle,
        own: usize,
        outbox: &mut Outbox<'_, Frame>,
    ) {
        let bytes = frame.length();
        if !self.offer(last, bytes) {
            return;
        }
        let flits = flits(bytes) as u64;
        let start = self.done.max(Moment::of(first));
        let last = self.parameters.rate.after(start, flits - 1).ceiling().max(last);
        self.done = self
            .parameters
            .rate
            .after(start, flits)
            .max(Moment::of(last + Cycles::new(1)));
        self.hold(bytes);
        let departure = Departure {
            first: last,
            last,
            frame,
        };
        if last < until {
            self.send(departure, own, outbox);
        } else {
            self.departures.push_back(departure);
        }
    }

    /// Records a frame that occupies the buffer until everything offered so far has left.
    #[inline]
    fn hold(&mut self, bytes: usize) {
        self.held.push_back((self.done.ceiling(), bytes as u32));
        self.held_bytes += bytes as u64;
        self.counters.peak_bytes = self.counters.peak_bytes.max(self.held_bytes);
    }

    /// Counts a frame for this port, and updates the buffer to the time `at`. Returns whether it fits; one that doesn't
    /// is counted as dropped.
    #[inline]
    pub fn offer(&mut self, at: Cycle, bytes: usize) -> bool {
        self.settle(at);
        self.counters.offered += 1;
        let fits = self.has_room(bytes);
        self.counters.dropped += u64::from(!fits);
        fits
    }

    /// Sends the frames whose first flit leaves before `until`.
    pub fn release(&mut self, until: Cycle, own: usize, outbox: &mut Outbox<'_, Frame>) {
        while self.next_departure() < until {
            let departure = self.departures.pop_front().expect("a departure is due");
            self.send(departure, own, outbox);
        }
    }

    /// Departure of the first flit of the next stored frame.
    #[inline]
    pub fn next_departure(&self) -> Cycle {
        self.departures
            .front()
            .map_or(Cycle::NEVER, |departure| departure.first)
    }

    /// Time from `at` until everything offered so far has left.
    #[inline]
    pub fn backlog(&self, at: Cycle) -> Cycles {
        self.done.ceiling().since(at)
    }

    /// Number of stored frames that have not started to leave.
    pub fn queued(&self) -> u64 {
        self.departures.len() as u64
    }

    /// Counts a frame that arrived through this port.
    #[inline]
    pub fn count_received(&mut self, bytes: usize) {
        self.counters.received += 1;
        self.counters.received_bytes += bytes as u64;
    }

    /// The counters so far.
    pub fn counters(&self) -> PortCounters {
        self.counters
    }

    #[inline]
    fn send(&mut self, departure: Departure, own: usize, outbox: &mut Outbox<'_, Frame>) {
        self.counters.sent += 1;
        self.counters.sent_bytes += departure.frame.length() as u64;
        outbox.send(own, departure.first, departure.last, departure.frame);
    }
}

state!(Departure { first, last, frame });

impl State for OutputPort {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.done.pass(by)?;
        by.queue(&mut self.departures, || Departure {
            first: Cycle::ZERO,
            last: Cycle::ZERO,
            frame: Frame::Raw([].into()),
        })?;
        self.held.pass(by)?;
        self.held_bytes.pass(by)?;
        self.counters.pass(by)
    }
}
