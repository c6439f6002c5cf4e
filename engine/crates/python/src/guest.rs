use crate::design::{designs, placed, Design, Placed};
use crate::error::raise;
use crate::fabric::AttachedFabric;
use crate::noc::ChipMesh;
use crate::observer::Observer;
use crate::parameters::Values;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rackwright_boot::Software;
use rackwright_device::{Disk, TreeMaker};
use rackwright_gateway::UserNetwork;
use rackwright_machine::{Checkpoint, Extras, Interrupts, MachineParameters, Progress, Request};
use rackwright_memory::ChipMaker;
use rackwright_server::{user_guest, LinuxStart, UserConfig};
use rackwright_server::{CpuModel, ServerParameters};
use rackwright_time::{Clock, Cycles};
use rackwright_trace::Observation;
use rackwright_unit::{Attachment, PlacedUnit};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// The seed of random numbers that a checkpoint does not contain.
const SEED: u64 = 1;

/// A machine that boots Linux.
#[pyclass]
pub struct Guest {
    /// Never contended: Python's own borrows exclude concurrent access.
    guest: Mutex<rackwright_machine::Guest>,
}

/// A machine whose network is that of the host.
fn on_host(
    start: LinuxStart<'_>,
    (cpu, seed): (CpuModel, u64),
    nic: &Py<Design>,
    extras: Extras<'_>,
) -> PyResult<rackwright_machine::Guest> {
    let nic = &nic.get().design;
    let config = UserConfig {
        start,
        cpu,
        seed,
        nic,
    };
    user_guest(&config, extras, UserNetwork::of_host()).map_err(raise)
}

#[pymethods]
impl Guest {
    #[new]
    #[pyo3(signature = (firmware, kernel, files, command_line, cpu = "functional", harts = 1, memory_bytes = 1 << 31, seed = 1, vector = false, disk = None, observer = None, units = Vec::new(), nic = None, memory = BTreeMap::new(), core = BTreeMap::new(), fabric = None, aia = false, chip = None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        firmware: &[u8],
        kernel: &[u8],
        files: &[u8],
        command_line: &str,
        cpu: &str,
        harts: usize,
        memory_bytes: u64,
        seed: u64,
        vector: bool,
        disk: Option<PathBuf>,
        observer: Option<Py<Observer>>,
        units: Vec<Placed>,
        nic: Option<Py<Design>>,
        memory: Values,
        core: Values,
        fabric: Option<Py<AttachedFabric>>,
        aia: bool,
        chip: Option<Py<ChipMesh>>,
    ) -> PyResult<Guest> {
        let parameters = MachineParameters {
            cpu: cpu.parse().map_err(raise)?,
            harts,
            memory_bytes,
            seed,
            vector,
        };
        let server = ServerParameters::with(parameters.cpu, &memory, &core).map_err(raise)?;
        let software = Software {
            firmware,
            kernel,
            initial_files: files,
            command_line,
        };
        let units = placed(&units)?;
        let nic_design = nic.as_ref().map(|nic| &nic.get().design);
        let told: Vec<_> = designs(&units).into_iter().chain(nic_design).collect();
        let model = (parameters.cpu, server.memory.clock);
        let observation = observation(observer.as_ref(), (kernel, files), model, &told, false)?;
        let extras = Extras {
            disk: open(disk)?,
            attachment: attachment(&units),
            observation: observation.as_ref(),
            parameters: Some(&server),
            interrupts: if aia { Interrupts::Aia } else { Interrupts::Plic },
            tree: fabric.as_ref().map(|fabric| fabric.get() as &dyn TreeMaker),
            chip: chip.as_ref().map(|chip| &chip.get().mesh as &dyn ChipMaker),
        };
        let guest = match nic {
            None => rackwright_machine::Guest::start(&parameters, &software, extras).map_err(raise),
            Some(nic) => {
                let start = LinuxStart::Reset {
                    software: &software,
                    harts,
                    memory_bytes,
                    vector,
                };
                on_host(start, (parameters.cpu, seed), &nic, extras)
            }
        };
        guest.map(Guest::from)
    }

    /// A machine that continues from a checkpoint: it is ready.
    #[staticmethod]
    #[pyo3(signature = (path, cpu = "functional", disk = None, observer = None, kernel = None, files = None, units = Vec::new(), nic = None, memory = BTreeMap::new(), core = BTreeMap::new(), fabric = None, chip = None))]
    #[allow(clippy::too_many_arguments)]
    fn restore(
        path: PathBuf,
        cpu: &str,
        disk: Option<PathBuf>,
        observer: Option<Py<Observer>>,
        kernel: Option<&[u8]>,
        files: Option<&[u8]>,
        units: Vec<Placed>,
        nic: Option<Py<Design>>,
        memory: Values,
        core: Values,
        fabric: Option<Py<AttachedFabric>>,
        chip: Option<Py<ChipMesh>>,
    ) -> PyResult<Guest> {
        let cpu: CpuModel = cpu.parse().map_err(raise)?;
        let server = ServerParameters::with(cpu, &memory, &core).map_err(raise)?;
        let (kernel, files) = (kernel.unwrap_or_default(), files.unwrap_or_default());
        let units = placed(&units)?;
        let nic_design = nic.as_ref().map(|nic| &nic.get().design);
        let told: Vec<_> = designs(&units).into_iter().chain(nic_design).collect();
        let model = (cpu, server.memory.clock);
        let observation = observation(observer.as_ref(), (kernel, files), model, &told, true)?;
        let extras = Extras {
            disk: open(disk)?,
            attachment: attachment(&units),
            observation: observation.as_ref(),
            parameters: Some(&server),
            tree: fabric.as_ref().map(|fabric| fabric.get() as &dyn TreeMaker),
            chip: chip.as_ref().map(|chip| &chip.get().mesh as &dyn ChipMaker),
            ..Extras::default()
        };
        let checkpoint = Checkpoint::read(&path).map_err(raise)?;
        let guest = match nic {
            None => rackwright_machine::Guest::restore(&checkpoint, cpu, extras).map_err(raise),
            Some(nic) => on_host(LinuxStart::Booted(&checkpoint), (cpu, SEED), &nic, extras),
        };
        guest.map(Guest::from)
    }

    /// Writes a checkpoint of a guest that is ready.
    fn save(&mut self, path: PathBuf) -> PyResult<()> {
        self.guest().save(&path).map_err(raise)
    }

    /// Number of its harts.
    #[getter]
    fn harts(&mut self) -> usize {
        self.guest().harts()
    }

    /// Runs for up to `cycles` cycles; returns the reason for the return, and a status when the guest was switched off.
    fn run(&mut self, py: Python<'_>, cycles: u64) -> PyResult<(&'static str, Option<i32>)> {
        let guest = self.guest();
        let until = guest.cycle() + Cycles::new(cycles);
        let progress = py.detach(|| guest.run(until)).map_err(raise)?;
        Ok(match progress {
            Progress::Running => ("running", None),
            Progress::Ready => ("ready", None),
            Progress::Idle => ("idle", None),
            Progress::Off(status) => ("off", Some(status)),
        })
    }

    /// Requests a shell on the console from a guest that is ready.
    fn request_console(&mut self) {
        self.guest().request(&Request::Console);
    }

    /// Requests a guest that is ready to run a command and become ready again.
    fn request_prepare(&mut self, command: &[u8]) {
        self.guest().request(&Request::Prepare(command.to_vec()));
    }

    /// Requests a guest that is ready to run a command.
    fn request_run(&mut self, command: &[u8]) {
        self.guest().request(&Request::Run(command.to_vec()));
    }

    /// Types on the console.
    fn send(&mut self, typed: &[u8]) {
        self.guest().send(typed);
    }

    /// The output of a serial port, without the first `skip` bytes.
    #[pyo3(signature = (port, skip = 0))]
    fn output<'py>(&mut self, py: Python<'py>, port: usize, skip: usize) -> PyResult<Bound<'py, PyBytes>> {
        if !rackwright_machine::SHOWN.contains(&port) {
            return Err(raise(format!("there is no output at serial port {port}")));
        }
        let sent = self.guest().output(port);
        Ok(PyBytes::new(py, sent.get(skip..).unwrap_or_default()))
    }

    #[getter]
    fn cycles(&mut self) -> u64 {
        self.guest().cycle().0
    }

    #[getter]
    fn instructions(&mut self) -> u64 {
        self.guest().instructions()
    }

    #[getter]
    fn clock_hz(&mut self) -> u64 {
        self.guest().clock().hertz()
    }

    /// Counts of the events of units, by `unit.event`.
    #[getter]
    fn unit_counters(&mut self) -> BTreeMap<String, u64> {
        let counters = self.guest().unit_counters();
        counters
            .iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect()
    }

    #[getter]
    fn digest(&mut self) -> String {
        self.guest().digest().to_string()
    }
}

/// The observation of a guest with this kernel, these files and these units, if it is observed.
fn observation(
    observer: Option<&Py<Observer>>,
    software: (&[u8], &[u8]),
    harts: (CpuModel, Clock),
    units: &[&rackwright_rtl::Design],
    resumes: bool,
) -> PyResult<Option<Observation>> {
    observer
        .map(|observer| observer.get().of_linux(software, harts, units, resumes))
        .transpose()
}

/// The attachment of `units` to each hart.
fn attachment(units: &[PlacedUnit]) -> Attachment<'_> {
    Attachment {
        units,
        skip_idle: true,
        ..Attachment::default()
    }
}

/// The disk with the content of a file.
fn open(disk: Option<PathBuf>) -> PyResult<Option<Disk>> {
    disk.map(|path| Disk::open(&path)).transpose().map_err(raise)
}

impl Guest {
    fn guest(&mut self) -> &mut rackwright_machine::Guest {
        self.guest
            .get_mut()
            .expect("no thread panics while it holds a guest")
    }
}

impl From<rackwright_machine::Guest> for Guest {
    fn from(guest: rackwright_machine::Guest) -> Guest {
        Guest {
            guest: Mutex::new(guest),
        }
    }
}
