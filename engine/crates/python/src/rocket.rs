use crate::design::Toolchain;
use crate::error::raise;
use crate::parameters::{self, Values};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rackwright_time::Cycle;
use std::path::PathBuf;
use std::time::Instant;

/// Rocket in RTL, compiled.
#[pyclass(frozen)]
pub struct RocketDesign {
    design: rackwright_rtl::rocket::RocketDesign,
}

#[pymethods]
impl RocketDesign {
    /// Compiles the core from the Verilog of `pythondata-cpu-rocket`, or takes it from the cache.
    #[new]
    fn new(py: Python<'_>, toolchain: &Toolchain, verilog: PathBuf) -> PyResult<RocketDesign> {
        py.detach(|| toolchain.build_rocket(&verilog))
            .map(|design| RocketDesign { design })
            .map_err(raise)
    }

    /// Runs a bare-metal ELF file; `max_cycles` of zero sets no limit. `memory` has the parameters of L2 and lower
    /// levels.
    #[pyo3(signature = (program, max_cycles = 0, echo = false, memory = Values::new()))]
    fn run(
        &self,
        py: Python<'_>,
        program: PathBuf,
        max_cycles: u64,
        echo: bool,
        memory: Values,
    ) -> PyResult<RocketRun> {
        let parameters = parameters::memory(&memory)?;
        let clock_hz = parameters.clock.hertz();
        let file =
            std::fs::read(&program).map_err(|error| raise(format!("{}: {error}", program.display())))?;
        let mut machine = rackwright_server::RocketRtl::new(&self.design, parameters, &file, echo)
            .map_err(|error| raise(format!("{}: {error}", program.display())))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the speed of the simulation is reported"
        )]
        let started = Instant::now();
        let limit = if max_cycles == 0 {
            Cycle::NEVER
        } else {
            Cycle::new(max_cycles)
        };
        let exit_code = run_interruptibly(py, &mut machine, limit)?;
        Ok(RocketRun {
            exit_code,
            cycles: machine.cycle().0,
            clock_hz,
            instructions: machine.instructions(),
            digest: machine.digest().to_string(),
            output: machine.output().to_vec(),
            wall_seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// Cycles between polls of the keyboard.
const SLICE: u64 = 100_000;

fn run_interruptibly(
    py: Python<'_>,
    machine: &mut rackwright_server::RocketRtl,
    limit: Cycle,
) -> PyResult<i32> {
    loop {
        let until = limit.min(Cycle::new(machine.cycle().0.saturating_add(SLICE)));
        if let Some(code) = py.detach(|| machine.run(until)) {
            return Ok(code);
        }
        if machine.cycle() >= limit {
            return Err(raise(format!(
                "stopped at {limit}: the limit of cycles is reached"
            )));
        }
        py.check_signals()?;
    }
}

/// The results of a program.
#[pyclass(frozen)]
pub struct RocketRun {
    #[pyo3(get)]
    exit_code: i32,
    #[pyo3(get)]
    cycles: u64,
    #[pyo3(get)]
    clock_hz: u64,
    #[pyo3(get)]
    instructions: u64,
    #[pyo3(get)]
    digest: String,
    #[pyo3(get)]
    wall_seconds: f64,
    output: Vec<u8>,
}

#[pymethods]
impl RocketRun {
    /// The output of the program.
    #[getter]
    fn stdout<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.output)
    }
}
