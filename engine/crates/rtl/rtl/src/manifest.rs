use crate::interface::BEAT_BYTES;
use crate::registers::{check_registers, UnitRegister};
use crate::RtlError;
use rackwright_time::Clock;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The format of the manifest that this engine reads.
const FORMAT: u32 = 1;

/// Bytes of a register that is accessed by APB.
pub(crate) const APB_BYTES: u32 = 4;

/// Bytes of a register behind a memory-mapped port, and of its page.
const MMIO_BYTES: u64 = 8;
const MMIO_PAGE: u64 = 0x1000;

/// The last number of a command: seven bits of the instruction tell commands apart.
pub const MOST_FUNCT: u8 = 127;

/// What elaboration, or whoever wrote it, says of a unit: its Verilog, its ports by contract, its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: u32,
    /// Name by which users ask for the unit.
    pub unit: String,
    /// Name of the design.
    #[serde(default)]
    pub design: String,
    /// The top module.
    pub top: String,
    /// Verilog files and lists of them (`.f`), relative to the manifest.
    pub verilog: Vec<PathBuf>,
    /// Folders of included files, relative to the manifest, beside its own and those of the Verilog files.
    #[serde(default)]
    include: Vec<PathBuf>,
    /// Macros that are defined before the first file, and their texts.
    #[serde(default)]
    pub define: BTreeMap<String, Value>,
    /// Sources in C (`.c`) and C++ of the functions that the Verilog imports, relative to the manifest.
    #[serde(default)]
    dpi: Vec<PathBuf>,
    /// Where the Verilog looks for files of data, relative to the manifest; beside it without.
    #[serde(default)]
    data: Option<PathBuf>,
    /// The hash of what was elaborated; a manifest that a person wrote has none.
    #[serde(default)]
    hash: Option<String>,
    /// The clock, its reset and its frequency.
    pub clock: ClockPins,
    /// The output that says "nothing changes before new input arrives"; none: never idle.
    pub idle: Option<String>,
    /// The ports.
    pub ports: Vec<Port>,
    /// The parameters that it was elaborated with, or, without a hash, those that the top module gets.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    #[serde(skip)]
    folder: PathBuf,
}

/// Clock and reset of a unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockPins {
    /// Name of the clock input.
    pub pin: String,
    /// Name of the reset input; none (`null`, which must be said) for a design that starts as its registers are declared.
    #[serde(deserialize_with = "said")]
    pub reset: Option<String>,
    /// Which level of the reset input resets the unit.
    #[serde(default)]
    pub active: Level,
    /// Whether the reset takes effect when it comes rather than with the clock.
    #[serde(default)]
    pub asynchronous: bool,
    /// Frequency of the clock.
    pub hertz: u64,
    /// The clock that synthesis supports, for those who choose the clock.
    #[serde(default)]
    pub synthesised_hertz: Option<u64>,
}

/// A value that may be `null` but must be there.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)
}

/// A level of a pin.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// 1.
    #[default]
    High,
    /// 0.
    Low,
}

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
        /// Whether addresses are virtual: commands come with what decides how they are translated.
        #[serde(default)]
        translated: bool,
        /// The commands that it understands; none of a unit that does not say, which answers to all numbers.
        #[serde(default)]
        commands: Vec<UnitCommand>,
        /// The record with which an operation ends, for those who write software.
        #[serde(default)]
        record: ForSoftware,
        /// What its status can be, for them.
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
        /// Whether a read may wait until memory holds something else.
        #[serde(default)]
        watch: bool,
    },
    /// Registers, read and written over a memory-mapped port.
    Mmio {
        /// Prefix of its pins.
        name: String,
        /// Which registers there are, as far as it says.
        #[serde(default)]
        registers: Vec<UnitRegister>,
        /// The `custom-n` numbers of the unit behind it.
        #[serde(default)]
        opcodes: Vec<u8>,
        /// The commands of the unit behind it.
        #[serde(default)]
        commands: Vec<UnitCommand>,
        /// The record with which an operation ends, for those who write software.
        #[serde(default)]
        record: ForSoftware,
        /// What its status can be, for them.
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
        /// What it is for: a port that only reads has no channels to write with.
        #[serde(default)]
        direction: Transfers,
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
        /// Which registers there are, as far as it says.
        #[serde(default)]
        registers: Vec<UnitRegister>,
    },
    /// Registers of 32 bits, as a completer of APB.
    Apb {
        /// What it is called; with an underscore, the prefix of its pins.
        name: String,
        /// Another prefix of its pins, which may be empty.
        #[serde(default)]
        prefix: Option<String>,
        /// Width of an address; of a page of 4 KiB.
        address_bits: u32,
        /// How its pins are named.
        naming: Naming,
        /// Whether it has a strobe for each byte (`pstrb`), as APB4 has.
        #[serde(default = "has_strobes")]
        strobes: bool,
        /// Which registers there are, as far as it says.
        #[serde(default)]
        registers: Vec<UnitRegister>,
    },
    /// Frames, as flits of 8 or 16 bytes.
    Stream {
        /// Prefix of its pins.
        name: String,
        /// Which way they go.
        direction: Direction,
        /// Bytes per flit: 8 or 16. The engine sees those of 16 as two of 8 in one cycle.
        bytes: u32,
    },
    /// An interrupt line, high while it asks for attention.
    Interrupt {
        /// The pin is `interrupt_<name>`.
        name: String,
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

/// What a manifest says to those who write software, and nothing to the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForSoftware;

impl<'de> Deserialize<'de> for ForSoftware {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ForSoftware, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| ForSoftware)
    }
}

/// A command of a unit. What it means is for those who write software.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct UnitCommand {
    /// What constants are named after.
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

/// Which way the frames of a stream port go.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Out of the unit.
    Out,
    /// Into the unit.
    In,
}

fn has_strobes() -> bool {
    true
}

fn default_address_bits() -> u32 {
    64
}

fn default_event_width() -> u32 {
    1
}

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`RtlError::File`] when it cannot be read, [`RtlError::Manifest`] when it is not valid.
    pub fn read(path: &Path) -> Result<Manifest, RtlError> {
        let text = std::fs::read_to_string(path).map_err(RtlError::file(path))?;
        let mut manifest = Manifest::parse(&text).map_err(|reason| RtlError::Manifest {
            path: path.to_path_buf(),
            reason,
        })?;
        let path = std::path::absolute(path).map_err(RtlError::file(path))?;
        manifest.folder = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        Ok(manifest)
    }

    /// Checks a manifest that is there as text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Manifest, String> {
        let manifest: Manifest = serde_json::from_str(text).map_err(|error| error.to_string())?;
        manifest.check()?;
        Ok(manifest)
    }

    /// The folder of the manifest, in which the unit's own files are found; its path is absolute.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder in which the Verilog's files of data are looked for.
    pub fn data_folder(&self) -> PathBuf {
        self.data
            .as_ref()
            .map_or_else(|| self.folder.clone(), |data| self.folder.join(data))
    }

    /// Paths of the Verilog files.
    pub fn verilog_paths(&self) -> Vec<PathBuf> {
        self.within(&self.verilog)
    }

    /// Folders in which included files are looked for, in that order, each once.
    pub(crate) fn include_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.folder.clone()];
        let sources = self.verilog_paths();
        let beside = sources
            .iter()
            .filter_map(|file| Some(file.parent()?.to_path_buf()));
        for folder in beside.chain(self.within(&self.include)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// Paths of the sources in C and C++.
    pub(crate) fn dpi_paths(&self) -> Vec<PathBuf> {
        self.within(&self.dpi)
    }

    /// Whether it was elaborated, with its parameters.
    pub fn is_elaborated(&self) -> bool {
        self.hash.is_some()
    }

    fn within(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        files.iter().map(|file| self.folder.join(file)).collect()
    }

    /// Names of the memory ports, in the order in which the host numbers them.
    pub fn memory_ports(&self) -> impl Iterator<Item = (&str, u32)> {
        self.ports.iter().filter_map(|port| match port {
            Port::Memory { name, bytes, .. } | Port::Axi4 { name, bytes, .. } => {
                Some((name.as_str(), *bytes))
            }
            _ => None,
        })
    }

    /// The stream ports, in the order in which the host numbers them.
    pub fn stream_ports(&self) -> impl Iterator<Item = (&str, Direction)> {
        self.ports.iter().filter_map(|port| match port {
            Port::Stream { name, direction, .. } => Some((name.as_str(), *direction)),
            _ => None,
        })
    }

    /// Bytes of the network that the unit's widest stream port takes in a cycle; 0 without any.
    pub fn network_bytes(&self) -> u32 {
        let widths = self.ports.iter().filter_map(|port| match port {
            Port::Stream { bytes, .. } => Some(*bytes),
            _ => None,
        });
        widths.max().unwrap_or(0)
    }

    /// Names of the events, in the order in which the host numbers them.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.ports.iter().filter_map(|port| match port {
            Port::Event { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether the unit has registers.
    pub fn has_registers(&self) -> bool {
        let registers =
            |port: &Port| matches!(port, Port::Mmio { .. } | Port::Axi4Lite { .. } | Port::Apb { .. });
        self.ports.iter().any(registers)
    }

    /// The registers that it says it has.
    pub fn registers(&self) -> &[UnitRegister] {
        let named = self.ports.iter().find_map(|port| match port {
            Port::Mmio { registers, .. } | Port::Axi4Lite { registers, .. } | Port::Apb { registers, .. } => {
                Some(registers.as_slice())
            }
            _ => None,
        });
        named.unwrap_or(&[])
    }

    /// What its registers are, if they are accessed by AXI4-Lite or APB.
    pub fn bus_registers(&self) -> Option<BusRegisters> {
        self.ports.iter().find_map(|port| match port {
            Port::Axi4Lite {
                bytes, address_bits, ..
            } => Some(BusRegisters {
                bytes: *bytes,
                size: 1 << address_bits,
                has_parts: true,
            }),
            Port::Apb {
                address_bits,
                strobes,
                ..
            } => Some(BusRegisters {
                bytes: APB_BYTES,
                size: 1 << address_bits,
                has_parts: *strobes,
            }),
            _ => None,
        })
    }

    /// The `custom-n` numbers that the unit answers to.
    pub fn opcodes(&self) -> &[u8] {
        self.control().map_or(&[], |(opcodes, _)| opcodes)
    }

    /// The commands that the unit says it understands.
    pub fn commands(&self) -> &[UnitCommand] {
        self.control().map_or(&[], |(_, commands)| commands)
    }

    /// What the port says through which the unit gets commands, if it has one.
    fn control(&self) -> Option<(&[u8], &[UnitCommand])> {
        self.ports.iter().find_map(|port| match port {
            Port::Command {
                opcodes, commands, ..
            }
            | Port::Mmio {
                opcodes, commands, ..
            } => Some((opcodes.as_slice(), commands.as_slice())),
            _ => None,
        })
    }

    /// Whether a memory port of the unit may watch.
    pub(crate) fn watches(&self) -> bool {
        self.ports
            .iter()
            .any(|port| matches!(port, Port::Memory { watch: true, .. }))
    }

    /// Whether the unit translates the addresses that it is given.
    pub fn is_translated(&self) -> bool {
        self.ports
            .iter()
            .any(|port| matches!(port, Port::Command { translated: true, .. }))
    }

    fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("format {} is not {FORMAT}", self.format));
        }
        if self.verilog.is_empty() {
            return Err("it names no Verilog file".into());
        }
        Clock::new(self.clock.hertz).map_err(|error| format!("clock.hertz: {error}"))?;
        let controls = self.ports.iter().filter(|port| {
            matches!(
                port,
                Port::Command { .. } | Port::Mmio { .. } | Port::Axi4Lite { .. } | Port::Apb { .. }
            )
        });
        if controls.count() > 1 {
            return Err("a unit has one command, mmio, axi4-lite or apb port at most".into());
        }
        let is_interrupt = |port: &&Port| matches!(port, Port::Interrupt { .. });
        if self.ports.iter().filter(is_interrupt).count() > 1 {
            return Err("a unit has one interrupt port at most".into());
        }
        self.identifiers().try_for_each(check_identifier)?;
        if !self.is_elaborated() {
            self.parameters.iter().try_for_each(check_parameter)?;
        }
        self.define.iter().try_for_each(check_parameter)?;
        self.ports.iter().try_for_each(check_port)
    }

    fn identifiers(&self) -> impl Iterator<Item = &str> {
        [self.top.as_str(), &self.clock.pin]
            .into_iter()
            .chain(self.clock.reset.as_deref())
            .chain(self.idle.as_deref())
            .chain(self.ports.iter().map(Port::name))
    }
}

impl Port {
    /// The name given in the manifest.
    pub fn name(&self) -> &str {
        match self {
            Port::Command { name, .. }
            | Port::Memory { name, .. }
            | Port::Mmio { name, .. }
            | Port::Axi4 { name, .. }
            | Port::Axi4Lite { name, .. }
            | Port::Apb { name, .. }
            | Port::Stream { name, .. }
            | Port::Interrupt { name }
            | Port::Event { name, .. } => name,
        }
    }
}

fn check_identifier(name: &str) -> Result<(), String> {
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if valid {
        Ok(())
    } else {
        Err(format!("`{name}` is not a Verilog identifier"))
    }
}

fn check_parameter((name, value): (&String, &Value)) -> Result<(), String> {
    check_identifier(name)?;
    if value.is_number() || value.is_string() || value.is_boolean() {
        return Ok(());
    }
    Err(format!(
        "`{name}` is {value}, neither a number nor a word nor true or false"
    ))
}

fn check_port(port: &Port) -> Result<(), String> {
    match port {
        Port::Axi4 {
            name,
            bytes,
            naming: Naming::Lower | Naming::Upper,
            ..
        } if !matches!(*bytes, 4 | 8 | 16 | 32) => Err(format!(
            "port `{name}` moves {bytes} bytes per beat; 4, 8, 16 and 32 are possible"
        )),
        Port::Axi4Lite { name, bytes, .. } if !matches!(*bytes, 4 | 8) => Err(format!(
            "port `{name}` has registers of {bytes} bytes; 4 and 8 are possible"
        )),
        Port::Axi4Lite {
            name, address_bits, ..
        }
        | Port::Apb {
            name, address_bits, ..
        } if !(1..=32).contains(address_bits) => Err(format!(
            "port `{name}` has addresses of {address_bits} bits; 1 to 32 are possible"
        )),
        Port::Apb {
            name,
            naming: Naming::Elaborated,
            ..
        } => Err(format!("port `{name}`: the pins of APB are `lower` or `upper`")),
        Port::Memory { name, bytes, .. }
        | Port::Axi4 {
            name,
            bytes,
            naming: Naming::Elaborated,
            ..
        } if !matches!(*bytes, 16 | 32) || *bytes as usize > BEAT_BYTES => Err(format!(
            "port `{name}` moves {bytes} bytes per beat; 16 and 32 are possible"
        )),
        Port::Memory { name, tag_bits, .. } if !(1..=8).contains(tag_bits) => Err(format!(
            "port `{name}` has tags of {tag_bits} bits; 1 to 8 are possible"
        )),
        Port::Axi4 {
            name,
            id_bits,
            naming,
            ..
        } if *id_bits > 8 || (*id_bits == 0 && *naming == Naming::Elaborated) => Err(format!(
            "port `{name}` has identifiers of {id_bits} bits; 1 to 8 are possible"
        )),
        Port::Memory {
            name, address_bits, ..
        }
        | Port::Axi4 {
            name, address_bits, ..
        } if !(1..=64).contains(address_bits) => Err(format!(
            "port `{name}` has addresses of {address_bits} bits; 1 to 64 are possible"
        )),
        Port::Stream { name, bytes, .. } if !matches!(bytes, 8 | 16) => Err(format!(
            "port `{name}` has flits of {bytes} bytes; 8 and 16 are possible"
        )),
        Port::Command { name, opcodes, .. } if opcodes.iter().any(|opcode| *opcode > 3) => {
            Err(format!("port `{name}` names an opcode above custom-3"))
        }
        Port::Command { name, commands, .. } => check_commands(name, commands),
        Port::Mmio {
            name,
            commands,
            registers,
            ..
        } => {
            check_commands(name, commands)?;
            check_registers(name, registers, MMIO_BYTES, MMIO_PAGE)
        }
        Port::Axi4Lite {
            name,
            bytes,
            address_bits,
            registers,
            ..
        } => check_registers(name, registers, u64::from(*bytes), 1 << address_bits),
        Port::Apb {
            name,
            prefix,
            address_bits,
            registers,
            ..
        } => {
            if let Some(prefix) = prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
                check_identifier(prefix)?;
            }
            check_registers(name, registers, APB_BYTES.into(), 1 << address_bits)
        }
        Port::Event { name, width } if !(1..=32).contains(width) => Err(format!(
            "event `{name}` is {width} bits wide; 1 to 32 are possible"
        )),
        _ => Ok(()),
    }
}

fn check_commands(port: &str, commands: &[UnitCommand]) -> Result<(), String> {
    for (index, command) in commands.iter().enumerate() {
        if command.funct > MOST_FUNCT {
            let (name, funct) = (&command.name, command.funct);
            return Err(format!(
                "command `{name}` of port `{port}` is number {funct}; 0 to {MOST_FUNCT} are possible"
            ));
        }
        let same = |other: &&UnitCommand| other.name == command.name || other.funct == command.funct;
        if let Some(other) = commands[..index].iter().find(same) {
            return Err(format!(
                "commands `{}` and `{}` of port `{port}` share a name or a number",
                other.name, command.name
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ports(ports: &str) -> Result<Manifest, String> {
        Manifest::parse(&format!(
            r#"{{"format":1,"unit":"u","design":"U","top":"U","verilog":["U.sv"],
                "clock":{{"pin":"clock","reset":"reset","hertz":2000000000}},"idle":"idle",
                "ports":[{ports}],"parameters":{{}}}}"#
        ))
    }

    #[test]
    fn commands_are_told_apart() {
        let with = |commands: &str| {
            with_ports(&format!(
                r#"{{"contract":"command","name":"command","opcodes":[0],"commands":[{commands}]}}"#
            ))
        };
        let manifest =
            with(r#"{"name":"go","funct":0,"rs1":"how far"},{"name":"stop","funct":127}"#).unwrap();
        assert_eq!(manifest.commands().len(), 2);
        let twice = with(r#"{"name":"go","funct":0},{"name":"stop","funct":0}"#).unwrap_err();
        assert!(twice.contains("`go` and `stop`"), "{twice}");
        let beyond = with(r#"{"name":"go","funct":128}"#).unwrap_err();
        assert!(beyond.contains("0 to 127"), "{beyond}");
    }

    #[test]
    fn ports_are_read_in_order() {
        let manifest = with_ports(
            r#"{"contract":"command","name":"command","opcodes":[0]},
               {"contract":"memory","name":"read","bytes":32,"tag_bits":6,"address_bits":64},
               {"contract":"memory","name":"write","bytes":16,"tag_bits":4},
               {"contract":"event","name":"stall"}"#,
        )
        .unwrap();
        assert_eq!(
            manifest.memory_ports().collect::<Vec<_>>(),
            [("read", 32), ("write", 16)]
        );
        assert_eq!(manifest.events().collect::<Vec<_>>(), ["stall"]);
        assert_eq!(manifest.opcodes(), [0]);
    }

    #[test]
    fn impossible_ports_are_refused_by_name() {
        let wide = with_ports(r#"{"contract":"memory","name":"read","bytes":64,"tag_bits":6}"#);
        assert_eq!(
            wide.unwrap_err(),
            "port `read` moves 64 bytes per beat; 16 and 32 are possible"
        );
        let opcode = with_ports(r#"{"contract":"command","name":"command","opcodes":[4]}"#);
        assert_eq!(
            opcode.unwrap_err(),
            "port `command` names an opcode above custom-3"
        );
        let name = with_ports(r#"{"contract":"event","name":"a-b"}"#);
        assert_eq!(name.unwrap_err(), "`a-b` is not a Verilog identifier");
    }

    #[test]
    fn two_ways_to_command_a_unit_are_refused() {
        let both = with_ports(
            r#"{"contract":"command","name":"command","opcodes":[0]},{"contract":"mmio","name":"mmio"}"#,
        );
        assert!(both
            .unwrap_err()
            .contains("one command, mmio, axi4-lite or apb port"));
    }
}
