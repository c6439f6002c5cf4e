use crate::error::raise;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rackwright_rtl::rocket::RocketSystem;
use rackwright_rtl::{BuildOptions, Cache, Manifest, Waves};
use rackwright_time::Clock;
use rackwright_unit::{assign, interrupts_processes, names, PlacedUnit, Reach};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The tools that compile RTL, and the cache of their outputs.
#[pyclass(frozen)]
pub struct Toolchain {
    tools: rackwright_rtl::Toolchain,
    cache: Cache,
}

impl Toolchain {
    pub(crate) fn build_rocket(
        &self,
        system: RocketSystem,
        verilog: &Path,
    ) -> Result<rackwright_rtl::rocket::RocketDesign, rackwright_rtl::RtlError> {
        self.tools.build_rocket(system, verilog, &self.cache)
    }
}

#[pymethods]
impl Toolchain {
    #[new]
    fn new(verilator_root: PathBuf, compiler: PathBuf, cache: PathBuf) -> Toolchain {
        let verilator = verilator_root.join("bin").join("verilator_bin");
        Toolchain {
            tools: rackwright_rtl::Toolchain {
                verilator,
                root: verilator_root,
                compiler,
            },
            cache: Cache::new(cache),
        }
    }

    /// Compiles the design of a manifest, or takes it from the cache; `clock_hz` is its clock beside a hart, by default
    /// the manifest's. Instances can write `waves`, in the format of its name. `parameters` of the top module override
    /// the manifest's; `plusargs` are the arguments for `$value$plusargs`.
    #[pyo3(signature = (manifest, waves = None, clock_hz = None, parameters = BTreeMap::new(), plusargs = Vec::new()))]
    fn build(
        &self,
        py: Python<'_>,
        manifest: PathBuf,
        waves: Option<PathBuf>,
        clock_hz: Option<u64>,
        parameters: BTreeMap<String, ParameterValue>,
        plusargs: Vec<String>,
    ) -> PyResult<Design> {
        let build = || {
            let mut manifest = Manifest::read(&manifest)?;
            let parameters = parameters.into_iter();
            manifest
                .parameters
                .extend(parameters.map(|(name, value)| (name, value.into())));
            let waves = waves.as_deref().map(Waves::of);
            let options = BuildOptions {
                waves,
                ..BuildOptions::default()
            };
            self.tools.build(manifest, options, &self.cache)
        };
        let mut design = py.detach(build).map_err(raise)?;
        if let Some(hertz) = clock_hz {
            design.clock = Clock::new(hertz).map_err(raise)?;
        }
        design.plusargs = plusargs;
        Ok(Design { design })
    }

    /// The same design, compiled such that checkpoints can hold the state of its instances.
    fn with_state(&self, py: Python<'_>, design: PyRef<'_, Design>) -> PyResult<Design> {
        let plain = design.design.clone();
        let options = BuildOptions {
            with_state: true,
            ..BuildOptions::default()
        };
        let manifest = (*plain.manifest).clone();
        let built = py.detach(|| self.tools.build(manifest, options, &self.cache));
        let mut design = built.map_err(raise)?;
        (design.clock, design.plusargs) = (plain.clock, plain.plusargs);
        Ok(Design { design })
    }
}

/// The value of a parameter.
#[derive(FromPyObject)]
enum ParameterValue {
    Whole(i64),
    Word(String),
}

impl From<ParameterValue> for serde_json::Value {
    fn from(value: ParameterValue) -> serde_json::Value {
        match value {
            ParameterValue::Whole(number) => number.into(),
            ParameterValue::Word(word) => word.into(),
        }
    }
}

/// The places where the unit of a manifest may be attached, and, for one of the former format, the change that converts
/// it.
#[pyfunction]
pub fn check_manifest(manifest: PathBuf) -> PyResult<(Vec<&'static str>, Option<String>)> {
    let manifest = Manifest::read(&manifest).map_err(raise)?;
    let places = manifest.attach().iter().map(|place| place.name());
    Ok((places.collect(), manifest.advice()))
}

/// A unit of a server, and its place.
pub(crate) type Placed = (Py<Design>, String);

/// The same for the engine.
pub(crate) fn placed(units: &[Placed]) -> PyResult<Vec<PlacedUnit>> {
    let placed = |(design, placement): &Placed| {
        Ok(PlacedUnit {
            design: design.get().design.clone(),
            placement: placement.parse().map_err(raise)?,
        })
    };
    units.iter().map(placed).collect()
}

/// What they are.
pub(crate) fn designs(units: &[PlacedUnit]) -> Vec<&rackwright_rtl::Design> {
    units.iter().map(|unit| &unit.design).collect()
}

/// The opcodes and addresses by which harts call and access units of these manifests, in their order: name, ranges of
/// functs as opcode, first and last, and the address of a page of registers.
#[pyfunction]
pub fn reach(manifests: Vec<PathBuf>) -> PyResult<Vec<Reached>> {
    let read = manifests.iter().map(|path| Manifest::read(path));
    let manifests: Vec<Manifest> = read.collect::<Result<_, _>>().map_err(raise)?;
    reached(&manifests.iter().collect::<Vec<_>>())
}

/// The same of compiled units.
#[pyfunction]
pub fn reach_of(designs: Vec<PyRef<'_, Design>>) -> PyResult<Vec<Reached>> {
    let manifests: Vec<&Manifest> = designs.iter().map(|each| &*each.design.manifest).collect();
    reached(&manifests)
}

fn reached(manifests: &[&Manifest]) -> PyResult<Vec<Reached>> {
    let reaches = assign(manifests).map_err(raise)?;
    let row = |(name, reach): (String, Reach)| {
        let ranges = reach.commands.iter();
        let ranges = ranges.map(|range| (range.opcode.into(), range.first.into(), range.last.into()));
        (name, ranges.collect(), reach.registers)
    };
    Ok(names(manifests.iter().copied())
        .into_iter()
        .zip(reaches)
        .map(row)
        .collect())
}

/// The address at which programs wait for the interrupts of the unit with registers at that address.
#[pyfunction]
pub fn interrupt_word(registers: u64) -> u64 {
    rackwright_unit::interrupt_word(registers)
}

type Reached = (String, Vec<(u32, u32, u32)>, Option<u64>);

/// A compiled unit.
#[pyclass(frozen)]
pub struct Design {
    pub(crate) design: rackwright_rtl::Design,
}

#[pymethods]
impl Design {
    #[getter]
    fn unit(&self) -> &str {
        &self.design.manifest.unit
    }

    #[getter]
    fn top(&self) -> &str {
        &self.design.manifest.top
    }

    #[getter]
    fn key(&self) -> &str {
        &self.design.key
    }

    #[getter]
    fn clock_hz(&self) -> u64 {
        self.design.clock.hertz()
    }

    #[getter]
    fn plusargs(&self) -> &[String] {
        &self.design.plusargs
    }

    #[getter]
    fn opcodes(&self) -> Vec<u32> {
        self.design
            .manifest
            .opcodes()
            .iter()
            .copied()
            .map(u32::from)
            .collect()
    }

    /// Whether it has an interrupt line for processes of Linux.
    #[getter]
    fn interrupts_processes(&self) -> bool {
        interrupts_processes(&self.design.manifest)
    }

    /// Whether it is accessed, or receives commands, through registers.
    #[getter]
    fn has_registers(&self) -> bool {
        self.design.manifest.has_registers()
    }

    /// The numbers of the commands that it lists, by name.
    #[getter]
    fn commands(&self) -> Vec<(String, u32)> {
        let commands = self.design.manifest.commands().iter();
        commands
            .map(|command| (command.name.clone(), command.funct.into()))
            .collect()
    }

    /// The offsets of the registers that it lists, by name; for several of a kind, that of the first.
    #[getter]
    fn registers(&self) -> Vec<(String, u64)> {
        let registers = self.design.manifest.registers().iter();
        registers
            .map(|register| (register.name.clone(), register.offset))
            .collect()
    }

    #[getter]
    fn memory_ports(&self) -> Vec<(String, u32)> {
        self.design
            .manifest
            .memory_ports()
            .map(|(name, bytes)| (name.to_string(), bytes))
            .collect()
    }

    #[getter]
    fn events(&self) -> Vec<String> {
        self.design.manifest.events().map(str::to_string).collect()
    }

    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let text = serde_json::to_string(&self.design.manifest.parameters).map_err(raise)?;
        py.import("json")?
            .call_method1("loads", (text,))?
            .cast_into::<PyDict>()
            .map_err(Into::into)
    }
}
