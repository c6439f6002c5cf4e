use rackwright_device::Register;

/// Registers of the unit that the server sets.
pub(super) const MAC_ADDRESS: u32 = 0x28;
pub(super) const RATE: u32 = 0x38;
pub(super) const MTU: u32 = 0x8b0;
pub(super) const WINDOW_FIRST: u32 = 0x8b8;
pub(super) const WINDOW_LAST: u32 = 0x8c0;
pub(super) const OFFER: u32 = 0x8c8;
/// Of both queues.
pub(super) const MODERATION: [u32; 2] = [0x8d0, 0x8d8];
/// The number of a ring that has something.
pub(super) const NOTIFICATION: u32 = 0x890;
const DEVICE_CONFIGURATION: u32 = 0x898;
/// Bytes of the configuration of network devices that the unit has.
const DEVICE_BYTES: usize = 16;

/// The unit's register for one of virtio's (hardware/…/nic/virtio/README.md), and the lowest bit that is meant.
pub(super) fn place(register: Register) -> Option<(u32, u32)> {
    let address = match register {
        Register::DeviceFeatureSelect => 0x800,
        Register::DeviceFeature => 0x808,
        Register::DriverFeatureSelect => 0x810,
        Register::DriverFeature => 0x818,
        Register::Rings => 0x820,
        Register::Status => 0x828,
        Register::Generation => 0x830,
        Register::RingSelect => 0x838,
        Register::RingSize => 0x840,
        Register::RingEnable => 0x848,
        Register::RingNotify => 0x850,
        Register::RingAddress(which, shift) => 0x858 + 16 * which as u32 + shift / 4,
        Register::InterruptStatus => 0x888,
        Register::Device(byte) if byte < DEVICE_BYTES => {
            let word = 8 * (byte as u32 / 8);
            return Some((DEVICE_CONFIGURATION + word, 8 * (byte as u32 % 8)));
        }
        Register::Device(_) | Register::Vector | Register::Notify(_) => return None,
    };
    Some((address, 0))
}
