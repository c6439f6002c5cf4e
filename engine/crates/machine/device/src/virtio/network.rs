use crate::pci::Header;
use crate::virtio::registers::{capabilities, BYTES};
use crate::virtio::transport::{FIRST_DEVICE, REVISION, VENDOR};
use virtio_bindings::virtio_ids::VIRTIO_ID_NET;

/// PCI's class of an Ethernet controller.
const ETHERNET: u32 = 0x02_00_00;

/// The identity of a network device on the PCI bus (virtio 1.2, sections 4.1.2 and 5.1).
pub fn network_header() -> Header {
    let device = FIRST_DEVICE + VIRTIO_ID_NET as u16;
    Header {
        vendor: VENDOR,
        device,
        revision: REVISION,
        class: ETHERNET,
        subsystem: (VENDOR, device),
        bars: [BYTES, 0, 0],
        capabilities: capabilities(),
    }
}
