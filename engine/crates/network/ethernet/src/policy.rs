use crate::{Frame, OutputPort};
use rackwright_dispatch::Counters;
use rackwright_state::{Pass, StateError};
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;

/// Decides where frames go, and which ones are dropped.
///
/// A switch passes one frame at a time, in the order (cycle of the last flit, port), which depends on neither threads
/// nor windows. A policy may have state of its own, but must not depend on anything else.
pub trait Policy: Send + Sync {
    /// Adds the output ports of a frame that has arrived completely at `at` through the port `ingress`; without a port,
    /// the frame is dropped and counted as unknown. It is never sent back to the port of its arrival.
    fn route(&mut self, at: Cycle, ingress: usize, frame: &Frame, ports: &[OutputPort], egress: &mut Egress);

    /// Whether the buffer of a port that has room takes the frame. The default always does.
    fn admit(&mut self, at: Cycle, frame: &Frame, port: &OutputPort) -> Admission {
        let _ = (at, frame, port);
        Admission::Take
    }

    /// Time of its next event if no frame arrives. The default never does.
    fn next_event(&self) -> Cycle {
        Cycle::NEVER
    }

    /// Handles the event at `at`, which is [`Policy::next_event`]; the next event must be later. Frames that arrive in
    /// the same cycle are handled after it.
    fn act(&mut self, at: Cycle, egress: &mut Egress) {
        let _ = (at, egress);
    }

    /// The switch has restarted at `at` after an outage: the policy loses its state. By default, there is no state.
    fn restart(&mut self, at: Cycle, egress: &mut Egress) {
        let _ = (at, egress);
    }

    /// The counters of its dispatcher, if it has one.
    fn dispatched(&self) -> Option<Counters> {
        None
    }

    /// Passes its state to or from a checkpoint.
    ///
    /// # Errors
    /// [`StateError`]; the default has state that cannot be saved.
    fn pass_state(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let _ = by;
        Err(StateError::Unsaved(
            "the state of its policy cannot be saved".to_string(),
        ))
    }

    /// Adds its state to a digest. The default has none.
    fn digest(&self, digest: &mut Digest) {
        let _ = digest;
    }
}

/// The treatment of a frame for which there is room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It is queued.
    Take,
    /// It is queued, with a congestion mark if its endpoints support that.
    Mark,
    /// It is dropped and counted.
    Drop,
}

/// The output ports of a frame, and frames that are sent in addition to it or instead of it.
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

    /// Sends another frame through a port, which may be the port of arrival of the current frame. It takes as long
    /// through the switch as if it had arrived.
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
