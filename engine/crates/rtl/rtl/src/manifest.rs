use crate::attach::Attach;
use crate::clocks::{self, ClockPins};
use crate::interface::BEAT_BYTES;
use crate::registers::{check_registers, UnitRegister};
use crate::RtlError;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The format of manifests, and the one before, which is read as well.
const FORMAT: u32 = 2;
const FORMER: u32 = 1;

/// The memory port that, in the former format, was recognised by its name as one that reads intermediate data.
const FORMER_INTERMEDIATE: &str = "history";

/// The members of a manifest that are read before its format is known.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

/// Bytes of a register that is accessed by APB.
pub(crate) const APB_BYTES: u32 = 4;

/// Bytes of a register behind a memory-mapped port, and of its page.
const MMIO_BYTES: u64 = 8;
const MMIO_PAGE: u64 = 0x1000;

/// The largest number of a command: seven bits of the instruction distinguish commands.
pub const MOST_FUNCT: u8 = 127;

/// The description of a unit, from elaboration or from its author: its Verilog, its ports by contract, its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: u32,
    /// The name by which users select the unit.
    pub unit: String,
    /// Name of the design.
    #[serde(default)]
    pub design: String,
    /// The top module.
    pub top: String,
    /// Verilog files and lists of them (`.f`), relative to the manifest.
    pub verilog: Vec<PathBuf>,
    /// Folders of included files, relative to the manifest, in addition to its own and those of the Verilog files.
    #[serde(default)]
    include: Vec<PathBuf>,
    /// Macros that are defined before the first file, and their texts.
    #[serde(default)]
    pub define: BTreeMap<String, Value>,
    /// Sources in C (`.c`) and C++ of the functions that the Verilog imports, relative to the manifest.
    #[serde(default)]
    dpi: Vec<PathBuf>,
    /// The folder in which the Verilog opens data files, relative to the manifest; by default, the folder of the
    /// manifest.
    #[serde(default)]
    data: Option<PathBuf>,
    /// The hash of the elaborated design; manifests written by hand have none.
    #[serde(default)]
    hash: Option<String>,
    /// The clock of the former format.
    #[serde(default)]
    clock: Option<ClockPins>,
    /// The clocks, with their resets and frequencies; the first one is that in which its cycles are counted.
    #[serde(default)]
    clocks: Vec<ClockPins>,
    /// The places where it may be attached.
    #[serde(default)]
    attach: Option<Vec<Attach>>,
    /// The output that is high while the unit is inactive until new input arrives; if there is none, the unit is never
    /// idle.
    pub idle: Option<String>,
    /// The ports.
    pub ports: Vec<Port>,
    /// The parameters of the elaboration, or, without a hash, those for the top module.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    #[serde(skip)]
    folder: PathBuf,
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

    /// Parses and checks the text of a manifest.
    ///
    /// # Errors
    /// The error in it.
    pub fn parse(text: &str) -> Result<Manifest, String> {
        let of = |error: serde_json::Error| error.to_string();
        let Head { format } = serde_json::from_str(text).map_err(of)?;
        if format != FORMAT && format != FORMER {
            return Err(format!(
                "format {format} is unknown; {FORMAT} is read, and {FORMER} as it was before"
            ));
        }
        let mut manifest: Manifest = serde_json::from_str(text).map_err(of)?;
        if format == FORMER {
            manifest.bring_up_to_date()?;
        }
        manifest.check()?;
        Ok(manifest)
    }

    /// Converts a manifest of the former format to the current one.
    fn bring_up_to_date(&mut self) -> Result<(), String> {
        let words = [
            ("clocks", !self.clocks.is_empty()),
            ("attach", self.attach.is_some()),
        ];
        if let Some((word, _)) = words.into_iter().find(|(_, is_there)| *is_there) {
            return Err(format!("`{word}` is a part of format {FORMAT}, not of {FORMER}"));
        }
        let clock = self.clock.take().ok_or("missing field `clock`")?;
        self.clocks.push(clock);
        self.attach = Some(places_by(&self.ports));
        for port in &mut self.ports {
            if let Port::Memory { name, traffic, .. } | Port::Axi4 { name, traffic, .. } = port {
                if name == FORMER_INTERMEDIATE {
                    *traffic = Moves::Intermediate;
                }
            }
        }
        Ok(())
    }

    /// The change that converts a manifest of the former format to the current one, in one line; none for a current
    /// one.
    pub fn advice(&self) -> Option<String> {
        if self.format == FORMAT {
            return None;
        }
        let places: Vec<String> = self
            .attach()
            .iter()
            .map(|place| format!("\"{}\"", place.name()))
            .collect();
        let mut words = format!(
            "format {FORMER} is read for now: say \"format\": {FORMAT}, \"clocks\": [{{…}}] in the place of \"clock\": {{…}}, \
             and \"attach\": [{}], of which you keep where it belongs",
            places.join(", ")
        );
        let intermediate = |port: &&Port| port.moves() == Some(Moves::Intermediate);
        if let Some(port) = self.ports.iter().find(intermediate) {
            words += &format!("; and \"traffic\": \"intermediate\" of port `{}`", port.name());
        }
        Some(words)
    }

    /// The clock of its cycles.
    pub fn clock(&self) -> &ClockPins {
        &self.clocks[0]
    }

    /// All its clocks, that of its cycles first.
    pub fn clocks(&self) -> &[ClockPins] {
        &self.clocks
    }

    /// The places where it may be attached.
    pub fn attach(&self) -> &[Attach] {
        self.attach.as_deref().unwrap_or(&[])
    }

    /// Whether it may be attached there.
    pub fn attaches(&self, place: Attach) -> bool {
        self.attach().contains(&place)
    }

    /// Refuses a unit that may not be attached there.
    ///
    /// # Errors
    /// [`RtlError::NotThere`].
    pub fn require(&self, place: Attach) -> Result<(), RtlError> {
        if self.attaches(place) {
            return Ok(());
        }
        let places: Vec<String> = self.attach().iter().map(Attach::to_string).collect();
        Err(RtlError::NotThere {
            unit: self.unit.clone(),
            place,
            places: if places.is_empty() {
                "nowhere but on a bench".into()
            } else {
                places.join(" or ")
            },
        })
    }

    /// The folder of the manifest, in which the unit's own files are found; its path is absolute.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder in which the Verilog opens data files.
    pub fn data_folder(&self) -> PathBuf {
        self.data
            .as_ref()
            .map_or_else(|| self.folder.clone(), |data| self.folder.join(data))
    }

    /// Paths of the Verilog files.
    pub fn verilog_paths(&self) -> Vec<PathBuf> {
        self.within(&self.verilog)
    }

    /// Folders searched for included files, in that order, each once.
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
            Port::Memory { name, bytes, .. }
            | Port::Axi4 { name, bytes, .. }
            | Port::TileLink {
                name,
                bytes,
                direction: Direction::Out,
                ..
            } => Some((name.as_str(), *bytes)),
            _ => None,
        })
    }

    /// The stream ports, in the order in which the host numbers them.
    pub fn stream_ports(&self) -> impl Iterator<Item = (&str, Direction)> {
        self.ports.iter().filter_map(|port| match port {
            Port::Stream { name, direction, .. } | Port::AxiStream { name, direction, .. } => {
                Some((name.as_str(), *direction))
            }
            _ => None,
        })
    }

    /// Refuses frames of `length` bytes for the stream port `name` if it cannot mark their lengths.
    ///
    /// # Errors
    /// What it takes.
    pub fn check_frame(&self, name: &str, length: usize) -> Result<(), String> {
        let beat = self.ports.iter().find_map(|port| match port {
            Port::AxiStream {
                name: own,
                bytes,
                keep: false,
                ..
            } if own == name => Some(*bytes as usize),
            _ => None,
        });
        match beat {
            Some(bytes) if length % bytes != 0 => Err(format!(
                "port `{name}` has no `tkeep`: it takes multiples of {bytes} bytes, not {length}"
            )),
            _ => Ok(()),
        }
    }

    /// Whether it has an interrupt line.
    pub fn has_interrupt(&self) -> bool {
        self.ports
            .iter()
            .any(|port| matches!(port, Port::Interrupt { .. }))
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
        let registers = |port: &Port| port.is_control() && !matches!(port, Port::Command { .. });
        self.ports.iter().any(registers)
    }

    /// The registers that it lists.
    pub fn registers(&self) -> &[UnitRegister] {
        let named = self.ports.iter().find_map(|port| match port {
            Port::Mmio { registers, .. }
            | Port::Axi4Lite { registers, .. }
            | Port::Apb { registers, .. }
            | Port::TileLink {
                registers,
                direction: Direction::In,
                ..
            } => Some(registers.as_slice()),
            _ => None,
        });
        named.unwrap_or(&[])
    }

    /// Its registers, if they are accessed by AXI4-Lite, APB or TileLink.
    pub fn bus_registers(&self) -> Option<BusRegisters> {
        self.ports.iter().find_map(|port| match port {
            Port::Axi4Lite {
                bytes, address_bits, ..
            }
            | Port::TileLink {
                bytes,
                address_bits,
                direction: Direction::In,
                ..
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

    /// The commands that the unit lists.
    pub fn commands(&self) -> &[UnitCommand] {
        self.control().map_or(&[], |(_, commands)| commands)
    }

    /// The opcodes and commands of the port through which the unit receives commands, if it has one.
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

    /// Whether the unit translates the addresses that it receives.
    pub fn is_translated(&self) -> bool {
        self.ports
            .iter()
            .any(|port| matches!(port, Port::Command { translated: true, .. }))
    }

    fn check(&self) -> Result<(), String> {
        if self.clock.is_some() {
            return Err(format!(
                "`clock` is a part of format {FORMER}: {FORMAT} has `clocks`, a list"
            ));
        }
        if self.attach.is_none() {
            return Err("missing field `attach`: where it may be attached".into());
        }
        if self.verilog.is_empty() {
            return Err("it names no Verilog file".into());
        }
        let names: Vec<&str> = self.ports.iter().map(Port::name).collect();
        clocks::check(&self.clocks, &names)?;
        self.check_names()?;
        if self.ports.iter().filter(|port| port.is_control()).count() > 1 {
            return Err("a unit has one command, mmio, axi4-lite or apb port at most, or one of tilelink with registers".into());
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

    /// Refuses two ports with the same name; the pins of events begin otherwise.
    fn check_names(&self) -> Result<(), String> {
        let ports = self
            .ports
            .iter()
            .filter(|port| !matches!(port, Port::Event { .. }));
        let names: Vec<&str> = ports.map(Port::name).collect();
        let is_twice = |(index, name): &(usize, &&str)| names[..*index].contains(*name);
        match names.iter().enumerate().find(is_twice) {
            Some((_, name)) => Err(format!("two ports are named `{name}`")),
            None => Ok(()),
        }
    }

    fn identifiers(&self) -> impl Iterator<Item = &str> {
        let clocks = self.clocks.iter();
        let pins = clocks.flat_map(|clock| std::iter::once(clock.pin.as_str()).chain(clock.reset.as_deref()));
        std::iter::once(self.top.as_str())
            .chain(pins)
            .chain(self.idle.as_deref())
            .chain(self.ports.iter().map(Port::name))
    }
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

/// The places for a unit of the former format, which does not list them: all those to which its ports can be connected.
/// What walks ask is said.
fn places_by(ports: &[Port]) -> Vec<Attach> {
    let takes_frames = |port: &Port| {
        matches!(
            port,
            Port::Stream {
                direction: Direction::In,
                ..
            }
        )
    };
    let mut places = Vec::new();
    if ports.iter().any(Port::is_control) {
        places.push(Attach::Hart);
    }
    if ports.iter().any(takes_frames) {
        places.extend([Attach::Link, Attach::Switch, Attach::Card]);
    }
    places
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
        Port::TileLink { .. } => check_tilelink(port),
        Port::Stream { name, bytes, .. } if !matches!(bytes, 8 | 16 | 32) => Err(format!(
            "port `{name}` has beats of {bytes} bytes; 8, 16 and 32 are possible"
        )),
        Port::AxiStream { name, bytes, .. } if !matches!(bytes, 1 | 2 | 4 | 8 | 16 | 32) => Err(format!(
            "port `{name}` has transfers of {bytes} bytes; 1, 2, 4, 8, 16 and 32 are possible"
        )),
        Port::AxiStream {
            name,
            naming: Naming::Elaborated,
            ..
        } => Err(format!(
            "port `{name}`: the pins of AXI4-Stream are `lower` or `upper`"
        )),
        Port::Interrupt { pin: Some(pin), .. } => check_identifier(pin),
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

fn check_tilelink(port: &Port) -> Result<(), String> {
    let Port::TileLink {
        name,
        direction,
        bytes,
        address_bits,
        size_bits,
        source_bits,
        naming,
        registers,
        ..
    } = port
    else {
        return Ok(());
    };
    let (widths, most): (&[u32], u32) = match direction {
        Direction::In => (&[4, 8], 32),
        Direction::Out => (&[4, 8, 16, 32], 64),
    };
    if !widths.contains(bytes) {
        let listed: Vec<String> = widths.iter().map(u32::to_string).collect();
        return Err(format!(
            "port `{name}` has beats of {bytes} bytes; {} are possible",
            listed.join(", ")
        ));
    }
    if *naming == Naming::Upper {
        return Err(format!(
            "port `{name}`: the pins of TileLink are `elaborated` or `lower`"
        ));
    }
    let widths = [
        ("addresses", *address_bits, 1, most),
        ("sizes", *size_bits, 2, 4),
        ("sources", *source_bits, 0, 16),
    ];
    for (what, bits, least, most) in widths {
        if !(least..=most).contains(&bits) {
            return Err(format!(
                "port `{name}` has {what} of {bits} bits; {least} to {most} are possible"
            ));
        }
    }
    check_registers(name, registers, u64::from(*bytes), 1 << (*address_bits).min(32))
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
        with(&format!(
            r#""format":2,"clocks":[{CLOCK}],"attach":["hart"],"ports":[{ports}]"#
        ))
    }

    const CLOCK: &str = r#"{"pin":"clock","reset":"reset","hertz":2000000000}"#;

    /// A manifest with these members beside those that all have.
    fn with(members: &str) -> Result<Manifest, String> {
        Manifest::parse(&format!(
            r#"{{"unit":"u","design":"U","top":"U","verilog":["U.sv"],"idle":"idle","parameters":{{}},{members}}}"#
        ))
    }

    #[test]
    fn the_former_format_is_read_and_told_what_to_change() {
        let ports = r#""ports":[{"contract":"command","name":"command","opcodes":[0]},
            {"contract":"memory","name":"history","bytes":16,"tag_bits":4}]"#;
        let former = with(&format!(r#""format":1,"clock":{CLOCK},{ports}"#)).unwrap();
        assert_eq!(former.clock().hertz, 2_000_000_000);
        assert_eq!(former.attach(), [Attach::Hart]);
        assert_eq!(former.ports[1].moves(), Some(Moves::Intermediate));
        let advice = former.advice().unwrap();
        for words in [r#""format": 2"#, r#""attach": ["hart"]"#, "port `history`"] {
            assert!(advice.contains(words), "{advice}");
        }
        let current = format!(r#""format":2,"clocks":[{CLOCK}],"attach":["hart"],{ports}"#);
        let current = with(&current).unwrap();
        assert_eq!(current.advice(), None);
        assert_eq!(current.ports[1].moves(), Some(Moves::Stream));
    }

    #[test]
    fn formats_are_not_mixed() {
        let refused = |members: &str| with(members).unwrap_err();
        let unknown = refused(r#""format":3,"what":"ever","ports":[]"#);
        assert_eq!(unknown, "format 3 is unknown; 2 is read, and 1 as it was before");
        let early = refused(&format!(r#""format":1,"clock":{CLOCK},"attach":[],"ports":[]"#));
        assert_eq!(early, "`attach` is a part of format 2, not of 1");
        let late = refused(&format!(r#""format":2,"clock":{CLOCK},"attach":[],"ports":[]"#));
        assert!(late.starts_with("`clock` is a part of format 1"), "{late}");
        let silent = refused(&format!(r#""format":2,"clocks":[{CLOCK}],"ports":[]"#));
        assert!(silent.contains("`attach`"), "{silent}");
        let nowhere = refused(&format!(
            r#""format":2,"clocks":[{CLOCK}],"attach":["moon"],"ports":[]"#
        ));
        assert!(nowhere.contains("`moon`"), "{nowhere}");
    }

    #[test]
    fn clocks_without_a_ratio_are_refused_with_both_names() {
        let refused = |second: &str| {
            let event = r#"{"contract":"event","name":"beat"}"#;
            let more = format!(r#""format":2,"attach":[],"clocks":[{CLOCK},{second}],"ports":[{event}]"#);
            with(&more).err()
        };
        let pixel = |hertz: u64, ports: &str| {
            refused(&format!(
                r#"{{"pin":"pixel","reset":null,"hertz":{hertz},"ports":[{ports}]}}"#
            ))
        };
        assert_eq!(pixel(500_000_000, r#""beat""#), None);
        let crooked = pixel(300_000_000, "").unwrap();
        assert!(
            crooked.contains("`clock` of 2000000000 Hz and `pixel` of 300000000 Hz"),
            "{crooked}"
        );
        assert_eq!(
            pixel(1, r#""tone""#).unwrap(),
            "clock `pixel` lists `tone`, which is no port"
        );
        assert_eq!(refused(CLOCK).unwrap(), "two clocks are on the pin `clock`");
    }

    #[test]
    fn a_unit_is_refused_where_it_does_not_belong() {
        let manifest = with_ports("").unwrap();
        assert!(manifest.require(Attach::Hart).is_ok());
        let refused = manifest.require(Attach::Switch).unwrap_err().to_string();
        assert_eq!(
            refused,
            "unit `u` cannot be attached in a switch: by its manifest it may be beside a hart"
        );
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
        let odd = r#"{"contract":"axi4-stream","name":"in","direction":"in","bytes":3,"naming":"lower"}"#;
        assert_eq!(
            with_ports(odd).unwrap_err(),
            "port `in` has transfers of 3 bytes; 1, 2, 4, 8, 16 and 32 are possible"
        );
        let whole = with_ports(&odd.replace('3', "4")).unwrap();
        assert_eq!(
            whole.check_frame("in", 6).unwrap_err(),
            "port `in` has no `tkeep`: it takes multiples of 4 bytes, not 6"
        );
        assert_eq!(whole.check_frame("in", 8), Ok(()));
        let name = with_ports(r#"{"contract":"event","name":"a-b"}"#);
        assert_eq!(name.unwrap_err(), "`a-b` is not a Verilog identifier");
    }

    #[test]
    fn tilelink_is_registers_or_memory_by_the_direction_of_requests() {
        let port = |direction: &str, bytes: u32| {
            format!(
                r#"{{"contract":"tilelink","name":"{direction}","direction":"{direction}","bytes":{bytes},
                    "address_bits":16,"size_bits":3,"source_bits":0}}"#
            )
        };
        let both = with_ports(&format!("{},{}", port("in", 8), port("out", 32))).unwrap();
        assert_eq!(both.memory_ports().collect::<Vec<_>>(), [("out", 32)]);
        assert_eq!(
            both.bus_registers().map(|of| (of.bytes, of.size)),
            Some((8, 65536))
        );
        let refused = |port: &str| with_ports(port).unwrap_err();
        assert_eq!(
            refused(&port("in", 16)),
            "port `in` has beats of 16 bytes; 4, 8 are possible"
        );
        assert_eq!(
            refused(&port("out", 8).replace("\"size_bits\":3", "\"size_bits\":5")),
            "port `out` has sizes of 5 bits; 2 to 4 are possible"
        );
        let other = port("in", 4).replace("\"name\":\"in\"", "\"name\":\"other\"");
        assert!(refused(&format!("{},{other}", port("in", 4))).contains("one of tilelink with registers"));
    }

    #[test]
    fn ports_have_names_of_their_own() {
        let port = r#"{"contract":"memory","name":"read","bytes":16,"tag_bits":4}"#;
        let refused = with_ports(&format!("{port},{port}")).unwrap_err();
        assert_eq!(refused, "two ports are named `read`");
        let event = r#"{"contract":"event","name":"read"}"#;
        assert!(with_ports(&format!("{port},{event}")).is_ok());
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
