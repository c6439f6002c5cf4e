use rackwright_memory::GuestFault;

/// A rule violation of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// A ring that is not in memory, not aligned, or of an impossible size.
    #[error("a ring is not in memory, not aligned, or of an impossible size")]
    Ring,
    /// More buffers than the ring has places.
    #[error("more buffers are available than the ring has places")]
    Index,
    /// A chain of descriptors without an end, or with a link that leads nowhere.
    #[error("a chain of descriptors has no end or leaves its table")]
    Chain,
    /// A buffer of no bytes, or a chain of more than the specification allows.
    #[error("a buffer has no bytes, or a chain too many")]
    Length,
    /// A buffer that is not in memory.
    #[error("a buffer is not in memory")]
    Address,
    /// Readable buffers after writable ones.
    #[error("a buffer to read comes behind one to write")]
    Order,
    /// A request that lacks a part which every one has.
    #[error("a request lacks a part")]
    Request,
}

impl From<GuestFault> for Fault {
    fn from(_: GuestFault) -> Fault {
        Fault::Address
    }
}
