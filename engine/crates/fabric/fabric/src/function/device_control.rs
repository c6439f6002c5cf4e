use serde::{Deserialize, Serialize};

/// Tags of a function, and of one that may not use all (PCI Express 5.0, 2.2.6.2).
pub(super) const TAGS: u16 = 256;
pub(super) const PLAIN_TAGS: u16 = 32;

/// The device control register of a function, by which software allows it more than after reset (7.5.3.4).
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct DeviceControl(pub(super) u32);

impl DeviceControl {
    /// Bytes of the longest payload.
    pub(super) fn payload(self) -> u64 {
        128 << (self.0 >> 5 & 7)
    }

    /// Bytes of the longest read request.
    pub(super) fn read_request(self) -> u64 {
        128 << (self.0 >> 12 & 7)
    }

    /// How many tags of eight bits there are.
    pub(super) fn tags(self) -> u16 {
        if self.0 & 1 << 8 == 0 {
            PLAIN_TAGS
        } else {
            TAGS
        }
    }
}
