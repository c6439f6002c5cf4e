use crate::{Frame, OutputPort};
use rackwright_time::Cycle;

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

/// The ports through which a frame leaves.
#[derive(Debug, Default)]
pub struct Egress {
    ports: Vec<u16>,
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

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.ports.clear();
    }

    #[inline]
    pub(crate) fn ports(&self) -> &[u16] {
        &self.ports
    }
}
