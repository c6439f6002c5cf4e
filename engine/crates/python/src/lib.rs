//! The engine as Python sees it: the module `rackwright._engine`.
//!
//! It only converts types and releases the interpreter lock during long operations.

mod balancer;
mod bench;
mod cluster;
mod daronpon;
mod design;
mod drx;
mod error;
mod fabric;
mod guest;
mod loadtest;
mod map;
mod meeting;
mod noc;
mod observer;
mod parameters;
mod rocket;
mod server;

use pyo3::prelude::*;

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("EngineError", module.py().get_type::<error::EngineError>())?;
    module.add_class::<design::Toolchain>()?;
    module.add_class::<design::Design>()?;
    module.add_class::<rocket::RocketDesign>()?;
    module.add_class::<bench::UnitBench>()?;
    module.add_class::<cluster::Cluster>()?;
    module.add_class::<fabric::AttachedFabric>()?;
    module.add_class::<fabric::Fabric>()?;
    module.add_class::<guest::Guest>()?;
    module.add_class::<observer::Observer>()?;
    module.add_class::<server::Server>()?;
    module.add_class::<server::ServerResult>()?;
    module.add_class::<balancer::Balancer>()?;
    module.add_class::<loadtest::Loadtest>()?;
    module.add_class::<loadtest::WorkService>()?;
    module.add_function(wrap_pyfunction!(design::check_manifest, module)?)?;
    module.add_function(wrap_pyfunction!(design::reach, module)?)?;
    module.add_function(wrap_pyfunction!(design::reach_of, module)?)?;
    module.add_function(wrap_pyfunction!(design::interrupt_word, module)?)?;
    module.add_function(wrap_pyfunction!(map::linux_devices, module)?)?;
    module.add_function(wrap_pyfunction!(map::bare_metal_devices, module)?)?;
    module.add_function(wrap_pyfunction!(map::memory_places, module)?)?;
    module.add_function(wrap_pyfunction!(map::pci_interrupt, module)?)?;
    module.add_function(wrap_pyfunction!(map::unit_register_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(parameters::memory_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(parameters::core_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(parameters::check_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(daronpon::exercise_daronpon, module)?)?;
    module.add_function(wrap_pyfunction!(daronpon::pace_daronpon, module)?)?;
    module.add_function(wrap_pyfunction!(fabric::packet_fields, module)?)?;
    module.add_function(wrap_pyfunction!(drx::drx_isa, module)?)?;
    module.add_function(wrap_pyfunction!(drx::drx_model, module)?)?;
    module.add_class::<noc::ChipMesh>()?;
    module.add_function(wrap_pyfunction!(noc::measure_mesh, module)?)?;
    Ok(())
}
