/// An access to an address without memory, for the owner of the devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceAccess {
    /// Physical address.
    pub address: u64,
    /// Bytes accessed: 1, 2, 4 or 8.
    pub bytes: u8,
    /// The written data, in the low bytes; `None` for a read.
    pub write: Option<u64>,
}
