use rackwright_registers::virtio::virtio_moderation::{ALWAYS, PACKETS, TIME};

/// Bits of features (virtio 1.2, sections 5.1.3 and 6).
const CHECKSUM: u64 = 1 << 0;
const GUEST_CHECKSUM: u64 = 1 << 1;
const MERGEABLE: u64 = 1 << 15;
const EVENT_INDEX: u64 = 1 << 29;

/// The features of a card for its driver, if the driver supports them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CardFeatures {
    /// It inserts checksums into frames, and verifies those of TCP.
    pub checksums: bool,
    /// A frame that it has received may fill several buffers.
    pub mergeable: bool,
    /// It interrupts only if the driver requests it; otherwise with every frame.
    pub suppression: bool,
    /// It interrupts after this number of frames,
    pub frames: u16,
    /// or this number of its cycles after the first of them.
    pub delay: u32,
}

impl CardFeatures {
    /// The bits of features that it may offer.
    pub(super) fn offer(self) -> u64 {
        let chosen = [
            (self.checksums, CHECKSUM | GUEST_CHECKSUM),
            (self.mergeable, MERGEABLE),
            (self.suppression, EVENT_INDEX),
        ];
        chosen.iter().filter(|(on, _)| *on).map(|(_, bits)| bits).sum()
    }

    /// The interrupt moderation of a queue.
    pub(super) fn moderation(self) -> u64 {
        ALWAYS.put(u64::from(!self.suppression))
            | TIME.put(self.delay.into())
            | PACKETS.put(self.frames.into())
    }
}
