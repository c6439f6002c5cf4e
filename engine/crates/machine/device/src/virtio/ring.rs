use crate::ram::Ram;
use crate::virtio::chain::Chain;
use crate::virtio::fault::Fault;
use serde::{Deserialize, Serialize};
use virtio_queue::{Queue, QueueOwnedT, QueueState, QueueT};

/// A split ring as set up by a driver, and the device's progress in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ring {
    most: u16,
    /// Number of places, as selected by the driver.
    pub(crate) size: u16,
    /// Address of the table of descriptors.
    pub(crate) descriptors: u64,
    /// Address of the ring of available buffers.
    pub(crate) available: u64,
    /// Address of the ring of used buffers.
    pub(crate) used: u64,
    /// Whether the driver has ended its set-up.
    pub(crate) enabled: bool,
    /// Whether both sides select the buffer at which they are notified (`VIRTIO_F_EVENT_IDX`).
    pub(crate) events: bool,
    next_available: u16,
    next_used: u16,
}

impl Ring {
    /// A ring of at most `most` places, a power of two.
    pub(crate) fn new(most: u16) -> Ring {
        Ring {
            most,
            size: most,
            descriptors: 0,
            available: 0,
            used: 0,
            enabled: false,
            events: false,
            next_available: 0,
            next_used: 0,
        }
    }

    /// The next buffers that the driver has made available.
    pub(crate) fn take(&mut self, ram: &Ram<'_>) -> Result<Option<Chain>, Fault> {
        let mut queue = self.queue(ram)?;
        let chain = queue.iter(ram).map_err(|_| Fault::Index)?.next();
        self.next_available = queue.next_avail();
        chain.map(|chain| Chain::follow(chain, self.size)).transpose()
    }

    /// Requests a notification when the driver makes further buffers available. Returns whether it has done so already,
    /// perhaps before it saw the request: of these, it does not notify.
    pub(crate) fn ask_for_more(&mut self, ram: &Ram<'_>) -> Result<bool, Fault> {
        let more = self.queue(ram)?.enable_notification(ram);
        more.map_err(|_| Fault::Ring)
    }

    /// Returns buffers of which `written` bytes were written; returns whether the driver requests an interrupt.
    pub(crate) fn give(&mut self, ram: &Ram<'_>, head: u16, written: u32) -> Result<bool, Fault> {
        let mut queue = self.queue(ram)?;
        queue.add_used(ram, head, written).map_err(|_| Fault::Ring)?;
        self.next_used = queue.next_used();
        queue.needs_notification(ram).map_err(|_| Fault::Ring)
    }

    fn queue(&self, ram: &Ram<'_>) -> Result<Queue, Fault> {
        let state = QueueState {
            max_size: self.most,
            next_avail: self.next_available,
            next_used: self.next_used,
            event_idx_enabled: self.events,
            size: self.size,
            ready: self.enabled,
            desc_table: self.descriptors,
            avail_ring: self.available,
            used_ring: self.used,
        };
        let queue = Queue::try_from(state).map_err(|_| Fault::Ring)?;
        if queue.is_valid(ram) {
            Ok(queue)
        } else {
            Err(Fault::Ring)
        }
    }
}
