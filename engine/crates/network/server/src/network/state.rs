//! The state of a bare-metal server on a link, for checkpoints.

use super::{Frames, Networked, OnLink};
use rackwright_cpu::Timing;
use rackwright_ethernet::Frame;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::network::Cycle;

/// Between two visits of the network no window is open.
impl<T: Timing> State for Networked<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let (hardware, link) = self.machine.parts();
        link.pass(by)?;
        let hierarchy = hardware.cores[0].hierarchy();
        let hierarchy = hierarchy.expect("the NIC reaches memory through it");
        hierarchy.lock().pass(by)?;
        hardware.pass(by)?;
        State::pass(&mut self.output, by)
    }
}

/// The NIC, and what is on its way between it, the harts and the link. Recorded events are not in it.
impl State for OnLink {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        if let Some(error) = &self.error {
            return Err(StateError::Unsaved(format!("it has stopped: {error}")));
        }
        if self.pager.is_some() {
            let reason = "a server with remote memory cannot be saved";
            return Err(StateError::Unsaved(reason.to_string()));
        }
        self.nic.linked.pass(by)?;
        if let Some(tile) = &mut self.tile {
            tile.pass(by)?;
        }
        self.now.pass(by)?;
        self.end.pass(by)?;
        self.looked.pass(by)?;
        by.each(self.lines.iter_mut())?;
        self.accesses.pass(by)?;
        self.off.pass(by)?;
        self.frames.pass(by)
    }
}

impl State for Frames {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.queue(&mut self.coming, || (Cycle::ZERO, Frame::Raw([].into())))?;
        self.arrived.pass(by)?;
        debug_assert!(self.left.is_empty(), "frames leave in the visit that makes them");
        Ok(())
    }
}
