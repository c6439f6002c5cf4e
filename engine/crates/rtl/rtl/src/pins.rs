//! The pins of each kind of port: their names, widths and directions, and whether a design has them.

use crate::manifest::APB_BYTES;
use crate::{Direction, Manifest, Naming, Port, RtlError, Transfers};
use Width::{Address, Bits, Data, Mask, Size, Tag};

/// One pin of a port.
pub(crate) struct Pin {
    /// Its name in the elaborated design, after that of the port and an underscore.
    name: &'static str,
    /// Its name in the channels of the host.
    pub(crate) accessor: &'static str,
    width: Width,
}

/// Number of bits of a pin.
#[derive(Clone, Copy)]
enum Width {
    Bits(u32),
    Address,
    /// A beat.
    Data,
    /// A bit for each byte of a beat.
    Mask,
    Tag,
    /// The logarithm of a number of bytes.
    Size,
}

const fn pin(name: &'static str, accessor: &'static str, width: Width) -> Pin {
    Pin {
        name,
        accessor,
        width,
    }
}

/// The pins of a memory port that may watch.
const WATCHING_MEMORY: &[Pin] = &[
    pin("request_ready", "request_ready", Bits(1)),
    pin("request_valid", "request_valid", Bits(1)),
    pin("request_bits_address", "request_address", Address),
    pin("request_bits_write", "request_write", Bits(1)),
    pin("request_bits_data", "request_data", Data),
    pin("request_bits_mask", "request_mask", Mask),
    pin("request_bits_tag", "request_tag", Tag),
    pin("response_ready", "response_ready", Bits(1)),
    pin("response_valid", "response_valid", Bits(1)),
    pin("response_bits_tag", "response_tag", Tag),
    pin("response_bits_data", "response_data", Data),
    pin("response_bits_fault", "response_fault", Bits(1)),
    pin("request_bits_watch", "request_watch", Bits(1)),
];

/// The pins of other memory ports: all but the last one.
const MEMORY: &[Pin] = WATCHING_MEMORY.split_at(WATCHING_MEMORY.len() - 1).0;

/// Pins of a command port for translation, after the other ones.
const TRANSLATION_PINS: usize = 5;

/// The pins of a command port whose unit translates addresses.
const TRANSLATED_COMMAND: &[Pin] = &[
    pin("request_ready", "request_ready", Bits(1)),
    pin("request_valid", "request_valid", Bits(1)),
    pin("request_bits_opcode", "request_opcode", Bits(2)),
    pin("request_bits_funct", "request_funct", Bits(7)),
    pin("request_bits_rs1", "request_rs1", Bits(64)),
    pin("request_bits_rs2", "request_rs2", Bits(64)),
    pin("request_bits_rd", "request_rd", Bits(5)),
    pin("request_bits_xd", "request_xd", Bits(1)),
    pin("response_ready", "response_ready", Bits(1)),
    pin("response_valid", "response_valid", Bits(1)),
    pin("response_bits_rd", "response_rd", Bits(5)),
    pin("response_bits_data", "response_data", Bits(64)),
    pin("request_bits_context_satp", "request_satp", Bits(64)),
    pin("request_bits_context_privilege", "request_privilege", Bits(2)),
    pin("request_bits_context_sum", "request_sum", Bits(1)),
    pin("request_bits_context_mxr", "request_mxr", Bits(1)),
    pin("fence", "fence", Bits(1)),
];

/// The pins of other command ports.
const COMMAND: &[Pin] = TRANSLATED_COMMAND
    .split_at(TRANSLATED_COMMAND.len() - TRANSLATION_PINS)
    .0;

const REGISTER: &[Pin] = &[
    pin("request_ready", "request_ready", Bits(1)),
    pin("request_valid", "request_valid", Bits(1)),
    pin("request_bits_address", "request_address", Bits(12)),
    pin("request_bits_write", "request_write", Bits(1)),
    pin("request_bits_data", "request_data", Bits(64)),
    pin("response_ready", "response_ready", Bits(1)),
    pin("response_valid", "response_valid", Bits(1)),
    pin("response_bits_data", "response_data", Bits(64)),
];

const AXI: &[Pin] = &[
    pin("ar_ready", "ar_ready", Bits(1)),
    pin("ar_valid", "ar_valid", Bits(1)),
    pin("ar_bits_id", "ar_id", Tag),
    pin("ar_bits_addr", "ar_address", Address),
    pin("ar_bits_len", "ar_length", Bits(8)),
    pin("ar_bits_size", "ar_size", Bits(3)),
    pin("ar_bits_burst", "ar_burst", Bits(2)),
    pin("r_ready", "r_ready", Bits(1)),
    pin("r_valid", "r_valid", Bits(1)),
    pin("r_bits_id", "r_id", Tag),
    pin("r_bits_data", "r_data", Data),
    pin("r_bits_resp", "r_response", Bits(2)),
    pin("r_bits_last", "r_last", Bits(1)),
    pin("aw_ready", "aw_ready", Bits(1)),
    pin("aw_valid", "aw_valid", Bits(1)),
    pin("aw_bits_id", "aw_id", Tag),
    pin("aw_bits_addr", "aw_address", Address),
    pin("aw_bits_len", "aw_length", Bits(8)),
    pin("aw_bits_size", "aw_size", Bits(3)),
    pin("aw_bits_burst", "aw_burst", Bits(2)),
    pin("w_ready", "w_ready", Bits(1)),
    pin("w_valid", "w_valid", Bits(1)),
    pin("w_bits_data", "w_data", Data),
    pin("w_bits_strb", "w_mask", Mask),
    pin("w_bits_last", "w_last", Bits(1)),
    pin("b_ready", "b_ready", Bits(1)),
    pin("b_valid", "b_valid", Bits(1)),
    pin("b_bits_id", "b_id", Tag),
    pin("b_bits_resp", "b_response", Bits(2)),
];

const LITE: &[Pin] = &[
    pin("ar_ready", "ar_ready", Bits(1)),
    pin("ar_valid", "ar_valid", Bits(1)),
    pin("ar_bits_addr", "ar_address", Address),
    pin("r_ready", "r_ready", Bits(1)),
    pin("r_valid", "r_valid", Bits(1)),
    pin("r_bits_data", "r_data", Data),
    pin("r_bits_resp", "r_response", Bits(2)),
    pin("aw_ready", "aw_ready", Bits(1)),
    pin("aw_valid", "aw_valid", Bits(1)),
    pin("aw_bits_addr", "aw_address", Address),
    pin("w_ready", "w_ready", Bits(1)),
    pin("w_valid", "w_valid", Bits(1)),
    pin("w_bits_data", "w_data", Data),
    pin("w_bits_strb", "w_mask", Mask),
    pin("b_ready", "b_ready", Bits(1)),
    pin("b_valid", "b_valid", Bits(1)),
    pin("b_bits_resp", "b_response", Bits(2)),
];

/// After "p", as APB names its signals.
const APB: &[Pin] = &[
    pin("sel", "select", Bits(1)),
    pin("enable", "enable", Bits(1)),
    pin("write", "write", Bits(1)),
    pin("addr", "address", Address),
    pin("wdata", "write_data", Data),
    pin(STROBES, "mask", Mask),
    pin("rdata", "read_data", Data),
    pin("ready", "ready", Bits(1)),
    pin("slverr", "error", Bits(1)),
];

/// Channels A and D of TileLink; the source is its tag.
const TILELINK: &[Pin] = &[
    pin("a_ready", "a_ready", Bits(1)),
    pin("a_valid", "a_valid", Bits(1)),
    pin("a_bits_opcode", "a_opcode", Bits(3)),
    pin("a_bits_size", "a_size", Size),
    pin("a_bits_source", "a_source", Tag),
    pin("a_bits_address", "a_address", Address),
    pin("a_bits_mask", "a_mask", Mask),
    pin("a_bits_data", "a_data", Data),
    pin("d_ready", "d_ready", Bits(1)),
    pin("d_valid", "d_valid", Bits(1)),
    pin("d_bits_opcode", "d_opcode", Bits(3)),
    pin("d_bits_size", "d_size", Size),
    pin("d_bits_source", "d_source", Tag),
    pin(DENIED, "d_denied", Bits(1)),
    pin("d_bits_data", "d_data", Data),
    pin(CORRUPT, "d_corrupt", Bits(1)),
];

const DENIED: &str = "d_bits_denied";
const CORRUPT: &str = "d_bits_corrupt";

const STROBES: &str = "strb";

const STREAM: &[Pin] = &[
    pin("ready", "ready", Bits(1)),
    pin("valid", "valid", Bits(1)),
    pin("bits_data", "data", Data),
    pin("bits_keep", "keep", Mask),
    pin("bits_last", "last", Bits(1)),
];

/// After "t", as AXI4-Stream names its signals.
const AXI_STREAM: &[Pin] = &[
    pin(READY, "ready", Bits(1)),
    pin("valid", "valid", Bits(1)),
    pin("data", "data", Data),
    pin(KEEP, "keep", Mask),
    pin(STROBES, "strobes", Mask),
    pin(LAST, "last", Bits(1)),
];

const READY: &str = "ready";
const KEEP: &str = "keep";
const LAST: &str = "last";

/// The pins of a kind of port, with names that begin with that of the port: all except those of interrupts and events.
/// A port may lack some of them ([`Pin::is_on`]).
pub(crate) fn of(port: &Port) -> &'static [Pin] {
    match port {
        Port::Command { translated: true, .. } => TRANSLATED_COMMAND,
        Port::Command { .. } => COMMAND,
        Port::Mmio { .. } => REGISTER,
        Port::Memory { watch: true, .. } => WATCHING_MEMORY,
        Port::Memory { .. } => MEMORY,
        Port::Axi4 { .. } => AXI,
        Port::Axi4Lite { .. } => LITE,
        Port::Apb { .. } => APB,
        Port::TileLink { .. } => TILELINK,
        Port::Stream { .. } => STREAM,
        Port::AxiStream { .. } => AXI_STREAM,
        Port::Interrupt { .. } | Port::Event { .. } => &[],
    }
}

impl Pin {
    /// Its whole name.
    pub(crate) fn of(&self, port: &Port) -> String {
        let signal = || self.name.replace("_bits_", "").replace('_', "");
        let name = port.name();
        match port {
            Port::Axi4 { naming, .. } | Port::Axi4Lite { naming, .. } => match naming {
                Naming::Elaborated => format!("{name}_{}", self.name),
                Naming::Lower => format!("{name}_{}", signal()),
                Naming::Upper => format!("{name}_{}", signal().to_uppercase()),
            },
            Port::TileLink {
                naming: Naming::Lower,
                ..
            } => format!("{name}_{}", self.name.replace("_bits", "")),
            Port::Apb { naming, prefix, .. } => {
                let prefix = prefix.clone().unwrap_or_else(|| format!("{name}_"));
                let signal = format!("p{}", self.name);
                match naming {
                    Naming::Upper => prefix + &signal.to_uppercase(),
                    _ => prefix + &signal,
                }
            }
            Port::AxiStream { naming, .. } => {
                let signal = format!("t{}", self.name);
                match naming {
                    Naming::Upper => format!("{name}_{}", signal.to_uppercase()),
                    _ => format!("{name}_{signal}"),
                }
            }
            _ => format!("{name}_{}", self.name),
        }
    }

    /// Whether the port has this pin: APB3 has no strobes, AXI without identifiers has no pins for them, and a port
    /// that only reads has no pins for writes.
    pub(crate) fn is_on(&self, port: &Port) -> bool {
        let (id_bits, direction) = match port {
            Port::Axi4 {
                id_bits, direction, ..
            } => (id_bits, direction),
            Port::Apb { strobes, .. } => return *strobes || self.name != STROBES,
            Port::TileLink {
                source_bits,
                denied,
                corrupt,
                ..
            } => {
                return match self.name {
                    DENIED => *denied,
                    CORRUPT => *corrupt,
                    _ => *source_bits != 0 || !matches!(self.width, Tag),
                }
            }
            Port::AxiStream {
                ready,
                keep,
                last,
                strobes,
                ..
            } => {
                return match self.name {
                    READY => *ready,
                    KEEP => *keep,
                    LAST => *last,
                    STROBES => *strobes,
                    _ => true,
                }
            }
            _ => return true,
        };
        let reads = self.name.starts_with("ar_") || self.name.starts_with("r_");
        let moves = match direction {
            Transfers::Both => true,
            Transfers::Read => reads,
            Transfers::Write => !reads,
        };
        moves && (*id_bits != 0 || !matches!(self.width, Tag))
    }

    /// The value of an output that a port lacks: a receiver without `tready` takes each transfer.
    pub(crate) fn absent(&self) -> u8 {
        u8::from(self.name == READY)
    }

    /// Whether it is an input of the unit.
    pub(crate) fn is_input(&self, port: &Port) -> bool {
        let is_ready = self.name.ends_with("_ready");
        match port {
            // A slave port: it receives requests, and sends responses.
            Port::Command { .. } | Port::Mmio { .. } => {
                self.name == "fence" || self.name.starts_with("request_") != is_ready
            }
            // A master port: it sends requests, and receives responses.
            Port::Memory { .. } => self.name.starts_with("response_") != is_ready,
            Port::Axi4 { .. } => self.answers() != is_ready,
            Port::Axi4Lite { .. } => self.answers() == is_ready,
            Port::Apb { .. } => !matches!(self.name, "rdata" | "ready" | "slverr"),
            Port::TileLink { direction, .. } => {
                (*direction == Direction::In) == (self.name.starts_with("a_") != is_ready)
            }
            Port::Stream { direction, .. } | Port::AxiStream { direction, .. } => {
                (*direction == Direction::In) != (self.name == "ready")
            }
            Port::Interrupt { .. } | Port::Event { .. } => false,
        }
    }

    /// Whether it belongs to a response channel of AXI.
    fn answers(&self) -> bool {
        self.name.starts_with("r_") || self.name.starts_with("b_")
    }

    fn bits(&self, port: &Port) -> u32 {
        let (bytes, tag, address) = match port {
            Port::Memory {
                bytes,
                tag_bits,
                address_bits,
                ..
            } => (*bytes, *tag_bits, *address_bits),
            Port::Axi4 {
                bytes,
                id_bits,
                address_bits,
                ..
            } => (*bytes, *id_bits, *address_bits),
            Port::Axi4Lite {
                bytes, address_bits, ..
            } => (*bytes, 0, *address_bits),
            Port::Apb { address_bits, .. } => (APB_BYTES, 0, *address_bits),
            Port::TileLink {
                bytes,
                source_bits,
                address_bits,
                ..
            } => (*bytes, *source_bits, *address_bits),
            Port::Stream { bytes, .. } | Port::AxiStream { bytes, .. } => (*bytes, 0, 0),
            _ => (0, 0, 0),
        };
        match self.width {
            Bits(bits) => bits,
            Address => address,
            Data => 8 * bytes,
            Mask => bytes,
            Tag => tag,
            Size => match port {
                Port::TileLink { size_bits, .. } => *size_bits,
                _ => 0,
            },
        }
    }
}

/// A pin that the manifest promises.
pub(crate) struct Promised<'a> {
    port: &'a str,
    pin: String,
    bits: u32,
}

/// The pin of an interrupt line.
pub(crate) fn interrupt(name: &str, pin: &Option<String>) -> String {
    pin.clone().unwrap_or_else(|| format!("interrupt_{name}"))
}

/// Every pin that the manifest promises.
pub(crate) fn promised(manifest: &Manifest) -> Vec<Promised<'_>> {
    let promise = |port, pin, bits| Promised { port, pin, bits };
    let control = |pin: &String| promise("clock", pin.clone(), 1);
    let clocks = manifest.clocks().iter();
    let mut all: Vec<Promised<'_>> = clocks
        .flat_map(|clock| std::iter::once(&clock.pin).chain(&clock.reset))
        .chain(manifest.idle.as_ref())
        .map(control)
        .collect();
    for port in &manifest.ports {
        let name = port.name();
        match port {
            Port::Interrupt { name, pin } => all.push(promise(name, interrupt(name, pin), 1)),
            Port::Event { name, width } => all.push(promise(name, format!("event_{name}"), *width)),
            _ => all.extend(
                of(port)
                    .iter()
                    .filter(|pin| pin.is_on(port))
                    .map(|pin| promise(name, pin.of(port), pin.bits(port))),
            ),
        }
    }
    all
}

/// Checks that every pin the manifest promises is a port of the Verilated top, and as wide as promised.
///
/// `model_header` is the text of the model's header, in which each port is declared like
/// `VL_IN8(&name,7,0);`, with the most and the least significant bit.
///
/// # Errors
/// [`RtlError::MissingPin`] or [`RtlError::PinWidth`] names the first one that is not so.
pub(crate) fn check(manifest: &Manifest, model_header: &str) -> Result<(), RtlError> {
    for Promised { port, pin, bits } in promised(manifest) {
        let (unit, top) = (&manifest.unit, &manifest.top);
        let found = width_in(model_header, &pin).ok_or_else(|| RtlError::MissingPin {
            unit: unit.clone(),
            port: port.to_string(),
            pin: pin.clone(),
            top: top.clone(),
        })?;
        if found != bits {
            return Err(RtlError::PinWidth {
                unit: unit.clone(),
                pin,
                promised: bits,
                top: top.clone(),
                found,
            });
        }
    }
    Ok(())
}

/// The possible names of a pin in Verilator's output: words of C++ are marked, and two underscores are written as their
/// code.
fn modelled(pin: &str) -> [String; 3] {
    [
        pin.to_string(),
        format!("__SYM__{pin}"),
        pin.replace("__", "___05F"),
    ]
}

fn declaration(name: &str) -> String {
    format!("(&{name},")
}

/// A binding with the names that the model has for the pins of the manifest.
pub(crate) fn with_names(binding: String, manifest: &Manifest, model_header: &str) -> String {
    promised(manifest)
        .iter()
        .fold(binding, |text, Promised { pin, .. }| {
            let names = modelled(pin);
            match names
                .iter()
                .find(|name| model_header.contains(&declaration(name)))
            {
                Some(name) if name != pin => ["->", "model."].iter().fold(text, |text, before| {
                    [";", " =", ")"].iter().fold(text, |text, behind| {
                        text.replace(
                            &format!("{before}{pin}{behind}"),
                            &format!("{before}{name}{behind}"),
                        )
                    })
                }),
                _ => text,
            }
        })
}

fn width_in(model_header: &str, pin: &str) -> Option<u32> {
    let places = modelled(pin).map(|name| {
        let declaration = declaration(&name);
        Some(model_header.find(&declaration)? + declaration.len())
    });
    let rest = &model_header[places.into_iter().flatten().next()?..];
    let mut bounds = rest.split([',', ')']).map(|bound| bound.trim().parse::<u32>());
    let (most, least) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    Some(most - least + 1)
}

/// The promises as text: if they change, a design has to be checked again.
pub(crate) fn text(manifest: &Manifest) -> String {
    let all = promised(manifest);
    all.iter()
        .map(|each| format!("{} {}\n", each.pin, each.bits))
        .collect()
}
