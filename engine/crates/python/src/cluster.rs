use crate::design;
use crate::error::raise;
use crate::meeting::Meeting;
use crate::observer::Observer;
use crate::parameters::{self, Values};
use pyo3::prelude::*;
use rackwright_cluster::{
    checkpoint, ClusterError, Description, Designs, LinuxSpec, NodeKind, Observations, PartReport, Report,
    StartSpec,
};
use rackwright_ethernet::Capture;
use rackwright_rtl::{Attach, Design};
use rackwright_schedule::{equal_shares, RunOutcome, Share};
use rackwright_server::{Moment, Stamp};
use rackwright_time::network::{Cycle, Cycles};
use rackwright_trace::Observation;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

type StampRow = (&'static str, u64, bool, u64, Option<u32>);

/// A cluster built from a description in JSON.
#[pyclass]
pub struct Cluster {
    cluster: rackwright_cluster::Cluster,
    capture: Option<Capture<BufWriter<File>>>,
}

#[pymethods]
impl Cluster {
    #[new]
    #[pyo3(signature = (description, designs = BTreeMap::new(), share = None, observers = BTreeMap::new()))]
    fn new(
        py: Python<'_>,
        description: &str,
        designs: BTreeMap<String, PyRef<'_, design::Design>>,
        share: Option<(usize, Vec<usize>)>,
        observers: BTreeMap<String, PyRef<'_, Observer>>,
    ) -> PyResult<Cluster> {
        let description: Description = serde_json::from_str(description).map_err(raise)?;
        let designs: Designs = (designs.into_iter())
            .map(|(name, design)| (name, design.design.clone()))
            .collect();
        let share = share.map(|(rank, starts)| Share { rank, starts });
        let observe = |(name, observer): (String, PyRef<'_, Observer>)| {
            let observation = observation(&description, &designs, &name, &observer)?;
            Ok((name, observation))
        };
        let observations = observers
            .into_iter()
            .map(observe)
            .collect::<PyResult<Observations>>()?;
        let cluster = py
            .detach(|| rackwright_cluster::Cluster::observed(&description, &designs, share, &observations))
            .map_err(raise)?;
        Ok(Cluster {
            cluster,
            capture: None,
        })
    }

    fn set_threads(&mut self, threads: usize) {
        self.cluster.execution().set_threads(threads);
    }

    fn set_window(&mut self, cycles: u64) -> PyResult<()> {
        self.cluster
            .execution()
            .set_window(Cycles::new(cycles))
            .map_err(raise)
    }

    /// Ends runs when the programs of all these servers have ended.
    fn end_with(&mut self, servers: Vec<String>) -> PyResult<()> {
        self.cluster.end_with(&servers).map_err(raise)
    }

    /// Whether all of them have.
    #[getter]
    fn has_ended(&self) -> bool {
        self.cluster.has_ended()
    }

    fn set_skip_idle(&mut self, skip_idle: bool) {
        self.cluster.execution().set_skip_idle(skip_idle);
    }

    /// Captures ports, written as `tor0.port3`, into a pcapng file.
    fn capture(&mut self, ports: Vec<String>, path: PathBuf) -> PyResult<()> {
        ports
            .iter()
            .try_for_each(|port| self.cluster.capture(port))
            .map_err(raise)?;
        let cannot = |error| raise(format!("{}: {error}", path.display()));
        let file = BufWriter::new(File::create(&path).map_err(cannot)?);
        let capture = Capture::new(file, self.cluster.clock(), &self.cluster.captured());
        self.capture = Some(capture.map_err(raise)?);
        Ok(())
    }

    /// Advances to a cycle; returns whether there are later events.
    fn run(&mut self, py: Python<'_>, until: u64) -> PyResult<bool> {
        py.detach(|| self.advance(Cycle::new(until))).map_err(raise)
    }

    /// Advances this process's share to a cycle; returns whether there are later events in it. After every window,
    /// `exchange` receives bytes for each process, in order, and returns the bytes of each for this one.
    fn run_share(&mut self, py: Python<'_>, until: u64, exchange: Py<PyAny>) -> PyResult<bool> {
        let mut meeting = Meeting::new(exchange);
        let outcome = py.detach(|| self.cluster.run_share(Cycle::new(until), &mut meeting));
        match outcome {
            Ok(outcome) => Ok(outcome == RunOutcome::TimeOver),
            Err(apart) => Err(match apart.0.downcast::<PyErr>() {
                Ok(raised) => *raised,
                Err(other) => raise(other),
            }),
        }
    }

    /// Estimated nanoseconds that each node has taken so far.
    fn costs(&self) -> Vec<u64> {
        self.cluster.costs()
    }

    /// Bytes received and sent, and frames dropped, at a port so far.
    fn counters(&self, port: &str) -> PyResult<(u64, u64, u64)> {
        let counters = self.cluster.counters(port).map_err(raise)?;
        Ok((counters.received_bytes, counters.sent_bytes, counters.dropped))
    }

    /// Records the events between the hart, the NIC and the link of a server from now on.
    fn keep_stamps(&mut self, server: &str) -> PyResult<()> {
        self.cluster.keep_stamps(server).map_err(raise)
    }

    /// The recorded events: event, cycle, whether that is one of the hart's clock, instructions, register.
    fn stamps(&self, server: &str) -> PyResult<Vec<StampRow>> {
        let stamps = self.cluster.stamps(server).map_err(raise)?;
        let row = |stamp: &Stamp| {
            let Stamp {
                at,
                event,
                instructions,
            } = *stamp;
            let (cycle, is_of_hart) = match at {
                Moment::Hart(cycle) => (cycle.0, true),
                Moment::Link(cycle) => (cycle.0, false),
            };
            (event.name(), cycle, is_of_hart, instructions, event.register())
        };
        Ok(stamps.iter().map(row).collect())
    }

    /// The results of a client so far, in JSON.
    fn client(&self, name: &str) -> PyResult<String> {
        let report = self.cluster.client(name).map_err(raise)?;
        serde_json::to_string(&report).map_err(raise)
    }

    /// Adds the state of all nodes and links to the end of a file; returns whether that is possible at this time.
    fn save(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<bool> {
        py.detach(|| checkpoint::save(&mut self.cluster, &path))
            .map_err(raise)
    }

    /// Continues from the state that `save` has written, which is behind the first `skipped` bytes of the file.
    fn restore(&mut self, py: Python<'_>, path: PathBuf, skipped: usize) -> PyResult<()> {
        py.detach(|| checkpoint::restore(&mut self.cluster, &path, skipped))
            .map_err(raise)
    }

    /// Ends the capture, if there is one.
    fn finish(&mut self) -> PyResult<()> {
        match self.capture.take() {
            Some(capture) => capture.finish().flush().map_err(raise),
            None => Ok(()),
        }
    }

    #[getter]
    fn cycle(&self) -> u64 {
        self.cluster.cycle().0
    }

    /// The results so far in this process's share, for `assemble`.
    fn part_report(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| serde_json::to_string(&self.cluster.part_report()))
            .map_err(raise)
    }

    /// The results of all shares, in JSON, from the reports of each process.
    #[staticmethod]
    fn assemble(py: Python<'_>, cycles: u64, clock_hz: u64, parts: Vec<String>) -> PyResult<String> {
        py.detach(|| {
            let parts = parts.iter().map(|text| serde_json::from_str(text));
            let parts: Vec<PartReport> = parts.collect::<Result<_, _>>()?;
            serde_json::to_string(&Report::assemble(cycles, clock_hz, parts))
        })
        .map_err(raise)
    }

    /// The first nodes of shares of nodes with these costs, followed by the number of nodes.
    #[staticmethod]
    fn equal_shares(costs: Vec<u64>, shares: usize) -> Vec<usize> {
        equal_shares(&costs, shares)
    }

    /// The results so far, in JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| serde_json::to_string(&self.cluster.report()))
            .map_err(raise)
    }
}

/// The observation of the server `name`.
fn observation(
    description: &Description,
    designs: &Designs,
    name: &str,
    observer: &Observer,
) -> PyResult<Observation> {
    let node = description.nodes.iter().find(|node| node.name == name);
    match node.map(|node| &node.kind) {
        Some(NodeKind::Server(spec)) => {
            let units = spec.units.iter().map(|unit| &unit.design).chain([&spec.nic]);
            let model = (spec.cpu.as_str(), &spec.memory);
            of_program(&spec.program, model, (units, designs), observer)
        }
        Some(NodeKind::Program(spec)) => {
            let units = spec.units.iter().map(|unit| &unit.design);
            let model = (spec.cpu.as_str(), &spec.memory);
            of_program(&spec.program, model, (units, designs), observer)
        }
        Some(NodeKind::Linux(spec)) => of_linux(name, spec, designs, observer),
        _ => Err(raise(format!(
            "no server called `{name}` runs software that can be observed"
        ))),
    }
}

fn of_program<'a>(
    program: &Path,
    (cpu, memory): (&str, &Values),
    (names, designs): (impl Iterator<Item = &'a String>, &Designs),
    observer: &Observer,
) -> PyResult<Observation> {
    let path = program.to_string_lossy();
    let file = std::fs::read(program).map_err(|error| raise(format!("{path}: {error}")))?;
    let cpu = cpu.parse().map_err(raise)?;
    let units: Vec<&Design> = names
        .filter_map(|name| designs.get(name))
        .filter(|design| !design.manifest.attaches(Attach::Walk))
        .collect();
    let clock = parameters::memory(memory)?.clock;
    observer.of_program((&path, &file), (cpu, clock), &units)
}

fn of_linux(name: &str, spec: &LinuxSpec, designs: &Designs, observer: &Observer) -> PyResult<Observation> {
    let (image, resumes) = match &spec.start {
        StartSpec::Reset { image, .. } => (Some(image), false),
        StartSpec::Booted { image, .. } => (image.as_ref(), true),
    };
    let image = image.ok_or_else(|| {
        raise(format!(
            "`{name}` goes on from a checkpoint; to be observed it needs the image that was booted, too"
        ))
    })?;
    let fails = |reason: &dyn Display| raise(format!("{}: {reason}", image.path.display()));
    let file = std::fs::read(&image.path).map_err(|error| fails(&error))?;
    let software = image.software(&file, "");
    let software = software.ok_or_else(|| fails(&"is shorter than its parts"))?;
    let cpu = spec.cpu.parse().map_err(raise)?;
    let names = spec.units.iter().map(|unit| &unit.design).chain([&spec.nic]);
    let units: Vec<&Design> = names.filter_map(|name| designs.get(name)).collect();
    let clock = parameters::memory(&spec.memory)?.clock;
    let software = (software.kernel, software.initial_files);
    observer.of_linux(software, (cpu, clock), &units, resumes)
}

impl Cluster {
    fn advance(&mut self, until: Cycle) -> Result<bool, ClusterError> {
        let outcome = self.cluster.run(until);
        if let Some(capture) = &mut self.capture {
            self.cluster.write_capture(capture)?;
        }
        Ok(outcome == RunOutcome::TimeOver)
    }
}
