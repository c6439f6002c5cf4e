//! Devices of a simulated server, as seen by its harts: registers at addresses, and interrupt lines.
//!
//! A [`Device`] does not depend on the machine around it. The [`Bus`] selects it by address, connects the interrupt
//! lines of all devices to the PLIC, and provides each hart's lines; the machine passes them to harts.

mod aclint;
mod aplic;
mod bus;
mod device;
mod disk;
mod far_memory;
mod host_interface;
mod interrupt_files;
mod map;
mod pci;
mod plic;
mod power;
mod ram;
mod touched;
mod uart;
mod virtio;

pub use aclint::Aclint;
pub use aplic::Aplic;
pub use bus::{Bus, LineOfTiles, Lines, ACCESS_LATENCY, CROSSING_LATENCY};
pub use device::{decode, encode, Device, RestoreError};
pub use disk::{Disk, DiskError};
pub use far_memory::FarMemory;
pub use host_interface::HostInterface;
pub use map::{check_places, Map, MapError, PciMap, Place, UARTS};
pub use pci::{
    Capability, Endpoint, Header, PciFunction, PciHost, Tree, TreeAccess, TreeMaker, TreePlace, BARS,
    FIRST_ROOT_PORT, LINES,
};
pub use plic::Plic;
pub use power::{Power, PowerRequest};
pub use ram::Ram;
pub use uart::Uart;
pub use virtio::{network_header, Block, Entropy, Network, Register, Virtio};
pub use virtio::{NO_VECTOR, WINDOW as WINDOW_CAPABILITY};
