/// An access to an address where there is no memory: for whoever holds the devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceAccess {
    /// Physical address.
    pub address: u64,
    /// Bytes accessed: 1, 2, 4 or 8.
    pub bytes: u8,
    /// What is written, in the low bytes; `None` for a read.
    pub write: Option<u64>,
}
