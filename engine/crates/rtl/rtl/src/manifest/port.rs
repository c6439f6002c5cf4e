//! The ports of a unit, as its manifest lists them.

use crate::registers::UnitRegister;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// Bytes of a register that is accessed by APB.
pub(crate) const APB_BYTES: u32 = 4;

/// One port of a unit.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "contract", rename_all = "lowercase", deny_unknown_fields)]
pub enum Port {
    /// RoCC commands in, register values out.
    Command {
        /// Prefix of its pins.
        name: String,
        /// The `custom-n` numbers it answers to.
        opcodes: Vec<u8>,
        /// Whether addresses are virtual: commands then come with the context for their translation.
        #[serde(default)]
        translated: bool,
        /// The commands that it supports; none for a unit without a list, which responds to all numbers.
        #[serde(default)]
        commands: Vec<UnitCommand>,
        /// The completion record of an operation, as information for software.
        #[serde(default)]
        record: ForSoftware,
        /// The possible values of its status, as information for software.
        #[serde(default)]
        statuses: ForSoftware,
    },
    /// Requests to memory.
    Memory {
        /// Prefix of its pins.
        name: String,
        /// Bytes per beat, 16 or 32.
        bytes: u32,
        /// Width of the tag.
        tag_bits: u32,
        /// Width of an address.
        #[serde(default = "default_address_bits")]
        address_bits: u32,
        /// Whether a read may wait until memory changes.
        #[serde(default)]
        watch: bool,
        /// What it moves.
        #[serde(default)]
        traffic: Moves,
    },
    /// Registers, read and written over a memory-mapped port.
    Mmio {
        /// Prefix of its pins.
        name: String,
        /// Its registers, as far as they are listed.
        #[serde(default)]
        registers: Vec<UnitRegister>,
        /// The `custom-n` numbers of the unit behind it.
        #[serde(default)]
        opcodes: Vec<u8>,
        /// The commands of the unit behind it.
        #[serde(default)]
        commands: Vec<UnitCommand>,
        /// The completion record of an operation, as information for software.
        #[serde(default)]
        record: ForSoftware,
        /// The possible values of its status, as information for software.
        #[serde(default)]
        statuses: ForSoftware,
    },
    /// An AXI4 master port to memory.
    Axi4 {
        /// Prefix of its pins.
        name: String,
        /// Bytes per beat, 16 or 32.
        bytes: u32,
        /// Width of a transaction identifier.
        id_bits: u32,
        /// Width of an address.
        #[serde(default = "default_address_bits")]
        address_bits: u32,
        /// How its pins are named.
        #[serde(default)]
        naming: Naming,
        /// Its direction: a port that only reads has no channels for writes.
        #[serde(default)]
        direction: Transfers,
        /// What it moves.
        #[serde(default)]
        traffic: Moves,
    },
    /// Registers, as a subordinate of AXI4-Lite.
    #[serde(rename = "axi4-lite")]
    Axi4Lite {
        /// Prefix of its pins.
        name: String,
        /// Bytes of a register, 4 or 8.
        bytes: u32,
        /// Width of an address; of a page of 4 KiB.
        address_bits: u32,
        /// How its pins are named.
        naming: Naming,
        /// Its registers, as far as they are listed.
        #[serde(default)]
        registers: Vec<UnitRegister>,
    },
    /// Registers of 32 bits, as a completer of APB.
    Apb {
        /// Its name; with an underscore, the prefix of its pins.
        name: String,
        /// Another prefix of its pins, which may be empty.
        #[serde(default)]
        prefix: Option<String>,
        /// Width of an address; of a page of 4 KiB.
        address_bits: u32,
        /// How its pins are named.
        naming: Naming,
        /// Whether it has a strobe for each byte (`pstrb`), as APB4 has.
        #[serde(default = "is_there")]
        strobes: bool,
        /// Its registers, as far as they are listed.
        #[serde(default)]
        registers: Vec<UnitRegister>,
    },
    /// A port of TileLink, without caches: registers, if requests go into the unit, or memory, if they leave it.
    TileLink {
        /// Prefix of its pins.
        name: String,
        /// The direction of requests.
        direction: Direction,
        /// Bytes of a beat: 4 or 8 of registers, 4 to 32 of memory.
        bytes: u32,
        /// Width of an address.
        address_bits: u32,
        /// Width of a size.
        size_bits: u32,
        /// Width of a source.
        source_bits: u32,
        /// How its pins are named: `tl_a_bits_opcode` or `tl_a_opcode`.
        #[serde(default)]
        naming: Naming,
        /// Whether answers have a bit for a refusal.
        #[serde(default)]
        denied: bool,
        /// Whether answers have a bit for corrupt data.
        #[serde(default)]
        corrupt: bool,
        /// What memory moves.
        #[serde(default)]
        traffic: Moves,
        /// Its registers, as far as they are listed.
        #[serde(default)]
        registers: Vec<UnitRegister>,
    },
    /// Frames, as beats of 8, 16 or 32 bytes.
    Stream {
        /// Prefix of its pins.
        name: String,
        /// Their direction.
        direction: Direction,
        /// Bytes per beat: 8, 16 or 32. The engine sees wide ones as several flits of 8 in one cycle.
        bytes: u32,
    },
    /// Frames, by the transfers of AXI4-Stream.
    #[serde(rename = "axi4-stream")]
    AxiStream {
        /// Prefix of its pins.
        name: String,
        /// Their direction.
        direction: Direction,
        /// Bytes of a transfer, 1 to 32.
        bytes: u32,
        /// How its pins are named.
        naming: Naming,
        /// Whether transfers wait for the receiver (`tready`); without it, each is one.
        #[serde(default = "is_there")]
        ready: bool,
        /// Whether it marks the valid bytes of a transfer (`tkeep`).
        #[serde(default)]
        keep: bool,
        /// Whether it marks the end of a frame (`tlast`).
        #[serde(default)]
        last: bool,
        /// Whether it marks data bytes (`tstrb`): these are the valid ones.
        #[serde(default)]
        strobes: bool,
    },
    /// An interrupt line, high while it is active.
    Interrupt {
        /// Its name; the default name of the pin is `interrupt_<name>`.
        name: String,
        /// Another name of its pin.
        #[serde(default)]
        pin: Option<String>,
    },
    /// A named event, counted by the engine.
    Event {
        /// The pin is `event_<name>`.
        name: String,
        /// Its width; every cycle adds the pin's value to the counter.
        #[serde(default = "default_event_width")]
        width: u32,
    },
}

/// Members of a manifest for software, which the engine ignores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForSoftware;

impl<'de> Deserialize<'de> for ForSoftware {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ForSoftware, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| ForSoftware)
    }
}

/// A command of a unit. Its meaning concerns only software.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct UnitCommand {
    /// The name from which constants are derived.
    pub name: String,
    /// Its number, 0 to 127.
    pub funct: u8,
    #[serde(default)]
    rs1: ForSoftware,
    #[serde(default)]
    rs2: ForSoftware,
    #[serde(default)]
    answer: ForSoftware,
    #[serde(default)]
    setting: ForSoftware,
}

/// Registers that are accessed by a bus of AMBA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusRegisters {
    /// Bytes of one.
    pub bytes: u32,
    /// Bytes of all of them.
    pub size: u64,
    /// Whether a part of one can be accessed.
    pub has_parts: bool,
}

/// How the pins of an AXI port are named.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    /// As elaboration names them: `memory_ar_bits_addr`.
    #[default]
    Elaborated,
    /// As AMBA names signals, in lower case: `memory_araddr`.
    Lower,
    /// In upper case: `memory_ARADDR`.
    Upper,
}

/// Which transfers a port makes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Transfers {
    /// Reads and writes.
    #[default]
    Both,
    /// Reads alone.
    Read,
    /// Writes alone.
    Write,
}

/// The data that a memory port moves, by which a route selects where they are cached.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Moves {
    /// Inputs and outputs, each byte about once.
    #[default]
    Stream,
    /// Data that the unit has written and reads again.
    Intermediate,
}

/// The direction of the frames of a stream port.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Out of the unit.
    Out,
    /// Into the unit.
    In,
}

fn is_there() -> bool {
    true
}

fn default_address_bits() -> u32 {
    64
}

fn default_event_width() -> u32 {
    1
}

impl Port {
    /// Whether harts command or access the unit through it.
    pub(crate) fn is_control(&self) -> bool {
        matches!(
            self,
            Port::Command { .. }
                | Port::Mmio { .. }
                | Port::Axi4Lite { .. }
                | Port::Apb { .. }
                | Port::TileLink {
                    direction: Direction::In,
                    ..
                }
        )
    }

    /// The data that it moves, if it is a memory port.
    pub fn moves(&self) -> Option<Moves> {
        match self {
            Port::Memory { traffic, .. }
            | Port::Axi4 { traffic, .. }
            | Port::TileLink {
                traffic,
                direction: Direction::Out,
                ..
            } => Some(*traffic),
            _ => None,
        }
    }

    /// The name in the manifest.
    pub fn name(&self) -> &str {
        match self {
            Port::Command { name, .. }
            | Port::Memory { name, .. }
            | Port::Mmio { name, .. }
            | Port::Axi4 { name, .. }
            | Port::Axi4Lite { name, .. }
            | Port::Apb { name, .. }
            | Port::TileLink { name, .. }
            | Port::Stream { name, .. }
            | Port::AxiStream { name, .. }
            | Port::Interrupt { name, .. }
            | Port::Event { name, .. } => name,
        }
    }
}
