//! A PCI Express host bridge with its functions on one bus: configuration space by the enhanced access mechanism (PCI
//! Express Base Specification 5.0, section 7.2.2), base address registers, and legacy interrupts. Further buses are below the
//! root ports of a tree.

mod configuration;
mod function;
mod host;
mod messages;
mod tiles;
mod tree;

pub use configuration::{Capability, Header, BARS};
pub use function::{Endpoint, Function as PciFunction};
pub use host::PciHost;
pub use tree::{Tree, TreeAccess, TreeMaker, TreePlace, FIRST_ROOT_PORT, LINES};

/// The result of a read without a response: a host bridge turns a failed request into ones.
pub(crate) fn all_ones(bytes: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(bytes))
}
