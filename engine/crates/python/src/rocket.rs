use crate::design::Toolchain;
use crate::error::raise;
use pyo3::prelude::*;
use rackwright_rtl::rocket::RocketSystem;
use std::path::PathBuf;

/// Rocket in RTL, compiled.
#[pyclass(frozen)]
pub struct RocketDesign {
    pub(crate) design: rackwright_rtl::rocket::RocketDesign,
}

#[pymethods]
impl RocketDesign {
    /// Compiles the cores for so many harts from the Verilog of `pythondata-cpu-rocket`, or takes them from the cache.
    #[new]
    fn new(py: Python<'_>, toolchain: &Toolchain, verilog: PathBuf, harts: usize) -> PyResult<RocketDesign> {
        let system = RocketSystem::of(harts)
            .ok_or_else(|| raise(format!("Rocket in RTL has 1 to 4 harts, not {harts}")))?;
        py.detach(|| toolchain.build_rocket(system, &verilog))
            .map(|design| RocketDesign { design })
            .map_err(raise)
    }
}
