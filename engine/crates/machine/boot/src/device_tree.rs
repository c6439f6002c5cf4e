use rackwright_contract::HIGHEST_IDENTITY;
use rackwright_device::{Aplic, Map, PciMap, Place, Plic, LINES};
use rackwright_time::Clock;
use std::ops::Range;
use vm_fdt::{Error, FdtWriter};

/// The properties of a machine that its device tree describes.
#[derive(Clone, Copy, Debug)]
pub struct Hardware<'a> {
    /// The addresses of its devices and its memory.
    pub map: &'a Map,
    /// Its number of harts.
    pub harts: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The clock of the register `time`.
    pub time_base: Clock,
    /// The seed of the kernel's random numbers.
    pub seed: u64,
    /// Whether harts have vector units.
    pub vector: bool,
}

/// Extensions of a hart, in the names of the device tree bindings: those of one letter, the vector extension, the
/// others.
const LETTERS: [&str; 6] = ["i", "m", "a", "f", "d", "c"];
const VECTOR: [&str; 1] = ["v"];
const NAMED: [&str; 5] = ["zicntr", "zicsr", "zifencei", "sstc", "svinval"];
/// Those with the Advanced Interrupt Architecture.
const MESSAGES: [&str; 2] = ["smaia", "ssaia"];
/// The frequency that serial ports divide; it has no effect here.
const UART_HERTZ: u32 = 3_686_400;
/// Bytes of [`Hardware::seed`] spread out for the kernel.
const SEED_BYTES: usize = 64;

/// References between nodes.
const INTERRUPTS: u32 = 1;
const POWER: u32 = 2;
const MACHINE_APLIC: u32 = 3;
const MACHINE_FILES: u32 = 4;
const SUPERVISOR_FILES: u32 = 5;
const FIRST_HART: u32 = 16;

/// Writes the tree. `files` is the address range of the initial file system.
pub(crate) fn write(
    hardware: &Hardware<'_>,
    command_line: &str,
    files: Range<u64>,
) -> Result<Vec<u8>, Error> {
    let mut tree = FdtWriter::new()?;
    let root = tree.begin_node("")?;
    tree.property_u32("#address-cells", 2)?;
    tree.property_u32("#size-cells", 2)?;
    tree.property_string("compatible", "rackwright,server")?;
    tree.property_string("model", "rackwright,server")?;
    chosen(&mut tree, hardware, command_line, files)?;
    let memory = tree.begin_node(&format!("memory@{:x}", hardware.map.memory))?;
    tree.property_string("device_type", "memory")?;
    tree.property_array_u64("reg", &[hardware.map.memory, hardware.memory_bytes])?;
    tree.end_node(memory)?;
    harts(&mut tree, hardware)?;
    devices(&mut tree, hardware)?;
    switch(&mut tree, "poweroff", "syscon-poweroff", 0x5555)?;
    switch(&mut tree, "reboot", "syscon-reboot", 0x7777)?;
    tree.end_node(root)?;
    tree.finish()
}

fn chosen(
    tree: &mut FdtWriter,
    hardware: &Hardware<'_>,
    command_line: &str,
    files: Range<u64>,
) -> Result<(), Error> {
    let node = tree.begin_node("chosen")?;
    tree.property_string("bootargs", command_line)?;
    let console = hardware.map.uarts[0].base;
    tree.property_string("stdout-path", &format!("/soc/serial@{console:x}"))?;
    if !files.is_empty() {
        tree.property_u64("linux,initrd-start", files.start)?;
        tree.property_u64("linux,initrd-end", files.end)?;
    }
    tree.property("rng-seed", &spread(hardware.seed))?;
    tree.end_node(node)
}

/// Bytes generated from a seed (the generator SplitMix64): the same for every run, as everything here.
fn spread(seed: u64) -> [u8; SEED_BYTES] {
    let mut state = seed;
    let mut bytes = [0; SEED_BYTES];
    for place in bytes.chunks_exact_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = state;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        place.copy_from_slice(&(value ^ value >> 31).to_le_bytes());
    }
    bytes
}

fn harts(tree: &mut FdtWriter, hardware: &Hardware<'_>) -> Result<(), Error> {
    let node = tree.begin_node("cpus")?;
    tree.property_u32("#address-cells", 1)?;
    tree.property_u32("#size-cells", 0)?;
    tree.property_u32("timebase-frequency", hardware.time_base.hertz() as u32)?;
    for hart in 0..hardware.harts as u32 {
        let cpu = tree.begin_node(&format!("cpu@{hart:x}"))?;
        tree.property_string("device_type", "cpu")?;
        tree.property_u32("reg", hart)?;
        tree.property_string("status", "okay")?;
        tree.property_string("compatible", "riscv")?;
        tree.property_string("riscv,isa-base", "rv64i")?;
        let vector = if hardware.vector { &VECTOR[..] } else { &[] };
        let single = [&LETTERS, vector].concat();
        let messages = if hardware.map.aplic.is_used() {
            &MESSAGES[..]
        } else {
            &[]
        };
        let named = [&NAMED, messages].concat();
        let all = [&single, &named[..]].concat().into_iter().map(str::to_string);
        tree.property_string_list("riscv,isa-extensions", all.collect())?;
        tree.property_string(
            "riscv,isa",
            &format!("rv64{}_{}", single.concat(), named.join("_")),
        )?;
        tree.property_string("mmu-type", "riscv,sv48")?;
        let lines = tree.begin_node("interrupt-controller")?;
        tree.property_string("compatible", "riscv,cpu-intc")?;
        tree.property_u32("#interrupt-cells", 1)?;
        tree.property_null("interrupt-controller")?;
        tree.property_phandle(FIRST_HART + hart)?;
        tree.end_node(lines)?;
        tree.end_node(cpu)?;
    }
    tree.end_node(node)
}

fn devices(tree: &mut FdtWriter, hardware: &Hardware<'_>) -> Result<(), Error> {
    let Map {
        power, aclint, uarts, ..
    } = hardware.map;
    let wires = Wires {
        has_kinds: hardware.map.aplic.is_used(),
    };
    let soc = tree.begin_node("soc")?;
    tree.property_u32("#address-cells", 2)?;
    tree.property_u32("#size-cells", 2)?;
    tree.property_string("compatible", "simple-bus")?;
    tree.property_null("ranges")?;

    let node = device(tree, "test", power, &["sifive,test1", "sifive,test0", "syscon"])?;
    tree.property_phandle(POWER)?;
    tree.end_node(node)?;

    let node = device(tree, "clint", aclint, &["sifive,clint0", "riscv,clint0"])?;
    // Software and timer interrupt of machine mode.
    tree.property_array_u32("interrupts-extended", &of_each_hart(hardware.harts, [3, 7]))?;
    tree.end_node(node)?;

    if hardware.map.aplic.is_used() {
        interrupt_files(tree, hardware)?;
        aplic(tree, &hardware.map.aplic)?;
    } else {
        plic(tree, hardware)?;
    }

    for uart in uarts {
        let node = device(tree, "serial", uart, &["ns16550a"])?;
        tree.property_u32("clock-frequency", UART_HERTZ)?;
        tree.property_u32("interrupt-parent", INTERRUPTS)?;
        tree.property_array_u32("interrupts", &wires.cells(uart.source))?;
        tree.end_node(node)?;
    }
    pci(tree, &hardware.map.pci, wires)?;
    tree.end_node(soc)
}

/// How the interrupt of a wire is described: by its number at a PLIC, at an APLIC also by its kind.
#[derive(Clone, Copy)]
struct Wires {
    has_kinds: bool,
}

impl Wires {
    fn cells(self, source: u32) -> Vec<u32> {
        const HIGH_LEVEL: u32 = 4;
        if self.has_kinds {
            vec![source, HIGH_LEVEL]
        } else {
            vec![source]
        }
    }
}

/// External interrupts of machine and of supervisor mode.
const EXTERNAL: [u32; 2] = [11, 9];

fn plic(tree: &mut FdtWriter, hardware: &Hardware<'_>) -> Result<(), Error> {
    let node = device(
        tree,
        "plic",
        &hardware.map.plic,
        &["sifive,plic-1.0.0", "riscv,plic0"],
    )?;
    tree.property_u32("#interrupt-cells", 1)?;
    tree.property_u32("#address-cells", 0)?;
    tree.property_null("interrupt-controller")?;
    tree.property_u32("riscv,ndev", Plic::SOURCES - 1)?;
    tree.property_array_u32("interrupts-extended", &of_each_hart(hardware.harts, EXTERNAL))?;
    tree.property_phandle(INTERRUPTS)?;
    tree.end_node(node)
}

/// The interrupt files of all harts, for each level (device tree binding `riscv,imsics`).
fn interrupt_files(tree: &mut FdtWriter, hardware: &Hardware<'_>) -> Result<(), Error> {
    const PAGE: u64 = 4096;
    let levels = EXTERNAL.into_iter().zip([MACHINE_FILES, SUPERVISOR_FILES]);
    for (place, (interrupt, phandle)) in hardware.map.messages.iter().zip(levels) {
        let pages = Place {
            bytes: PAGE * hardware.harts as u64,
            ..*place
        };
        let node = device(tree, "interrupt-controller", &pages, &["riscv,imsics"])?;
        tree.property_u32("#interrupt-cells", 0)?;
        tree.property_null("interrupt-controller")?;
        tree.property_null("msi-controller")?;
        tree.property_u32("#msi-cells", 0)?;
        tree.property_u32("riscv,num-ids", HIGHEST_IDENTITY)?;
        let harts = (0..hardware.harts as u32).flat_map(|hart| [FIRST_HART + hart, interrupt]);
        tree.property_array_u32("interrupts-extended", &harts.collect::<Vec<_>>())?;
        tree.property_phandle(phandle)?;
        tree.end_node(node)?;
    }
    Ok(())
}

/// The domains of the controller of wires: that of machine level, and its child, to which firmware delegates all sources
/// (device tree binding `riscv,aplic`).
fn aplic(tree: &mut FdtWriter, place: &Place) -> Result<(), Error> {
    let domain = |number| {
        let bytes = place.bytes / 2;
        Place {
            base: place.base + number * bytes,
            bytes,
            source: 0,
        }
    };
    let sources = Aplic::SOURCES - 1;
    for (number, phandle, files) in [
        (1, INTERRUPTS, SUPERVISOR_FILES),
        (0, MACHINE_APLIC, MACHINE_FILES),
    ] {
        let node = device(tree, "interrupt-controller", &domain(number), &["riscv,aplic"])?;
        tree.property_u32("#interrupt-cells", 2)?;
        tree.property_u32("#address-cells", 0)?;
        tree.property_null("interrupt-controller")?;
        tree.property_u32("msi-parent", files)?;
        tree.property_u32("riscv,num-sources", sources)?;
        if phandle == MACHINE_APLIC {
            tree.property_u32("riscv,children", INTERRUPTS)?;
            // Firmware before and since the binding's last version reads one of these.
            for name in ["riscv,delegate", "riscv,delegation"] {
                tree.property_array_u32(name, &[INTERRUPTS, 1, sources])?;
            }
        }
        tree.property_phandle(phandle)?;
        tree.end_node(node)?;
    }
    Ok(())
}

/// Kinds of PCI addresses (IEEE 1275, PCI Bus Binding 2.1, section 2.2.1.1): memory with 32 bits, and with 64 bits and
/// prefetchable.
const MEMORY: u32 = 0x0200_0000;
const LARGE_MEMORY: u32 = 0x4300_0000;
/// The bits of such an address that distinguish devices with different interrupts, and the position of the first
/// device.
const DEVICES: u32 = 3 << DEVICE;
const DEVICE: u32 = 11;
/// Bytes of configuration space of the functions of a bus.
const BUS: u64 = 1 << 20;
/// Pin A, as a number, and all bits of pins.
const PIN: u32 = 1;
const PINS: u32 = 7;

/// The host bridge (device tree binding `host-generic-pci`).
fn pci(tree: &mut FdtWriter, map: &PciMap, wires: Wires) -> Result<(), Error> {
    let node = device(tree, "pcie", &map.configuration, &["pci-host-ecam-generic"])?;
    tree.property_string("device_type", "pci")?;
    tree.property_u32("#address-cells", 3)?;
    tree.property_u32("#size-cells", 2)?;
    tree.property_u32("#interrupt-cells", 1)?;
    let buses = (map.configuration.bytes / BUS) as u32;
    tree.property_array_u32("bus-range", &[0, buses - 1])?;
    let kinds = [MEMORY, LARGE_MEMORY].into_iter().zip(&map.windows);
    let ranges: Vec<u32> = kinds.flat_map(|(kind, window)| range(kind, window)).collect();
    tree.property_array_u32("ranges", &ranges)?;
    tree.property_null("dma-coherent")?;
    tree.property_array_u32("interrupt-map-mask", &[DEVICES, 0, 0, PINS])?;
    // Behind bridges, functions with one interrupt may reach any pin of a root port.
    let pins = if buses > 1 { LINES as u32 } else { 1 };
    let lines = (0..LINES as u32).flat_map(|device| (0..pins).map(move |pin| (device, pin)));
    let interrupts: Vec<u32> = lines
        .flat_map(|(device, pin)| {
            let line = [device << DEVICE, 0, 0, PIN + pin, INTERRUPTS];
            let source = map.sources[(device + pin) as usize % LINES];
            line.into_iter().chain(wires.cells(source))
        })
        .collect();
    if wires.has_kinds {
        tree.property_u32("msi-parent", SUPERVISOR_FILES)?;
    }
    tree.property_array_u32("interrupt-map", &interrupts)?;
    tree.end_node(node)
}

/// A window whose addresses are the same on both sides.
fn range(kind: u32, window: &Place) -> [u32; 7] {
    let [high, low] = [(window.base >> 32) as u32, window.base as u32];
    [
        kind,
        high,
        low,
        high,
        low,
        (window.bytes >> 32) as u32,
        window.bytes as u32,
    ]
}

/// References to two interrupts of each hart.
fn of_each_hart(harts: usize, interrupts: [u32; 2]) -> Vec<u32> {
    let [first, second] = interrupts;
    (0..harts as u32)
        .flat_map(|hart| [FIRST_HART + hart, first, FIRST_HART + hart, second])
        .collect()
}

fn device(
    tree: &mut FdtWriter,
    kind: &str,
    place: &Place,
    compatible: &[&str],
) -> Result<vm_fdt::FdtWriterNode, Error> {
    let node = tree.begin_node(&format!("{kind}@{:x}", place.base))?;
    let names = compatible.iter().map(|name| name.to_string()).collect();
    tree.property_string_list("compatible", names)?;
    tree.property_array_u64("reg", &[place.base, place.bytes])?;
    Ok(node)
}

/// A word that software writes to the power switch.
fn switch(tree: &mut FdtWriter, name: &str, compatible: &str, word: u32) -> Result<(), Error> {
    let node = tree.begin_node(name)?;
    tree.property_string("compatible", compatible)?;
    tree.property_u32("regmap", POWER)?;
    tree.property_u32("offset", 0)?;
    tree.property_u32("value", word)?;
    tree.end_node(node)
}
