mod check;
mod former;
mod port;
#[cfg(test)]
mod tests;

use crate::attach::Attach;
use crate::clocks::ClockPins;
use crate::registers::UnitRegister;
use crate::RtlError;
pub use check::MOST_FUNCT;
use former::FORMER;
pub(crate) use port::APB_BYTES;
pub use port::{BusRegisters, Direction, ForSoftware, Moves, Naming, Port, Transfers, UnitCommand};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The format of manifests, and the one before, which is read as well.
const FORMAT: u32 = 2;

/// The members of a manifest that are read before its format is known.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

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
}
