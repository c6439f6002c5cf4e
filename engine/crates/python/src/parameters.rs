use crate::error::raise;
use pyo3::prelude::*;
use rackwright_memory::{HierarchyParameters, NamedParameters};
use rackwright_server::ServerParameters;
use std::collections::BTreeMap;

/// Numbers by the names of parameters.
pub type Values = BTreeMap<String, u64>;

/// A parameter for Python: its name, its default, and its minimum and maximum.
type Listed = (String, u64, u64, u64);

/// Caches and DRAM with these parameters instead of the default ones.
pub fn memory(values: &Values) -> PyResult<HierarchyParameters> {
    let mut parameters = HierarchyParameters::server();
    parameters.set(values).map_err(raise)?;
    Ok(parameters)
}

/// The same for a memory that a unit has for itself.
pub fn own_memory(values: &Values) -> PyResult<HierarchyParameters> {
    let mut parameters = HierarchyParameters::own_dram();
    parameters.set(values).map_err(raise)?;
    Ok(parameters)
}

/// Refuses names that there are not and numbers that cannot be, of harts of the model `cpu`.
#[pyfunction]
pub fn check_parameters(cpu: &str, memory: Values, core: Values) -> PyResult<()> {
    let cpu = cpu.parse().map_err(raise)?;
    ServerParameters::with(cpu, &memory, &core)
        .map(drop)
        .map_err(raise)
}

/// The parameters of caches and DRAM.
#[pyfunction]
pub fn memory_parameters() -> Vec<Listed> {
    listed(&mut HierarchyParameters::server())
}

/// The parameters of harts of a model; none for one that has none.
#[pyfunction]
pub fn core_parameters(cpu: &str) -> PyResult<Vec<Listed>> {
    let mut parameters = ServerParameters::server();
    let core = parameters.core(cpu.parse().map_err(raise)?);
    Ok(core.map_or_else(|_| Vec::new(), listed))
}

fn listed(parameters: &mut dyn NamedParameters) -> Vec<Listed> {
    let all = parameters.named();
    let row = |each: &rackwright_memory::Named<'_>| {
        let name = each.name().to_string();
        (name, each.value(), *each.range().start(), *each.range().end())
    };
    all.iter().map(row).collect()
}
