use crate::design::Design;
use crate::error::raise;
use crate::parameters;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rackwright_contract::{Command, CommandContext, Flit, FLIT_BYTES};
use rackwright_memory::{Route, WarmLevel};
use rackwright_server::Bench;
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::Access;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Cycles within which a register access must be answered.
const REGISTER_LIMIT: Cycles = Cycles::new(1 << 32);

/// Cycles of an access to memory.
type AskedAndAnswered = (u64, u64);

/// A unit alone against guest memory and the memory hierarchy.
#[pyclass]
pub struct UnitBench {
    bench: Bench,
}

#[pymethods]
impl UnitBench {
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (design, placement = "near-core", guest_bytes = 1 << 32, skip_idle = true, waves = None, check_idle = false, memory = BTreeMap::new(), own_memory = false))]
    fn new(
        design: &Design,
        placement: &str,
        guest_bytes: u64,
        skip_idle: bool,
        waves: Option<PathBuf>,
        check_idle: bool,
        memory: BTreeMap<String, u64>,
        own_memory: bool,
    ) -> PyResult<UnitBench> {
        let placement: Route = placement.parse().map_err(raise)?;
        let parameters = if own_memory {
            parameters::own_memory(&memory)?
        } else {
            parameters::memory(&memory)?
        };
        let mut bench = Bench::new(
            &design.design,
            &placement,
            &parameters,
            guest_bytes,
            waves.as_deref(),
        )
        .map_err(raise)?;
        bench.unit().instance().skip_idle(skip_idle);
        if check_idle {
            bench.unit().instance().check_idle();
        }
        Ok(UnitBench { bench })
    }

    fn write_memory(&mut self, address: u64, data: &[u8]) -> PyResult<()> {
        self.bench.memory().write(address, data).map_err(raise)
    }

    fn read_memory<'py>(
        &mut self,
        py: Python<'py>,
        address: u64,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, length, |bytes| {
            self.bench.memory().read(address, bytes).map_err(raise)
        })
    }

    fn allow(&mut self, address: u64, length: u64, access: &str) -> PyResult<()> {
        let range = range(address, length)?;
        let (read, write) = match access {
            "r" => (true, false),
            "w" => (false, true),
            "rw" => (true, true),
            other => return Err(raise(format!("access is \"r\", \"w\" or \"rw\", not {other:?}"))),
        };
        if read {
            self.bench.guard().allow_read(range.clone());
        }
        if write {
            self.bench.guard().allow_write(range);
        }
        Ok(())
    }

    fn forbid_all(&mut self) {
        self.bench.guard().forbid_all();
    }

    fn fault(&mut self, address: u64, length: u64) -> PyResult<()> {
        self.bench.guard().fault(range(address, length)?);
        Ok(())
    }

    #[getter]
    fn violations(&mut self) -> u64 {
        self.bench.guard().violations()
    }

    fn warm(&mut self, address: u64, length: u64, level: &str) -> PyResult<()> {
        let level = match level {
            "llc" => WarmLevel::Llc,
            "l2" => WarmLevel::L2,
            other => return Err(raise(format!("level is \"llc\" or \"l2\", not {other:?}"))),
        };
        self.bench.hierarchy().warm(range(address, length)?, level);
        Ok(())
    }

    #[pyo3(signature = (opcode, funct, rs1 = 0, rs2 = 0, xd = false, max_cycles = 0))]
    #[allow(clippy::too_many_arguments)]
    fn command(
        &mut self,
        py: Python<'_>,
        opcode: u8,
        funct: u8,
        rs1: u64,
        rs2: u64,
        xd: bool,
        max_cycles: u64,
    ) -> PyResult<Option<u64>> {
        let command = Command {
            opcode,
            funct,
            rs1,
            rs2,
            rd: 10,
            xd,
        };
        py.detach(|| self.bench.command(command, limit(max_cycles)))
            .map_err(raise)
    }

    #[pyo3(signature = (satp, privilege = 0, user_memory = false, executable_readable = false))]
    fn set_context(
        &mut self,
        satp: u64,
        privilege: u8,
        user_memory: bool,
        executable_readable: bool,
    ) -> PyResult<()> {
        let context = CommandContext {
            satp,
            privilege,
            user_memory,
            executable_readable,
        };
        self.bench.set_context(context).map_err(raise)
    }

    fn fence(&mut self) -> PyResult<()> {
        self.bench.fence().map_err(raise)
    }

    fn run(&mut self, py: Python<'_>, cycles: u64) -> PyResult<()> {
        py.detach(|| self.bench.run(Cycles::new(cycles))).map_err(raise)
    }

    #[pyo3(signature = (max_cycles = 0))]
    fn run_until_idle(&mut self, py: Python<'_>, max_cycles: u64) -> PyResult<bool> {
        py.detach(|| self.bench.run_until_idle(limit(max_cycles)))
            .map_err(raise)
    }

    #[getter]
    fn cycle(&self) -> u64 {
        self.bench.cycle().0
    }

    #[getter]
    fn unit_cycle(&self) -> u64 {
        self.bench.unit_cycle().0
    }

    #[getter]
    fn evaluated_cycles(&mut self) -> u64 {
        self.bench.unit().observation().evaluated_cycles()
    }

    #[getter]
    fn digest(&self) -> String {
        self.bench.digest().to_string()
    }

    /// The times of request and response of the first read and the last write since the last call.
    fn landmarks(&mut self) -> (Option<AskedAndAnswered>, Option<AskedAndAnswered>) {
        let found = self.bench.unit().memory().take_landmarks();
        let cycles = |access: Access| (access.at.0, access.answered.0);
        (found.first_read.map(cycles), found.last_write.map(cycles))
    }

    fn events(&self) -> BTreeMap<String, u64> {
        self.bench
            .events()
            .iter()
            .map(|(name, count)| (name.to_string(), count))
            .collect()
    }

    fn memory_counters(&mut self) -> BTreeMap<String, u64> {
        let counters = self.bench.hierarchy().counters();
        [
            ("l2_hits", counters.l2_hits),
            ("l2_misses", counters.l2_misses),
            ("llc_hits", counters.llc_hits),
            ("llc_misses", counters.llc_misses),
        ]
        .map(|(name, count)| (name.to_string(), count))
        .into()
    }

    /// Whether to keep the inputs of every evaluated cycle for `replay`.
    fn record(&mut self, enabled: bool) {
        self.bench.unit().instance().record(enabled);
    }

    #[getter]
    fn recorded_cycles(&mut self) -> u64 {
        self.bench.unit().instance().recorded_cycles()
    }

    /// Replays the recorded inputs on a new instance of the unit in a bare Verilator loop.
    fn replay(&mut self, py: Python<'_>) {
        py.detach(|| self.bench.unit().instance().replay());
    }

    /// Sends a frame to the stream port of that name, or to the first one; returns the cycle after its last flit.
    #[pyo3(signature = (frame, at = 0, spacing = 1, port = None))]
    fn deliver(&mut self, frame: &[u8], at: u64, spacing: u64, port: Option<&str>) -> PyResult<u64> {
        let name = port;
        let port = self.bench.stream_input(port).map_err(raise)?;
        let manifest = &self.bench.unit().instance().design().manifest;
        if let Some(name) = name {
            manifest.check_frame(name, frame.len()).map_err(raise)?;
        }
        let end = self
            .bench
            .deliver(port, frame, Cycle::new(at), Cycles::new(spacing));
        Ok(end.0)
    }

    /// Has one flit of up to 8 bytes arrive.
    #[pyo3(signature = (data, last, at = 0))]
    fn deliver_flit(&mut self, data: &[u8], last: bool, at: u64) -> PyResult<()> {
        if data.len() > FLIT_BYTES {
            return Err(raise(format!("a flit has at most {FLIT_BYTES} bytes")));
        }
        let flit = Flit { bytes: data, last };
        let port = self.bench.stream_input(None).map_err(raise)?;
        self.bench.deliver_flit(port, flit, Cycle::new(at));
        Ok(())
    }

    /// The frames that left since the last call: cycles of the first and last flit, bytes.
    fn sent_frames<'py>(&mut self, py: Python<'py>) -> Vec<(u64, u64, Bound<'py, PyBytes>)> {
        std::iter::from_fn(|| self.bench.take_frame())
            .map(|frame| (frame.first.0, frame.last.0, PyBytes::new(py, &frame.bytes)))
            .collect()
    }

    /// The same, each with the name of its stream port before the rest.
    fn frames_by_port<'py>(&mut self, py: Python<'py>) -> Vec<(String, u64, u64, Bound<'py, PyBytes>)> {
        let frames: Vec<_> = std::iter::from_fn(|| self.bench.take_frame()).collect();
        let manifest = &self.bench.unit().instance().design().manifest;
        let names: Vec<_> = manifest
            .stream_ports()
            .map(|(name, _)| name.to_string())
            .collect();
        frames
            .into_iter()
            .map(|frame| {
                let name = names[usize::from(frame.port)].clone();
                (name, frame.first.0, frame.last.0, PyBytes::new(py, &frame.bytes))
            })
            .collect()
    }

    /// The changes of the interrupt line since the last call: cycle, level.
    fn interrupts(&mut self) -> Vec<(u64, bool)> {
        std::iter::from_fn(|| self.bench.unit().take_interrupt())
            .map(|change| (change.cycle, change.level != 0))
            .collect()
    }

    fn register_write(&mut self, address: u32, value: u64) -> PyResult<()> {
        self.bench
            .register(address, Some(value), REGISTER_LIMIT)
            .map(|_| ())
            .map_err(raise)
    }

    fn register_read(&mut self, address: u32) -> PyResult<u64> {
        self.bench.register(address, None, REGISTER_LIMIT).map_err(raise)
    }
}

fn range(address: u64, length: u64) -> PyResult<Range<u64>> {
    let end = address
        .checked_add(length)
        .ok_or_else(|| raise("the range wraps around the address space"))?;
    Ok(address..end)
}

/// 0 stands for no limit.
fn limit(max_cycles: u64) -> Option<Cycles> {
    (max_cycles > 0).then_some(Cycles::new(max_cycles))
}
