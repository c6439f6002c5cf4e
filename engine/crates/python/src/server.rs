use crate::design::{designs, placed, Placed};
use crate::error::raise;
use crate::fabric::AttachedFabric;
use crate::noc::ChipMesh;
use crate::observer::Observer;
use crate::parameters::Values;
use crate::rocket::RocketDesign;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rackwright_device::TreeMaker;
use rackwright_memory::ChipMaker;
use rackwright_process::{Arguments, Environment, Input};
use rackwright_server::{
    CpuModel, DecodedPrograms, PlacedUnit, Progress, ServerConfig, ServerParameters, USER_BYTES,
};
use rackwright_time::{Cycle, Cycles};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Simulated cycles between two checks of signals and of the wall clock.
const SLICE: Cycles = Cycles::new(2_000_000);

/// Interval of progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// A server: harts of a timing model, and units beside each.
#[pyclass(frozen)]
pub struct Server {
    cpu: CpuModel,
    rtl: Option<Py<RocketDesign>>,
    parameters: ServerParameters,
    harts: usize,
    guest_bytes: u64,
    units: Vec<PlacedUnit>,
    skip_idle: bool,
    check_idle: bool,
    waves: Option<PathBuf>,
    fabric: Option<Py<AttachedFabric>>,
    chip: Option<Py<ChipMesh>>,
}

/// The results of a run.
#[pyclass(frozen, get_all)]
pub struct ServerResult {
    exit_code: i32,
    instructions: u64,
    cycles: u64,
    clock_hz: u64,
    digest: String,
    wall_seconds: f64,
    stdout: Py<PyBytes>,
    stderr: Py<PyBytes>,
    unknown_calls: Vec<&'static str>,
    unit_cycles: u64,
    counters: BTreeMap<String, u64>,
}

#[pymethods]
impl Server {
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (cpu = "rocket", harts = 1, guest_bytes = USER_BYTES, units = Vec::new(), skip_idle = true, check_idle = false, waves = None, memory = BTreeMap::new(), core = BTreeMap::new(), fabric = None, rtl = None, chip = None))]
    fn new(
        cpu: &str,
        harts: usize,
        guest_bytes: u64,
        units: Vec<Placed>,
        skip_idle: bool,
        check_idle: bool,
        waves: Option<PathBuf>,
        memory: Values,
        core: Values,
        fabric: Option<Py<AttachedFabric>>,
        rtl: Option<Py<RocketDesign>>,
        chip: Option<Py<ChipMesh>>,
    ) -> PyResult<Server> {
        let cpu = cpu.parse().map_err(raise)?;
        Ok(Server {
            cpu,
            rtl,
            parameters: ServerParameters::with(cpu, &memory, &core).map_err(raise)?,
            harts,
            guest_bytes,
            units: placed(&units)?,
            skip_idle,
            check_idle,
            waves,
            fabric,
            chip,
        })
    }

    /// Runs a program from the start to its end on a server fresh from reset.
    #[pyo3(signature = (program, arguments = Vec::new(), environment = Vec::new(), stdin = Some(Vec::new()), write_folder = None, echo = false, max_cycles = 0, progress = None, notice = None, observer = None))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        program: &str,
        arguments: Vec<String>,
        environment: Vec<String>,
        stdin: Option<Vec<u8>>,
        write_folder: Option<PathBuf>,
        echo: bool,
        max_cycles: u64,
        progress: Option<Py<PyAny>>,
        notice: Option<Py<PyAny>>,
        observer: Option<Py<Observer>>,
    ) -> PyResult<ServerResult> {
        let file = std::fs::read(program).map_err(|error| raise(format!("{program}: {error}")))?;
        let bytes = |strings: &[String]| strings.iter().map(|string| string.clone().into_bytes()).collect();
        // Without its folder, so that the digest of a run does not depend on the program's folder.
        let name = Path::new(program)
            .file_name()
            .unwrap_or_default()
            .as_encoded_bytes();
        let given = Arguments {
            arguments: std::iter::once(name.to_vec())
                .chain(arguments.into_iter().map(String::into_bytes))
                .collect(),
            environment: bytes(&environment),
        };
        let clock = self.parameters.memory.clock;
        let around = Environment {
            input: stdin.map_or(Input::Passed, Input::Bytes),
            echo,
            write_folder: write_folder.as_deref(),
            clock,
        };
        let observation = match &observer {
            None => None,
            Some(observer) => Some(observer.get().of_program(
                (program, &file),
                (self.cpu, clock),
                &designs(&self.units),
            )?),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "the speed of the simulation is reported"
        )]
        let began = Instant::now();
        let server = rackwright_server::Server::start(
            &self.config(),
            &file,
            &given,
            around,
            (observation.as_ref(), &DecodedPrograms::default()),
        );
        let mut server = server.map_err(|error| raise(format!("{program}: {error}")))?;
        let limit = if max_cycles == 0 {
            Cycle::NEVER
        } else {
            Cycle::new(max_cycles)
        };
        let observers = Observers { progress, notice };
        let exit_code = run_to_end(py, &mut server, limit, &observers)?;
        Ok(result(py, &server, exit_code, began.elapsed()))
    }
}

impl Server {
    fn config(&self) -> ServerConfig<'_> {
        ServerConfig {
            cpu: self.cpu,
            rtl: self.rtl.as_ref().map(|rtl| &rtl.get().design),
            harts: self.harts,
            parameters: &self.parameters,
            units: &self.units,
            guest_bytes: self.guest_bytes,
            skip_idle: self.skip_idle,
            check_idle: self.check_idle,
            waves: self.waves.as_deref(),
            tree: self.fabric.as_ref().map(|fabric| fabric.get() as &dyn TreeMaker),
            chip: self.chip.as_ref().map(|chip| &chip.get().mesh as &dyn ChipMaker),
        }
    }
}

/// Cycles without activity of an awaited unit after which a notice is sent, and sent again when the time has doubled.
const QUIET: Cycles = Cycles::new(4_000_000);

/// The receivers of reports on a run.
struct Observers {
    /// Receives instructions and cycles a few times per second.
    progress: Option<Py<PyAny>>,
    /// Receives a sentence if a problem is suspected.
    notice: Option<Py<PyAny>>,
}

impl Observers {
    fn tell(&self, py: Python<'_>, sentence: &str) -> PyResult<()> {
        match &self.notice {
            Some(notice) => notice.call1(py, (sentence,)).map(|_| ()),
            None => Ok(()),
        }
    }
}

/// Runs in slices, so that an interrupt from the keyboard ends the run and progress can be shown.
#[expect(clippy::disallowed_methods, reason = "progress is shown in real time")]
fn run_to_end(
    py: Python<'_>,
    server: &mut rackwright_server::Server,
    limit: Cycle,
    observers: &Observers,
) -> PyResult<i32> {
    let mut reported = Instant::now();
    let mut noticed = QUIET;
    loop {
        let until = (server.cycle() + SLICE).min(limit);
        match py.detach(|| server.run(until)).map_err(raise)? {
            Progress::Exited(status) => return Ok(status),
            Progress::Running if server.cycle() >= limit => {
                return Err(raise(server.limit_reached()));
            }
            Progress::Running => py.check_signals()?,
        }
        if let Some(wait) = server.wait() {
            let still = server.cycle().0.saturating_sub(wait.moved.0);
            if still >= noticed.0 {
                noticed = Cycles::new(2 * still);
                observers.tell(py, &format!("the program {wait}"))?;
            }
        }
        if let Some(progress) = observers
            .progress
            .as_ref()
            .filter(|_| reported.elapsed() >= REPORT_EVERY)
        {
            reported = Instant::now();
            progress.call1(py, (server.instructions(), server.cycle().0))?;
        }
    }
}

fn result(
    py: Python<'_>,
    server: &rackwright_server::Server,
    exit_code: i32,
    wall: Duration,
) -> ServerResult {
    ServerResult {
        exit_code,
        instructions: server.instructions(),
        cycles: server.cycle().0,
        clock_hz: server.clock().hertz(),
        digest: server.digest().to_string(),
        wall_seconds: wall.as_secs_f64(),
        stdout: PyBytes::new(py, &server.output()).unbind(),
        stderr: PyBytes::new(py, &server.error_output()).unbind(),
        unknown_calls: server.unknown_calls(),
        unit_cycles: server.unit_cycles(),
        counters: server
            .counters()
            .iter()
            .map(|(name, count)| (name.to_string(), count))
            .collect(),
    }
}
