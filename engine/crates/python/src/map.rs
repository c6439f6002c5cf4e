use pyo3::prelude::*;
use rackwright_device::{Map, Place};
use rackwright_server::{BARE_METAL_BYTES, NIC_REGISTERS, USER_BYTES};
use rackwright_unit::REGISTER_PAGE;

/// A place as Python sees it: its name, first address, bytes, and its interrupt source at the PLIC (0: none).
type Row = (&'static str, u64, u64, u32);

/// The devices of a server that boots Linux, in the order of their addresses.
#[pyfunction]
pub fn linux_devices() -> Vec<Row> {
    rows(&Map::SERVER)
}

/// The devices of a server that runs bare metal, and the registers of its NIC, if it is in a cluster.
#[pyfunction]
pub fn bare_metal_devices(networked: bool) -> Vec<Row> {
    let mut rows = rows(&Map::BARE_METAL);
    if networked {
        rows.push(row(("nic", NIC_REGISTERS)));
        rows.sort_by_key(|(_, base, ..)| *base);
    }
    rows
}

/// The start of memory, its size for bare metal, and the address space of a program in user mode.
#[pyfunction]
pub fn memory_places() -> (u64, u64, u64) {
    let bare_metal = BARE_METAL_BYTES - Map::BARE_METAL.memory;
    (Map::SERVER.memory, bare_metal, USER_BYTES)
}

/// Interrupt source of the function in device `number` of the PCI bus.
#[pyfunction]
pub fn pci_interrupt(number: usize) -> u32 {
    let sources = Map::SERVER.pci.sources;
    sources[number % sources.len()]
}

/// Bytes of a unit's registers.
#[pyfunction]
pub fn unit_register_bytes() -> u64 {
    REGISTER_PAGE
}

fn rows(map: &Map) -> Vec<Row> {
    map.places().into_iter().map(row).collect()
}

fn row((name, place): (&'static str, Place)) -> Row {
    (name, place.base, place.bytes, place.source)
}
