use crate::Attach;
use rackwright_time::unit::Cycle;
use std::path::PathBuf;

/// Why a unit could not be described, built, loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum RtlError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        source: std::io::Error,
    },
    /// The manifest is not of the expected form.
    #[error("{path}: not a manifest: {reason}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// The manifest promises a pin that the Verilog does not have.
    #[error("port `{port}` of unit `{unit}` needs the pin `{pin}`, which module `{top}` does not have")]
    MissingPin {
        /// Name of the unit.
        unit: String,
        /// Name of the port in the manifest.
        port: String,
        /// The missing pin.
        pin: String,
        /// The top module.
        top: String,
    },
    /// The manifest promises a pin of another width than the Verilog's.
    #[error(
        "the pin `{pin}` of unit `{unit}` has {promised} bits by its manifest, and {found} in module `{top}`"
    )]
    PinWidth {
        /// Name of the unit.
        unit: String,
        /// The pin.
        pin: String,
        /// Its bits by the manifest.
        promised: u32,
        /// The top module.
        top: String,
        /// Its bits in the Verilog.
        found: u32,
    },
    /// The Verilog of Rocket is another than the port for commands is made for.
    #[error(
        "{path}: is not the Rocket core that a port for commands can be added to: it has no single `{text}`"
    )]
    Rocket {
        /// The file.
        path: PathBuf,
        /// The missing or repeated text.
        text: String,
    },
    /// A tool could not be started or ended with an error.
    #[error("{tool} failed while building unit `{unit}`:\n{output}")]
    Tool {
        /// The tool's name.
        tool: String,
        /// Name of the unit.
        unit: String,
        /// The last lines it printed.
        output: String,
    },
    /// The shared library could not be loaded.
    #[error("{path}: cannot load the compiled unit: {reason}")]
    Load {
        /// The library.
        path: PathBuf,
        /// The message of the loader.
        reason: String,
    },
    /// A path or an argument cannot be passed to the unit.
    #[error("`{text}` has a zero byte in it")]
    Text {
        /// What it is.
        text: String,
    },
    /// There is not enough memory for one more copy of the unit.
    #[error("there is not enough memory for unit `{unit}`")]
    Memory {
        /// Name of the unit.
        unit: String,
    },
    /// The unit ended the simulation while it was reset.
    #[error("unit `{unit}` stopped at {cycle}: {reason}")]
    Stopped {
        /// Name of the unit.
        unit: String,
        /// When.
        cycle: Cycle,
        /// What it said.
        reason: String,
    },
    /// A file changed after it was hashed and before it was compiled.
    #[error("{path}: changed while unit `{unit}` was compiled")]
    Changed {
        /// Name of the unit.
        unit: String,
        /// The file.
        path: PathBuf,
    },
    /// A port whose state cannot be saved.
    #[error("unit `{unit}` cannot be saved: the state of its port `{port}` cannot be read")]
    UnsavedPort {
        /// Name of the unit.
        unit: String,
        /// The port.
        port: String,
    },
    /// The operation needs a port that the unit does not have.
    #[error("unit `{unit}` has no {contract} port")]
    NoPort {
        /// Name of the unit.
        unit: String,
        /// The requested contract.
        contract: &'static str,
    },
    /// The unit's manifest does not allow this place of attachment.
    #[error("unit `{unit}` cannot be attached {place}: by its manifest it may be {places}")]
    NotThere {
        /// Name of the unit.
        unit: String,
        /// The requested place.
        place: Attach,
        /// The allowed places.
        places: String,
    },
}

impl RtlError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> RtlError {
        let path = path.into();
        move |source| RtlError::File { path, source }
    }
}
