use crate::hart::Hart;
use crate::timing::Timing;
use std::ops::Range;

/// What a hart has in addition to what all harts have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Feature {
    /// A vector unit. A program always has one, bare metal only by this.
    Vector,
    /// Firmware may provide a timer for the supervisor (Sstc), which the caller then has to raise.
    SupervisorTimer,
    /// A controller of message-signalled interrupts (Smaia, Ssaia), which has the place of the lines for external
    /// interrupts.
    Messages,
    /// There are units beside the hart, which it shows; it stops when translations are fenced, which they keep too.
    Units,
    /// A program may access devices at these addresses, where there is no memory. Bare metal may anyway.
    Devices(Range<u64>),
    /// It requests remote pages by [`Stop::RemotePage`](crate::Stop::RemotePage) instead of taking their page faults,
    /// and by [`Stop::Prefetch`](crate::Stop::Prefetch).
    RemotePages,
    /// It keeps when page faults are taken, and when the supervisor returns, for [`Hart::take_faults`].
    FaultTimes,
}

impl<T: Timing> Hart<T> {
    /// Gives it a feature, before or between runs.
    pub fn offer(&mut self, feature: Feature) {
        match feature {
            Feature::Vector => self.offer_vector(),
            Feature::SupervisorTimer => self.control.offers.timer = true,
            Feature::Messages => self.control.imsic = Some(Box::default()),
            Feature::Units => self.control.offers.custom = true,
            Feature::Devices(addresses) => self.devices = addresses,
            Feature::RemotePages => self.state.asks_for_remote_pages = true,
            Feature::FaultTimes => {
                self.faults.get_or_insert_default();
            }
        }
    }
}
