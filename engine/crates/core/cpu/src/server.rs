use crate::model::CpuModel;
use crate::timing::{BoomParameters, RocketParameters};
use rackwright_memory::{HierarchyParameters, NamedParameters, ParameterError};
use std::collections::BTreeMap;

/// All parameters that the time of a server depends on, except for its units.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerParameters {
    /// Caches and DRAM.
    pub memory: HierarchyParameters,
    /// Harts of the model `rocket`.
    pub rocket: RocketParameters,
    /// Harts of the model `boom`.
    pub boom: BoomParameters,
}

impl ServerParameters {
    /// The default: a Neoverse N1 server, `rocket` as measured on the RTL, BOOM's `LargeBoom`.
    pub fn server() -> ServerParameters {
        ServerParameters {
            memory: HierarchyParameters::server(),
            rocket: RocketParameters::measured(),
            boom: BoomParameters::large(),
        }
    }

    /// The default, but for the numbers with these names: of caches and DRAM, and of harts of the model `cpu`.
    ///
    /// # Errors
    /// [`ParameterError`] for a name that there is not, and for numbers that cannot be.
    pub fn with(
        cpu: CpuModel,
        memory: &BTreeMap<String, u64>,
        core: &BTreeMap<String, u64>,
    ) -> Result<ServerParameters, ParameterError> {
        let mut parameters = ServerParameters::server();
        parameters.memory.set(memory)?;
        if !core.is_empty() {
            parameters.core(cpu)?.set(core)?;
        }
        Ok(parameters)
    }

    /// The parameters of harts of this model.
    ///
    /// # Errors
    /// [`ParameterError`] for a model that has none.
    pub fn core(&mut self, model: CpuModel) -> Result<&mut dyn NamedParameters, ParameterError> {
        match model {
            CpuModel::Functional => Err(ParameterError::new("the model functional has no parameters")),
            CpuModel::Rocket => Ok(&mut self.rocket),
            CpuModel::Boom => Ok(&mut self.boom),
        }
    }
}

impl Default for ServerParameters {
    fn default() -> ServerParameters {
        ServerParameters::server()
    }
}
