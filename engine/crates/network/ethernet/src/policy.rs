use crate::{Frame, OutputPort};
use rackwright_dispatch::Counters;
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;

/// Decides where frames go and which of them are kept.
///
/// A switch asks about one frame at a time, in the order (cycle of the last flit, port), which depends
/// on neither threads nor windows. A policy may keep state of its own, but nothing from outside.
pub trait Policy: Send + Sync {
    /// Adds the ports through which a frame is to leave that arrived whole at `at` through the port
    /// `ingress`; none drops it and counts it as unknown. It is never sent back to where it came from.
    fn route(&mut self, at: Cycle, ingress: usize, frame: &Frame, ports: &[OutputPort], egress: &mut Egress);

    /// Whether the buffer of a port that has room takes the frame. The default always does.
    fn admit(&mut self, at: Cycle, frame: &Frame, port: &OutputPort) -> Admission {
        let _ = (at, frame, port);
        Admission::Take
    }

    /// When it next wants to do something although no frame comes. The default never does.
    fn next_event(&self) -> Cycle {
        Cycle::NEVER
    }

    /// Does what is due at `at`, which is [`Policy::next_event`]; the next event is later then. Frames that arrive in
    /// the same cycle come after it.
    fn act(&mut self, at: Cycle, egress: &mut Egress) {
        let _ = (at, egress);
    }

    /// The switch has been down and is up again at `at`: whatever the policy knew is gone. The default knows nothing.
    fn restart(&mut self, at: Cycle, egress: &mut Egress) {
        let _ = (at, egress);
    }

    /// What its dispatcher has done, if it has one.
    fn dispatched(&self) -> Option<Counters> {
        None
    }

    /// Adds its state to a digest. The default has none.
    fn digest(&self, digest: &mut Digest) {
        let _ = digest;
    }
}

/// What becomes of a frame for which there is room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It is queued.
    Take,
    /// It is queued and marked as having met congestion, if its ends understand that; else just queued.
    Mark,
    /// It is dropped and counted.
    Drop,
}

/// The ports through which a frame leaves, and frames that leave beside it or instead of it.
#[derive(Debug, Default)]
pub struct Egress {
    ports: Vec<u16>,
    sent: Vec<(u16, Frame)>,
    is_consumed: bool,
}

impl Egress {
    /// Adds a port.
    #[inline]
    pub fn add(&mut self, port: u16) {
        self.ports.push(port);
    }

    /// Adds several ports.
    pub fn extend(&mut self, ports: &[u16]) {
        self.ports.extend_from_slice(ports);
    }

    /// Sends another frame through a port, which may be the one that the frame came from. It takes as long through the
    /// switch as if it had arrived.
    #[inline]
    pub fn send(&mut self, port: u16, frame: Frame) {
        self.sent.push((port, frame));
    }

    /// The frame was for the switch itself: it does not count as unknown although it leaves through no port.
    #[inline]
    pub fn consume(&mut self) {
        self.is_consumed = true;
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.ports.clear();
        self.is_consumed = false;
    }

    #[inline]
    pub(crate) fn is_consumed(&self) -> bool {
        self.is_consumed
    }

    #[inline]
    pub(crate) fn sent(&mut self) -> std::vec::Drain<'_, (u16, Frame)> {
        self.sent.drain(..)
    }

    #[inline]
    pub(crate) fn ports(&self) -> &[u16] {
        &self.ports
    }
}
