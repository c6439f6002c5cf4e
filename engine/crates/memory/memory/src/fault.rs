use std::fmt;

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read it.
    Read,
    /// Write it.
    Write,
}

/// An access that guest memory refuses: no such address, or the page does not allow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GuestFault {
    /// The first byte refused.
    pub address: u64,
    /// The kind of the access.
    pub access: Access,
}

impl fmt::Display for GuestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = match self.access {
            Access::Read => "read",
            Access::Write => "written",
        };
        write!(f, "the byte at {:#x} cannot be {done}", self.address)
    }
}

impl std::error::Error for GuestFault {}
